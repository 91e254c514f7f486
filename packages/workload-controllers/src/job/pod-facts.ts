import type { Job, Pod } from "@causeway/kubernetes";

export const trackingFinalizer = "batch.kubernetes.io/job-tracking";
export const indexAnnotation = "batch.kubernetes.io/job-completion-index";
export const failureCountAnnotation = "batch.kubernetes.io/job-index-failure-count";
export const ignoredFailureCountAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count";

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === "Indexed";
export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(trackingFinalizer) ?? false;

/** The completion index of the pod, if it is one that the Job has. */
export function indexOf(pod: Pod, job: Job): number | undefined {
  const text = pod.metadata.annotations?.[indexAnnotation] ?? "";
  return /^\d{1,9}$/.test(text) && Number(text) < (job.spec.completions ?? 0) ? Number(text) : undefined;
}

/** A pod that is being deleted has failed, unless only pods that ended are replaced. */
export function hasFailed(pod: Pod, job: Job): boolean {
  if (pod.status?.phase === "Failed") return true;
  if (job.spec.podReplacementPolicy === "Failed") return false;
  return pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== "Succeeded";
}

/** When the pod ended, in milliseconds since the epoch. */
export function finishedAt({ status, metadata }: Pod): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ""));
  if (ends.length > 0 && !ends.some(Number.isNaN)) return Math.max(...ends);
  const notReady = status?.conditions?.find(({ type, status: value }) => type === "Ready" && value === "False");
  const moment = notReady?.lastTransitionTime ?? metadata.deletionTimestamp ?? metadata.creationTimestamp ?? "";
  return Date.parse(moment) || 0;
}

export function countOf(pod: Pod, annotation: string): number {
  const text = pod.metadata.annotations?.[annotation] ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
