import type { Informer, ObjectKey, Pod } from "@causeway/kubernetes";
import type { PersistentVolumeClaim } from "../objects/storage.ts";

/** A pod, and the claims that may be its own. */
export interface Observed {
  readonly pod: Pod;
  /** The claims of the pod's namespace by name. */
  readonly claims: Pick<ReadonlyMap<string, PersistentVolumeClaim>, "get">;
}

/** What gather reads. */
export interface Caches {
  readonly pods: Informer<Pod>;
  readonly claims: Informer<PersistentVolumeClaim>;
}

/** Undefined: the pod does not exist. */
export function gather({ pods, claims }: Caches, key: ObjectKey): Observed | undefined {
  const pod = pods.get(key);
  return pod && { pod, claims: { get: (name) => claims.get({ namespace: key.namespace, name }) } };
}
