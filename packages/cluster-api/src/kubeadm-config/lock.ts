import type { Cluster } from "@causeway/api";
import { ownerReference, type ConfigMap } from "@causeway/kubernetes";

/**
 * One machine at a time initialises a control plane: whose it is is in ConfigMap CLUSTER-lock, as upstream's (same
 * name, key and form).
 */
export function lockName(cluster: string): string {
  return `${cluster}-lock`;
}

const key = "lock-information";

/** The ConfigMap that the first machine to create it holds; it is deleted with its Cluster. */
export function newLock(cluster: Cluster, machine: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: lockName(cluster.metadata.name),
      namespace: cluster.metadata.namespace ?? "",
      ownerReferences: [ownerReference(cluster)],
    },
    data: { [key]: JSON.stringify({ machineName: machine }) },
  };
}

/** The Machine that has the lock; undefined if the ConfigMap does not say. */
export function holderOf({ data }: ConfigMap): string | undefined {
  try {
    const parsed: unknown = JSON.parse(data?.[key] ?? "");
    if (typeof parsed !== "object" || parsed === null || !("machineName" in parsed)) return undefined;
    return typeof parsed.machineName === "string" ? parsed.machineName : undefined;
  } catch {
    return undefined;
  }
}
