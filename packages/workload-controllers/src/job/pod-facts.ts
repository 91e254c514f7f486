import type { Job, Pod } from "@causeway/kubernetes";

/** Keeps a pod that ended until the status of its Job counts it. */
export const trackingFinalizer = "batch.kubernetes.io/job-tracking";
/** On pods of Indexed Jobs: their index from 0, as a decimal number. */
export const indexAnnotation = "batch.kubernetes.io/job-completion-index";
/** On pods of Jobs with `backoffLimitPerIndex`: earlier failures of the index that count. */
export const failureCountAnnotation = "batch.kubernetes.io/job-index-failure-count";
/** The same for failures that a rule with the action Ignore matched; they count for the back-off only. */
export const ignoredFailureCountAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count";

/** Such Jobs complete index by index, others by the number of pods that succeeded. */
export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === "Indexed";
/** False once the Job counts the pod, and for pods that the Job did not create. */
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

/** The number in one of the annotations above; 0 if it is missing or no number. */
export function countOf(pod: Pod, annotation: string): number {
  const text = pod.metadata.annotations?.[annotation] ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
