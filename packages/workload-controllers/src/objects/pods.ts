import type { Pod } from "@causeway/kubernetes";

/** What controllers ask of a pod (k8s.io/kubernetes pkg/api/v1/pod and pkg/controller). */

/** All of its containers have ended, and none is restarted. */
export function isTerminal(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** Counts towards the replicas of its owner. */
export function isActive(pod: Pod): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** By its condition Ready; a pod that is being deleted may be ready. */
export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === "True";
}

/** When the pod became Ready, in milliseconds since the epoch; undefined when it is not Ready. */
export function readySince(pod: Pod): number | undefined {
  const condition = readyCondition(pod);
  if (condition?.status !== "True") return undefined;
  return condition.lastTransitionTime === undefined ? 0 : Date.parse(condition.lastTransitionTime);
}

/** When the pod is available: Ready for `minReadySeconds`. Undefined when it is not Ready. */
export function availableAt(pod: Pod, minReadySeconds = 0): number | undefined {
  const since = readySince(pod);
  return since === undefined ? undefined : since + minReadySeconds * 1_000;
}

/** Ready for `minReadySeconds`; without these, any ready pod, whatever the clocks say. */
export function isAvailable(pod: Pod, minReadySeconds: number | undefined, now: number): boolean {
  const at = availableAt(pod, minReadySeconds);
  return at !== undefined && (!minReadySeconds || at <= now);
}

/** When the next of the pods becomes available, if one is Ready and waits for `minReadySeconds`. */
export function nextAvailability(pods: readonly Pod[], minReadySeconds = 0, now: number): number | undefined {
  const moments = pods
    .map((pod) => availableAt(pod, minReadySeconds))
    .filter((at): at is number => at !== undefined && at > now);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

function readyCondition(pod: Pod) {
  return pod.status?.conditions?.find(({ type }) => type === "Ready");
}
