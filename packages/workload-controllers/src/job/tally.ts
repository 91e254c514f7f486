import type { Job, Pod } from "@causeway/kubernetes";
import { isActive } from "../objects/pods.ts";
import { matchFailurePolicy } from "./failure-policy.ts";
import { Indexes } from "./intervals.ts";
import { countOf, failureCountAnnotation, finishedAt, hasFailed, indexOf, isIndexed, isTracked } from "./pod-facts.ts";

/** The pods of a Job, counted. */
export interface Tally {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
  /** Pods that ended and that the status does not count yet. */
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  /** All that ended, whether the status counts them or not. */
  readonly succeeded: number;
  readonly failed: number;
  readonly succeededIndexes: Indexes;
  /** Those of them that the stored status has. */
  readonly recordedIndexes: Indexes;
  readonly failedIndexes: Indexes;
  /** Uids of pods that ended, which the stored status has and not yet counts. */
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
  /**
   * With backoffLimitPerIndex: the last failed pod of each index that has no newer one. It holds the count of failures.
   */
  readonly lastFailed: ReadonlyMap<number, Pod>;
}

/** Counts the Job's pods with what its status counted before; no pod counts twice. */
export function tally(job: Job, pods: readonly Pod[]): Tally {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted } = job.status ?? {};
  const known = (uids: readonly string[] | undefined) => new Set(uids);
  const seen = { succeeded: known(uncounted?.succeeded), failed: known(uncounted?.failed) };
  const counted = pods.filter((pod) => isTracked(pod) && (!isIndexed(job) || indexOf(pod, job) !== undefined));
  const ended = counted.filter((pod) => pod.status?.phase === "Succeeded" && !seen.failed.has(uid(pod)));
  const newSucceeded = ended.filter((pod) => !seen.succeeded.has(uid(pod)));
  const newFailed = counted.filter((pod) => hasFailed(pod, job) && !seen.failed.has(uid(pod)) && !isIgnored(job, pod));
  const recordedIndexes = Indexes.parse(job.status?.completedIndexes, job.spec.completions ?? 0);
  const endedIndexes = ended.map((pod) => indexOf(pod, job)).filter((index) => index !== undefined);
  const succeededIndexes = recordedIndexes.union(Indexes.of(endedIndexes));
  const active = pods.filter(isActive);
  const failedIndexes = failedIndexesOf(job, counted, succeededIndexes);
  return {
    job,
    pods,
    active,
    terminating: pods.filter(
      (pod) =>
        pod.metadata.deletionTimestamp !== undefined && !["Succeeded", "Failed"].includes(pod.status?.phase ?? ""),
    ),
    newSucceeded,
    newFailed,
    succeeded: isIndexed(job) ? succeededIndexes.size : succeeded + seen.succeeded.size + newSucceeded.length,
    failed: failed + seen.failed.size + newFailed.length,
    succeededIndexes,
    recordedIndexes,
    failedIndexes,
    uncounted: seen,
    lastFailed: lastFailedOf(job, { counted, active, done: succeededIndexes.union(failedIndexes) }),
  };
}

/** A failure that a rule of `podFailurePolicy` excludes from `backoffLimit`. */
export function isIgnored(job: Job, pod: Pod): boolean {
  return matchFailurePolicy(job, pod)?.action === "Ignore";
}

function failedIndexesOf(job: Job, counted: readonly Pod[], succeeded: Indexes): Indexes {
  const { backoffLimitPerIndex: limit, completions = 0 } = job.spec;
  if (limit === undefined || !isIndexed(job)) return Indexes.none;
  const failed = new Set<number>();
  for (const pod of counted.filter((each) => hasFailed(each, job))) {
    const index = indexOf(pod, job) ?? -1;
    const action = matchFailurePolicy(job, pod)?.action;
    const isOver = action === "FailIndex" || (action !== "Ignore" && countOf(pod, failureCountAnnotation) >= limit);
    if (isOver && index >= 0 && !succeeded.has(index)) failed.add(index);
  }
  return Indexes.parse(job.status?.failedIndexes, completions).union(Indexes.of(failed));
}

function lastFailedOf(
  job: Job,
  { counted, active, done }: { counted: readonly Pod[]; active: readonly Pod[]; done: Indexes },
): Map<number, Pod> {
  const last = new Map<number, Pod>();
  if (job.spec.backoffLimitPerIndex === undefined) return last;
  const replaced = new Set(active.map((pod) => indexOf(pod, job)));
  for (const pod of counted.filter((each) => hasFailed(each, job))) {
    const index = indexOf(pod, job) ?? -1;
    const before = last.get(index);
    if (done.has(index) || replaced.has(index)) continue;
    const isLater =
      !before ||
      countOf(pod, failureCountAnnotation) > countOf(before, failureCountAnnotation) ||
      (countOf(pod, failureCountAnnotation) === countOf(before, failureCountAnnotation) &&
        finishedAt(pod) > finishedAt(before));
    if (isLater) last.set(index, pod);
  }
  return last;
}

/** As a key for sets: objects from the server always have one. */
export function uid({ metadata }: Pod): string {
  return metadata.uid ?? "";
}
