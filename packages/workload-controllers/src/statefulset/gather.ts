import type { ControllerRevision, Informer, ObjectKey, Pod, StatefulSet } from "@causeway/kubernetes";
import { by } from "../objects/caches.ts";
import type { OwnedPods } from "../objects/owned-pods.ts";
import type { PersistentVolumeClaim } from "../objects/storage.ts";

/** A StatefulSet with the pods, revisions and claims that are its own or may become so. */
export interface Observed {
  readonly set: StatefulSet;
  /** Pods that the set controls, whether it selects them or not. */
  readonly pods: readonly Pod[];
  /** Pods of the namespace without a controller. */
  readonly orphans: readonly Pod[];
  readonly revisions: readonly ControllerRevision[];
  /** Revisions of the namespace without a controller. */
  readonly orphanRevisions: readonly ControllerRevision[];
  /** The claims of the namespace by name. */
  readonly claims: Pick<ReadonlyMap<string, PersistentVolumeClaim>, "get">;
}

/** What gather reads. */
export interface Caches {
  readonly sets: Informer<StatefulSet>;
  readonly pods: OwnedPods;
  readonly revisions: Informer<ControllerRevision>;
  readonly claims: Informer<PersistentVolumeClaim>;
}

/** Undefined: the StatefulSet does not exist. */
export function gather({ sets, pods, revisions, claims }: Caches, key: ObjectKey): Observed | undefined {
  const set = sets.get(key);
  if (!set) return undefined;
  const { namespace } = key;
  return {
    set,
    pods: pods.controlledBy(set),
    orphans: pods.orphans(namespace),
    revisions: pods.deletions.remaining(revisions.byIndex(by.controller, set.metadata.uid ?? "")),
    orphanRevisions: revisions.byIndex(by.orphan, namespace),
    claims: { get: (name) => claims.get({ namespace, name }) },
  };
}
