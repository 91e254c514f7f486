import { timestamp, type JobStatus, type PlannedEvent, type WorkloadCondition } from "@causeway/kubernetes";
import { isReady } from "../objects/pods.ts";
import { isSuspended, type Finish } from "./finish.ts";
import { isIndexed, isTracked } from "./pod-facts.ts";
import { uid, type Tally } from "./tally.ts";

/** Uids in the status at once, at most. */
const MAX_UNCOUNTED = 500;

interface Moment {
  readonly finish: Finish | undefined;
  /** The Job creates and deletes pods: it is neither ending nor being deleted. */
  readonly isManaged: boolean;
  readonly now: number;
}

/** The status after this plan, and the events for what it reports first. */
export function statusOf(count: Tally, moment: Moment): { status: JobStatus; events: PlannedEvent[] } {
  const { job, active, terminating } = count;
  const counts = countsOf(count);
  const { conditions, events, isResumed } = conditionsOf(count, moment);
  const at = timestamp(moment.now);
  const startTime = isResumed ? at : (job.status?.startTime ?? (isSuspended(job) ? undefined : at));
  const { succeeded = [], failed = [] } = counts.uncountedTerminatedPods ?? {};
  const isEnded = succeeded.length + failed.length + active.length + terminating.length === 0;
  const isCounted = counts.isAll && isEnded && !job.metadata.deletionTimestamp;
  const { isAll: _all, ...fields } = counts;
  const status: JobStatus = {
    ...fields,
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: terminating.length,
    ...(startTime === undefined ? {} : { startTime }),
    ...(job.status?.completionTime === undefined ? {} : { completionTime: job.status.completionTime }),
    conditions,
  };
  const { finish } = moment;
  if (!finish || !isCounted) return { status, events };
  const isSuccess = finish.type === "SuccessCriteriaMet";
  const final = condition(isSuccess ? "Complete" : "Failed", "True", { ...finish, at });
  const event: PlannedEvent = isSuccess
    ? { type: "Normal", reason: "Completed", message: "Job completed" }
    : { type: "Warning", reason: finish.reason, message: finish.message };
  return {
    status: { ...status, conditions: [...conditions, final], ...(isSuccess ? { completionTime: at } : {}) },
    events: [...events, event],
  };
}

/** Uids whose pods lost the finalizer become counts, and pods that ended become uids. */
function countsOf(count: Tally): JobStatus & { isAll: boolean } {
  const { job, newSucceeded, newFailed, pods } = count;
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted } = job.status ?? {};
  const tracked = new Set(pods.filter(isTracked).map(uid));
  const split = (uids: readonly string[] = []) => ({
    held: uids.filter((each) => tracked.has(each)),
    done: uids.filter((each) => !tracked.has(each)).length,
  });
  const s = split(uncounted?.succeeded);
  const f = split(uncounted?.failed);
  const room = Math.max(0, MAX_UNCOUNTED - s.held.length - f.held.length);
  const addedSucceeded = isIndexed(job) ? [] : newSucceeded.slice(0, room).map(uid);
  const addedFailed = newFailed.slice(0, room - addedSucceeded.length).map(uid);
  const total = succeeded + s.done;
  return {
    isAll: addedFailed.length === newFailed.length && (isIndexed(job) || addedSucceeded.length === newSucceeded.length),
    succeeded: isIndexed(job) ? count.succeededIndexes.size : total,
    failed: failed + f.done,
    uncountedTerminatedPods: {
      ...list("succeeded", [...s.held, ...addedSucceeded]),
      ...list("failed", [...f.held, ...addedFailed]),
    },
    ...(isIndexed(job) ? { completedIndexes: String(count.succeededIndexes) } : {}),
    ...(isIndexed(job) && job.spec.backoffLimitPerIndex !== undefined
      ? { failedIndexes: String(count.failedIndexes) }
      : {}),
  };
}

function list(name: "succeeded" | "failed", uids: string[]) {
  return uids.length > 0 ? { [name]: uids } : {};
}

function conditionsOf(
  { job }: Tally,
  { finish, isManaged, now }: Moment,
): { conditions: WorkloadCondition[]; events: PlannedEvent[]; isResumed: boolean } {
  const standing = job.status?.conditions ?? [];
  const at = timestamp(now);
  if (finish) {
    if (standing.some(({ type }) => type === finish.type))
      return { conditions: standing, events: [], isResumed: false };
    return {
      conditions: [...standing, condition(finish.type, "True", { ...finish, at })],
      events: [],
      isResumed: false,
    };
  }
  const before = standing.find(({ type }) => type === "Suspended")?.status === "True";
  const after = isSuspended(job);
  if (!isManaged || before === after) return { conditions: standing, events: [], isResumed: false };
  const words = after
    ? { reason: "JobSuspended", message: "Job suspended", at }
    : { reason: "JobResumed", message: "Job resumed", at };
  const changed = condition("Suspended", after ? "True" : "False", words);
  return {
    conditions: [...standing.filter(({ type }) => type !== "Suspended"), changed],
    events: [{ type: "Normal", reason: after ? "Suspended" : "Resumed", message: words.message }],
    isResumed: !after,
  };
}

function condition(
  type: string,
  status: "True" | "False",
  { reason, message, at }: { reason: string; message: string; at: string },
): WorkloadCondition {
  return { type, status, reason, message, lastProbeTime: at, lastTransitionTime: at };
}
