import type { DaemonSetStatus } from "@causeway/kubernetes";
import { isAvailable, isReady } from "../objects/pods.ts";
import type { Facts } from "./facts.ts";
import { isUpdated } from "./template.ts";

/** Counts nodes: of each, the oldest pod. */
export function statusOf({ observed: { set }, placement, hash, now }: Facts): DaemonSetStatus {
  const desired = placement.nodes.filter(({ run }) => run);
  const first = desired.flatMap(({ pods }) => pods.slice(0, 1));
  const ready = first.filter(isReady);
  const available = ready.filter((pod) => isAvailable(pod, set.spec.minReadySeconds, now)).length;
  const counts = {
    updatedNumberScheduled: first.filter((pod) => isUpdated(set, pod, hash)).length,
    numberAvailable: available,
    numberUnavailable: desired.length - available,
  };
  const { generation } = set.metadata;
  const { collisionCount, conditions } = set.status ?? {};
  return {
    currentNumberScheduled: first.length,
    numberMisscheduled: placement.nodes.filter(({ run, pods }) => !run && pods.length > 0).length,
    desiredNumberScheduled: desired.length,
    numberReady: ready.length,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions ? { conditions } : {}),
  };
}
