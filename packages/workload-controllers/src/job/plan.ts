import type { Job, JobStatus, Plan, Pod } from "@causeway/kubernetes";
import { claim, targetOf } from "../objects/claim.ts";
import { nextCreation, retryAt } from "./backoff.ts";
import { completed, deadlineOf, finishOf, isComplete, isFinished, isSuspended, type Finish } from "./finish.ts";
import type { Observed } from "./gather.ts";
import {
  countOf,
  failureCountAnnotation,
  finishedAt,
  hasFailed,
  ignoredFailureCountAnnotation,
  indexOf,
  isIndexed,
  isTracked,
} from "./pod-facts.ts";
import { statusOf } from "./status.ts";
import type { PodOrder, Step } from "./steps.ts";
import { isIgnored, tally, uid, type Tally } from "./tally.ts";

/** Pods created or deleted in one round, at most. */
const BURST = 500;
/** Since the last pod became ready, in milliseconds; the moment is stored in whole seconds. */
const READY_DELAY = 2_000;

/**
 * New pods wait until those that ended are counted: where none can be created (a quota, a namespace that is being
 * deleted), the ended ones would never be counted, and their finalizer would keep them and the namespace.
 *
 * Pods that ended are counted exactly once: their uids are written to the status, then they lose the tracking
 * finalizer, then the counts take their place. A pod that has the finalizer cannot vanish uncounted.
 */
export function plan(observed: Observed, now: number): Plan<Step, JobStatus | undefined> {
  const { job, strays } = observed;
  if (strays.length > 0) return { steps: finalizers(strays), status: job?.status };
  if (!job) return { steps: [], status: undefined };
  const { owned: pods, steps: claims } = claim(job, job.spec.selector, [...observed.pods, ...observed.orphans]);
  if (claims.length > 0) return { steps: claims, status: job.status };
  if (isFinished(job)) return { steps: finalizers(pods.filter(isTracked)), status: job.status };
  const count = tally(job, pods);
  const ending = finishOf(count, now);
  const managed = ending ? ended(count) : job.metadata.deletionTimestamp === undefined ? manage(count, now) : {};
  const counted = finalizers(pods.filter((pod) => isTracked(pod) && isRecorded(count, pod, ending)));
  const finish = ending ?? (isComplete(count) ? completed : undefined);
  const isManaged = ending === undefined && job.metadata.deletionTimestamp === undefined;
  const { status, events } = statusOf(count, { finish, isManaged, now });
  const isCounting = counted.length > 0 || !sameAccount(status, job.status);
  const due = (managed.steps ?? []).filter(({ type }) => type !== "create-pods" || !isCounting);
  const steps = [...due, ...counted];
  const settles = steps.length === 0 && !finish ? settlesAt(count, status, now) : undefined;
  const isPutOff = steps.length === 0 && due.length < (managed.steps ?? []).length;
  const moments = [isPutOff ? now : undefined, managed.until, settles, deadlineOf({ ...job, status })].filter(
    (at): at is number => at !== undefined && !finish,
  );
  return {
    steps,
    status: settles === undefined ? status : job.status,
    events,
    ...(moments.length === 0 ? {} : { wait: { for: "the back-off or the deadline", until: Math.min(...moments) } }),
  };
}

/**
 * When a status is written that differs in the count of ready pods only; undefined: at once. A pod that ends soon after
 * it became ready, as most of short Jobs do, costs one write in place of two. Upstream waits a second after each change
 * of a pod (syncJobBatchPeriod).
 */
function settlesAt({ job, active }: Tally, status: JobStatus, now: number): number | undefined {
  const before = job.status;
  const isMoreReady = before !== undefined && (status.ready ?? 0) > (before.ready ?? 0);
  if (!isMoreReady || !sameJobStatus({ ...status, ready: before.ready ?? 0 }, before)) return undefined;
  const since = Math.max(...active.map(readySince));
  return since + READY_DELAY > now ? since + READY_DELAY : undefined;
}

function readySince({ status }: Pod): number {
  const at = status?.conditions?.find((each) => each.type === "Ready" && each.status === "True")?.lastTransitionTime;
  return at === undefined ? 0 : Date.parse(at) || 0;
}

function finalizers(pods: readonly Pod[]): Step[] {
  return pods.length === 0 ? [] : [{ type: "remove-finalizers", targets: pods.map(targetOf) }];
}

/** The stored status holds what this pod counts as, or it counts as nothing. */
function isRecorded(count: Tally, pod: Pod, finish: Finish | undefined): boolean {
  const { job, lastFailed, uncounted } = count;
  const isFailure = uncounted.failed.has(uid(pod));
  if (!isFailure && pod.status?.phase === "Succeeded") return isSuccessRecorded(count, pod);
  const isLeaving = job.metadata.deletionTimestamp !== undefined;
  if (!isFailure && !hasFailed(pod, job)) return isLeaving;
  const index = indexOf(pod, job);
  const isNothing = isIgnored(job, pod) || (isIndexed(job) && index === undefined);
  // The last failed pod of an index holds its count of failures until the next pod has it.
  const isHeld = finish === undefined && !isLeaving && lastFailed.get(index ?? -1) === pod;
  return (isFailure || isNothing) && !isHeld;
}

function isSuccessRecorded({ job, recordedIndexes, uncounted }: Tally, pod: Pod): boolean {
  if (!isIndexed(job)) return uncounted.succeeded.has(uid(pod));
  const index = indexOf(pod, job);
  return index === undefined || recordedIndexes.has(index);
}

