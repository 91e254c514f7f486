import type { Pod, StatefulSet, StatefulSetStatus } from "@causeway/kubernetes";
import { isAvailable, isReady } from "../objects/pods.ts";
import { revisionLabel } from "./identity.ts";
import type { Revisions } from "./versions.ts";

/** Its name is free only once it is gone. */
export function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Counts as `readyReplicas`, even while it is being deleted. */
export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === "Running" && isReady(pod);
}

/** The next ordinal may follow. */
export function isHealthy(pod: Pod): boolean {
  return isRunningAndReady(pod) && !isTerminating(pod);
}

/** The name of the ControllerRevision that the pod was made of. */
export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.[revisionLabel];
}

/**
 * Counts as kube-controller-manager's StatefulSet controller does; a rolling update that is complete makes its revision
 * the current one.
 */
export function statusOf(
  set: StatefulSet,
  { current, update }: Revisions,
  pods: readonly Pod[],
  now: number,
): StatefulSetStatus {
  const present = pods.filter(({ status }) => status?.phase !== undefined);
  const ready = pods.filter(isRunningAndReady);
  const remaining = present.filter((pod) => !isTerminating(pod));
  const ofRevision = (name: string) => remaining.filter((pod) => revisionOf(pod) === name).length;
  const names = { current: current.metadata.name, update: update.metadata.name };
  const { generation } = set.metadata;
  const counted = {
    replicas: present.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, set.spec.minReadySeconds, now)).length,
    currentReplicas: ofRevision(names.current),
    updatedReplicas: ofRevision(names.update),
  };
  const complete = isComplete(set, counted);
  const { collisionCount = 0, conditions } = set.status ?? {};
  const { replicas, availableReplicas, ...rest } = counted;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    replicas,
    // Always present, as upstream's field has no omitempty.
    availableReplicas,
    ...positive({ ...rest, ...(complete ? { currentReplicas: counted.updatedReplicas } : {}) }),
    currentRevision: complete ? names.update : names.current,
    updateRevision: names.update,
    collisionCount,
    ...(conditions ? { conditions } : {}),
  };
}

function isComplete(
  { spec }: StatefulSet,
  counted: { readonly updatedReplicas: number; readonly readyReplicas: number; readonly replicas: number },
): boolean {
  if (spec.updateStrategy?.type === "OnDelete") return false;
  const { updatedReplicas, readyReplicas, replicas } = counted;
  return [updatedReplicas, readyReplicas, replicas].every((count) => count === (spec.replicas ?? 1));
}

/** Fields that the API leaves out when they are 0. */
function positive<Counts extends Readonly<Record<string, number>>>(counts: Counts): Partial<Counts> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)) as Partial<Counts>;
}
