import type { Pod } from "@causeway/kubernetes";
import { targetOf } from "../objects/claim.ts";
import { scaled } from "../objects/int-or-percent.ts";
import { isAvailable } from "../objects/pods.ts";
import { firstOrdinal, isKept, ordinalOf } from "./identity.ts";
import type { Facts } from "./replicas.ts";
import { isHealthy, isTerminating, revisionOf } from "./status.ts";
import type { Step } from "./steps.ts";

/** Deletes pods of an old revision, the highest ordinal first; what replaces them is of the new one. */
export function updateWork({ observed, pods, revisions, now }: Facts): Step[] {
  const { set } = observed;
  const { type = "RollingUpdate", rollingUpdate = {} } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  const from = firstOrdinal(set) + (rollingUpdate.partition ?? 0);
  const targets = pods
    .map((pod) => ({ pod, ordinal: ordinalOf(set, pod) ?? -1 }))
    .filter(({ ordinal }) => isKept(set, ordinal) && ordinal >= from)
    .toSorted((a, b) => b.ordinal - a.ordinal)
    .map(({ pod }) => pod);
  const isOld = (pod: Pod) => revisionOf(pod) !== revisions.update.metadata.name && !isTerminating(pod);
  const { maxUnavailable } = rollingUpdate;
  if (maxUnavailable === undefined) {
    // One at a time: a pod that is neither old nor healthy is waited for.
    const next = targets.find((pod) => isOld(pod) || !isHealthy(pod));
    return next && isOld(next) ? [deletion(next)] : [];
  }
  const allowed = Math.max(1, scaled(maxUnavailable, set.spec.replicas ?? 1, "up"));
  const isUp = (pod: Pod) => isHealthy(pod) && isAvailable(pod, set.spec.minReadySeconds, now);
  const unavailable = targets.filter((pod) => !isUp(pod)).length;
  return targets
    .filter(isOld)
    .slice(0, Math.max(0, allowed - unavailable))
    .map(deletion);
}

function deletion(pod: Pod): Step {
  return { type: "delete-pod", target: targetOf(pod) };
}
