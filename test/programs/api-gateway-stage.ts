import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@causeway/foundation";
import { programs } from "./programs.ts";

const needed = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"];

/** A control plane behind the gateway, and how clients reach it. */
export interface Tenant {
  readonly kubeconfig: string;
  readonly serverName: string;
  readonly namespace: string;
  /** Of its API server's pod. */
  readonly address: string;
}

/** Why control planes of real programs cannot run here; undefined: they can. */
export function missing(): string | undefined {
  if (process.getuid?.() !== 0) return "needs root, for mount namespaces";
  const { kubernetes } = programs();
  if ("reason" in kubernetes) return kubernetes.reason;
  const absent = needed.filter((name) => !existsSync(join(kubernetes.dir, name)));
  return absent.length === 0 ? undefined : `${absent.join(", ")} not built`;
}

/** What `check` finds, as soon as it finds something; for two minutes. */
export async function until<T>(what: string, check: () => Promise<T | undefined>): Promise<T> {
  let last: unknown;
  for (let i = 0; i < 1_200; i++) {
    try {
      const found = await check();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    await systemClock.sleep(100);
  }
  throw new Error(`not in time: ${what}`, { cause: last });
}
