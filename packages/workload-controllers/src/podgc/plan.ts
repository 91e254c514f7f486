import type { Node, Plan, Pod } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** The reason that a kubelet gives a pod which it evicted. */
const EVICTED = "Evicted";

/** How long a node must be missing before its pods are removed, in milliseconds. */
export const quarantine = 40_000;
/** Pods that ended and are kept (kube-controller-manager's --terminated-pod-gc-threshold). */
export const threshold = 12_500;
/** Pods removed in one round, at most. */
const BURST = 500;
const outOfService = "node.kubernetes.io/out-of-service";

/** Which pods no kubelet will ever remove, as kube-controller-manager's pod garbage collector judges. */
export function plan(observed: Observed, now: number): Plan<Step, undefined> {
  switch (observed.of) {
    case "ended":
      return removed(beyondThreshold(observed.pods));
    case "unscheduled":
      return removed(observed.pods);
    case "node":
      return observed.node ? removed(stranded(observed.node, observed.pods)) : orphaned(observed, now);
  }
}

function removed(pods: readonly Pod[], message?: string): Plan<Step, undefined> {
  const steps = pods
    .slice(0, BURST)
    .map((pod): Step => ({ type: "remove-pod", pod, ...(message === undefined ? {} : { message }) }));
  return { steps, status: undefined };
}

/** Evicted ones first, then the oldest. */
function beyondThreshold(pods: readonly Pod[]): readonly Pod[] {
  const excess = pods.length - threshold;
  if (excess <= 0) return [];
  return pods
    .toSorted(
      (a, b) =>
        Number(isEvicted(b)) - Number(isEvicted(a)) ||
        created(a).localeCompare(created(b)) ||
        a.metadata.name.localeCompare(b.metadata.name),
    )
    .slice(0, excess);
}

function isEvicted({ status }: Pod): boolean {
  return status?.reason === EVICTED;
}

function created({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? "";
}

/** The node does not report and is declared out of service: what is being deleted there is gone. */
function stranded({ spec, status }: Node, pods: readonly Pod[]): readonly Pod[] {
  const isReady = status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
  const isOut = spec?.taints?.some(({ key }) => key === outOfService) ?? false;
  return isReady || !isOut ? [] : pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
}

function orphaned({ missingSince, pods }: Extract<Observed, { of: "node" }>, now: number): Plan<Step, undefined> {
  if (pods.length === 0) return { steps: [], status: undefined };
  const until = missingSince + quarantine;
  if (until > now) return { steps: [], status: undefined, wait: { for: "a node that is missing", until } };
  return removed(pods, "PodGC: node no longer exists");
}
