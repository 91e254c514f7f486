import type { Job, Pod } from "@causeway/kubernetes";
import { matchFailurePolicy } from "./failure-policy.ts";
import { Indexes } from "./intervals.ts";
import { hasFailed, isIndexed } from "./pod-facts.ts";
import type { Tally } from "./tally.ts";

/** How a Job ends. */
export interface Finish {
  readonly type: "FailureTarget" | "SuccessCriteriaMet";
  readonly reason: string;
  readonly message: string;
}

/** Then the Job wants no pods, and has no deadline. */
export const isSuspended = ({ spec }: Job): boolean => spec.suspend === true;

/** True once the Job has the condition Complete or Failed. */
export function isFinished({ status }: Job): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: value }) => (type === "Complete" || type === "Failed") && value === "True",
    ) ?? false
  );
}

/** The reason to end the Job and its pods now: what the status says already, or the first rule that is met. */
export function finishOf(count: Tally, now: number): Finish | undefined {
  return recorded(count.job) ?? failure(count, now) ?? indexFailure(count) ?? success(count);
}

function recorded({ status }: Job): Finish | undefined {
  const conditions = status?.conditions?.filter((condition) => condition.status === "True") ?? [];
  for (const type of ["SuccessCriteriaMet", "FailureTarget"] as const) {
    const found = conditions.find((condition) => condition.type === type);
    if (found) return { type, reason: found.reason ?? "", message: found.message ?? "" };
  }
  return undefined;
}

function failure({ job, pods, failed }: Tally, now: number): Finish | undefined {
  const type = "FailureTarget";
  const policy = pods
    .filter((pod) => hasFailed(pod, job))
    .map((pod) => matchFailurePolicy(job, pod))
    .find((match) => match?.action === "FailJob");
  if (policy) return { type, reason: "PodFailurePolicy", message: policy.message };
  if (failed > (job.spec.backoffLimit ?? 6) || restartedTooOften(job, pods)) {
    return { type, reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  const deadline = deadlineOf(job);
  if (deadline !== undefined && deadline <= now) {
    return { type, reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };
  }
  return undefined;
}

/** When activeDeadlineSeconds are over. */
export function deadlineOf(job: Job): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  if (activeDeadlineSeconds === undefined || job.status?.startTime === undefined || isSuspended(job)) return undefined;
  return Date.parse(job.status.startTime) + activeDeadlineSeconds * 1_000;
}

/** With restartPolicy OnFailure the restarts of containers count. */
function restartedTooOften({ spec }: Job, pods: readonly Pod[]): boolean {
  if (spec.template.spec["restartPolicy"] !== "OnFailure") return false;
  const restarts = pods
    .filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending")
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((total, { restartCount = 0 }) => total + restartCount, 0);
  return restarts >= Math.max(1, spec.backoffLimit ?? 6);
}

function indexFailure({ job, failedIndexes, succeededIndexes }: Tally): Finish | undefined {
  const { backoffLimitPerIndex, maxFailedIndexes, completions = 0 } = job.spec;
  if (!isIndexed(job) || backoffLimitPerIndex === undefined) return undefined;
  const type = "FailureTarget";
  if (maxFailedIndexes !== undefined && failedIndexes.size > maxFailedIndexes) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return { type, reason: "MaxFailedIndexesExceeded", message };
  }
  if (failedIndexes.size > 0 && failedIndexes.size + succeededIndexes.size >= completions) {
    return { type, reason: "FailedIndexes", message: "Job has failed indexes" };
  }
  return undefined;
}

function success({ job, succeededIndexes }: Tally): Finish | undefined {
  if (!isIndexed(job)) return undefined;
  const { successPolicy, completions = 0 } = job.spec;
  const index = (successPolicy?.rules ?? []).findIndex((rule) => {
    const listed = rule.succeededIndexes === undefined ? undefined : Indexes.parse(rule.succeededIndexes, completions);
    const met = listed ? listed.intersection(succeededIndexes).size : succeededIndexes.size;
    return met >= (rule.succeededCount ?? listed?.size ?? Number.POSITIVE_INFINITY);
  });
  if (index === -1) return undefined;
  return { type: "SuccessCriteriaMet", reason: "SuccessPolicy", message: `Matched rules at index ${index}` };
}

/** All completions are reached and no pod runs. */
export function isComplete({ job, succeeded, active }: Tally): boolean {
  if (active.length > 0) return false;
  return job.spec.completions === undefined ? succeeded > 0 : succeeded >= job.spec.completions;
}

/** The end of a Job that reached its completions, without a success policy. */
export const completed: Finish = {
  type: "SuccessCriteriaMet",
  reason: "CompletionsReached",
  message: "Reached expected number of succeeded pods",
};
