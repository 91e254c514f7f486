import type { KubernetesClient } from "@causeway/kubernetes";

const CHANGES = new Set(["create", "update", "patch", "apply", "delete"]);

/** The client that ends its process at the Nth change: before it takes place, or before its response arrives. */
export function dying(client: KubernetesClient, life: { left: number; readonly after: boolean }): KubernetesClient {
  return new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function" || !CHANGES.has(String(name)))
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      return async (...call: unknown[]): Promise<unknown> => {
        if (life.left <= 0) throw new Error("killed");
        life.left -= 1;
        const perform = (): Promise<unknown> => Reflect.apply(member, target, call) as Promise<unknown>;
        if (life.left > 0) return perform();
        if (life.after) await perform();
        throw new Error("killed");
      };
    },
  });
}
