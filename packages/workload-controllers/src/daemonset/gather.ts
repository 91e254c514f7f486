import type { ControllerRevision, DaemonSet, Informer, Node, ObjectKey, Pod } from "@causeway/kubernetes";
import { by } from "../objects/caches.ts";
import type { OwnedPods } from "../objects/owned-pods.ts";
import type { FailureBackoff } from "./failure-backoff.ts";

/** A DaemonSet with all Nodes, and the pods and revisions that it controls or may adopt. */
export interface Observed {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  /** Pods that the DaemonSet controls, whether it selects them or not. */
  readonly pods: readonly Pod[];
  /** Pods of the namespace without a controller. */
  readonly orphans: readonly Pod[];
  readonly revisions: readonly ControllerRevision[];
  /** Revisions of the namespace without a controller. */
  readonly orphanRevisions: readonly ControllerRevision[];
  /** Until when a failed pod on a node is left alone, in milliseconds since the epoch. */
  readonly failureHolds: Pick<ReadonlyMap<string, number>, "get">;
}

/** What gather reads; `failures` counts failed pods by DaemonSet and node. */
export interface Caches {
  readonly sets: Informer<DaemonSet>;
  readonly nodes: Informer<Node>;
  readonly pods: OwnedPods;
  readonly revisions: Informer<ControllerRevision>;
  readonly failures: FailureBackoff;
}

/** Undefined: the DaemonSet does not exist. Lists its pods again if the answer to a create was lost. */
export async function gather(
  { sets, nodes, pods, revisions, failures }: Caches,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const set = sets.get(key);
  if (!set) return undefined;
  await pods.settle(set, set.spec.selector, signal);
  const uid = set.metadata.uid ?? "";
  return {
    set,
    nodes: nodes.list(),
    pods: pods.controlledBy(set),
    orphans: pods.orphans(key.namespace),
    revisions: pods.deletions.remaining(revisions.byIndex(by.controller, uid)),
    orphanRevisions: revisions.byIndex(by.orphan, key.namespace),
    failureHolds: { get: (node) => failures.until(uid, node) },
  };
}
