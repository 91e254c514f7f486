import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient } from "../client/interface.ts";
import type { KubeObject, ObjectKey, ResourceType } from "../types/meta.ts";

/** What a call is about to do; throw to have it refused, wait to make it slow. */
export type Before = (verb: "find" | "create" | "update") => Promise<void> | void;

/** The optimistic locking of one object, shared by several clients: enough to hold an election on. */
export class OneObject<T extends KubeObject> {
  object: T | undefined;
  #revision = 0;

  client(before: Before = () => {}): KubernetesClient {
    const calls = {
      find: async (_type: ResourceType<T>, _key: ObjectKey) => {
        await before("find");
        return structuredClone(this.object);
      },
      create: async (_type: ResourceType<T>, object: T) => {
        await before("create");
        if (this.object) throw new CausewayError("KUBERNETES_ALREADY_EXISTS", "it is there already");
        return this.#store(object);
      },
      update: async (_type: ResourceType<T>, object: T) => {
        await before("update");
        if (object.metadata.resourceVersion !== this.object?.metadata.resourceVersion) {
          throw new CausewayError("KUBERNETES_CONFLICT", "it has changed");
        }
        return this.#store(object);
      },
    };
    return calls as unknown as KubernetesClient;
  }

  #store(object: T): T {
    this.#revision++;
    this.object = structuredClone(object);
    this.object.metadata.resourceVersion = String(this.#revision);
    return structuredClone(this.object);
  }
}