interface Managed {
  readonly steps?: readonly Step[];
  readonly until?: number;
}

function ended({ active }: Tally): Managed {
  return active.length === 0
    ? {}
    : { steps: [{ type: "delete-pods", targets: active.map(targetOf), uncounted: false }] };
}

function manage(count: Tally, now: number): Managed {
  const { job, active, terminating } = count;
  const wanted = isSuspended(job) ? 0 : wantedPods(count);
  const surplus = surplusPods(count, active.length - wanted);
  if (surplus.length > 0) return { steps: [{ type: "delete-pods", targets: surplus.map(targetOf), uncounted: true }] };
  const waitsFor = job.spec.podReplacementPolicy === "Failed" ? terminating.length : 0;
  const missing = Math.min(BURST, wanted - waitsFor - active.length);
  if (missing <= 0) return {};
  return job.spec.backoffLimitPerIndex === undefined
    ? create(count, missing, now)
    : createPerIndex(count, missing, now);
}

function wantedPods({ job, succeeded, active }: Tally): number {
  const { completions, parallelism = 1 } = job.spec;
  if (completions !== undefined) return Math.max(0, Math.min(parallelism, completions - succeeded));
  return succeeded > 0 ? active.length : parallelism;
}

function create(count: Tally, missing: number, now: number): Managed {
  const { job, pods } = count;
  const ends = (phase: string) => pods.filter(({ status }) => status?.phase === phase);
  const until = nextCreation(ends("Succeeded"), ends("Failed"));
  if (until > now) return { until };
  const orders: PodOrder[] = isIndexed(job)
    ? pendingIndexes(count, missing).map((index) => ({ index }))
    : Array.from({ length: missing }, () => ({}));
  return orders.length === 0 ? {} : { steps: [{ type: "create-pods", pods: orders, after: pods.length }] };
}

/** Each index has its own back-off. */
function createPerIndex(count: Tally, missing: number, now: number): Managed {
  const { pods, lastFailed } = count;
  const moments = pendingIndexes(count, missing).map((index) => ({ index, at: retryOf(lastFailed.get(index)) }));
  const due = moments.filter(({ at }) => at <= now);
  if (due.length > 0) {
    const orders = due.map(({ index }): PodOrder => {
      const failed = lastFailed.get(index)?.metadata.uid;
      return failed === undefined ? { index } : { index, failed };
    });
    return { steps: [{ type: "create-pods", pods: orders, after: pods.length }] };
  }
  return moments.length === 0 ? {} : { until: Math.min(...moments.map(({ at }) => at)) };
}

function retryOf(pod: Pod | undefined): number {
  if (!pod) return 0;
  const failures = countOf(pod, failureCountAnnotation) + countOf(pod, ignoredFailureCountAnnotation) + 1;
  return retryAt(failures, finishedAt(pod));
}

function pendingIndexes(
  { job, active, terminating, succeededIndexes, failedIndexes }: Tally,
  missing: number,
): number[] {
  const waitsFor = job.spec.podReplacementPolicy === "Failed" ? terminating : [];
  const taken = new Set([...active, ...waitsFor].map((pod) => indexOf(pod, job)));
  const done = succeededIndexes.union(failedIndexes);
  const end = job.spec.completions ?? 0;
  const pending: number[] = [];
  for (let index = done.gapFrom(0); index < end && pending.length < missing; index = done.gapFrom(index + 1)) {
    if (!taken.has(index)) pending.push(index);
  }
  return pending;
}

/**
 * Pods beyond the wanted ones: first those of an index that another has or that the Job does not have, then those least
 * far.
 */
function surplusPods({ job, active }: Tally, atLeast: number): Pod[] {
  const seen = new Set<number>();
  const sorted = active.toSorted((a, b) => progress(b) - progress(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
  const isDouble = (pod: Pod) => {
    const index = isIndexed(job) ? indexOf(pod, job) : -1;
    const double = index === undefined || (index >= 0 && seen.has(index));
    seen.add(index ?? -1);
    return double;
  };
  const doubles = new Set(sorted.filter(isDouble));
  const rest = sorted.filter((pod) => !doubles.has(pod)).toReversed();
  return [...doubles, ...rest.slice(0, Math.max(0, atLeast - doubles.size))].slice(0, BURST);
}

function progress(pod: Pod): number {
  const running = pod.status?.phase === "Running" ? 2 : 0;
  const ready = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ? 4 : 0;
  return ready + running + (pod.spec.nodeName ? 1 : 0);
}

/** True if both statuses count the same pods as ended. */
function sameAccount(a: JobStatus, b: JobStatus | undefined): boolean {
  const account = ({ succeeded, failed, completedIndexes, failedIndexes, uncountedTerminatedPods }: JobStatus) => ({
    succeeded,
    failed,
    completedIndexes,
    failedIndexes,
    uncountedTerminatedPods,
  });
  return sameJobStatus(account(a) as JobStatus, b && (account(b) as JobStatus));
}

/** True if both statuses show the same; absent, empty and 0 are one. */
export function sameJobStatus(a: Job["status"], b: Job["status"]): boolean {
  return JSON.stringify(normal(a)) === JSON.stringify(normal(b));
}

function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(normal);
  if (typeof value !== "object" || value === null) return value === 0 || value === "" ? undefined : value;
  const entries = Object.entries(value)
    .map(([name, inner]) => [name, normal(inner)] as const)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([x], [y]) => (x < y ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
