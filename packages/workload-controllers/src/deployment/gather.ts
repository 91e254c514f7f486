import type { Deployment, Informer, ObjectKey, Pod, ReplicaSet } from "@causeway/kubernetes";
import type { Deletions } from "../objects/deletions.ts";
import { by } from "../objects/caches.ts";

/** A Deployment, and the ReplicaSets that it controls or may adopt. */
export interface Observed {
  readonly deployment: Deployment;
  /** ReplicaSets that the Deployment controls, whether it selects them or not. */
  readonly sets: readonly ReplicaSet[];
  /** ReplicaSets of the namespace without a controller. */
  readonly orphans: readonly ReplicaSet[];
  /** Pods by the uid of their ReplicaSet. Only the strategy Recreate needs them. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
}

/** What gather reads; `deletions` hides ReplicaSets whose deletion it does not show yet. */
export interface Caches {
  readonly deployments: Informer<Deployment>;
  readonly sets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
  readonly deletions: Deletions;
}

/** Undefined: the Deployment does not exist. */
export function gather({ deployments, sets, pods, deletions }: Caches, key: ObjectKey): Observed | undefined {
  const deployment = deployments.get(key);
  if (!deployment) return undefined;
  const controlled = deletions.remaining(sets.byIndex(by.controller, deployment.metadata.uid ?? ""));
  const uids =
    deployment.spec.strategy?.type === "Recreate" ? controlled.map(({ metadata }) => metadata.uid ?? "") : [];
  return {
    deployment,
    sets: controlled,
    orphans: sets.byIndex(by.orphan, key.namespace),
    pods: new Map(uids.map((uid) => [uid, pods.byIndex(by.controller, uid)])),
  };
}
