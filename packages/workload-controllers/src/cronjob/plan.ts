import {
  ownerReference,
  timestamp,
  type CronJob,
  type CronJobStatus,
  type Job,
  type Plan,
  type PlannedEvent,
} from "@causeway/kubernetes";
import { isFinished } from "../job/finish.ts";
import { targetOf } from "../objects/claim.ts";
import type { Observed } from "./gather.ts";
import { parseSchedule, type Schedule } from "./schedule.ts";
import type { Step } from "./steps.ts";

const SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/** From so many missed starts on, an event says so. */
const MANY = 100;
/** Starts that are computed one by one, at most: of more the last ones are found by halving the time. */
const LIMIT = 1_000;

type Planned = Plan<Step, CronJobStatus>;

/** Starts the Job of the latest moment of the schedule, and deletes Jobs beyond the history limits. */
export function plan(observed: Observed, now: number): Planned {
  const planned = jobsOf(observed, now);
  const seen = changesOf(observed);
  return seen.length === 0 ? planned : { ...planned, events: [...seen, ...(planned.events ?? [])] };
}

function jobsOf(observed: Observed, now: number): Planned {
  const { cronJob, jobs } = observed;
  const { spec, metadata } = cronJob;
  const status = statusOf(observed);
  const old = outdated(cronJob, jobs);
  if (metadata.deletionTimestamp !== undefined) return { steps: [], status };
  if (old.length > 0) return { steps: old, status };
  if (spec.suspend) return { steps: [], status };
  const schedule = parseSchedule(spec.schedule, spec.timeZone);
  if (!schedule) {
    const message = `unparseable schedule: "${spec.schedule}"${spec.timeZone === undefined ? "" : ` in time zone "${spec.timeZone}"`}`;
    return { steps: [], status, events: [{ type: "Warning", reason: "UnparseableSchedule", message }] };
  }
  return start(observed, { schedule, status, now });
}

/** What became of the Jobs that the status lists as active, and Jobs that the controller did not start. */
function changesOf({ cronJob, jobs, leaving }: Observed): PlannedEvent[] {
  const listed = cronJob.status?.active ?? [];
  const isListed = ({ metadata }: Job): boolean => listed.some(({ uid }) => uid === metadata.uid);
  const isThere = (uid: string | undefined): boolean =>
    [...jobs, ...leaving].some(({ metadata }) => metadata.uid === uid);
  const unexpected = jobs.filter((job) => !isFinished(job) && !isListed(job) && !isStartedHere(job));
  const completed = jobs.filter((job) => isFinished(job) && isListed(job));
  const missing = listed.filter(({ uid }) => !isThere(uid));
  return [
    ...unexpected.map(({ metadata: { name } }): PlannedEvent => {
      const message = `Saw a job that the controller did not create or forgot: ${name}`;
      return { type: "Warning", reason: "UnexpectedJob", message };
    }),
    ...completed.map((job): PlannedEvent => {
      const message = `Saw completed job: ${job.metadata.name}, condition: ${endOf(job)}`;
      return { type: "Normal", reason: "SawCompletedJob", message };
    }),
    ...missing.map(({ name }): PlannedEvent => {
      return { type: "Normal", reason: "MissingJob", message: `Active job went missing: ${name}` };
    }),
  ];
}

function isStartedHere({ metadata }: Job): boolean {
  return metadata.annotations?.[SCHEDULED] !== undefined;
}

interface Turn {
  readonly schedule: Schedule;
  readonly status: CronJobStatus;
  readonly now: number;
}

function start({ cronJob, jobs, leaving }: Observed, { schedule, status, now }: Turn): Planned {
  const { spec } = cronJob;
  const next = schedule.next(now);
  const wait = next === undefined ? {} : { wait: { for: "the schedule", until: next + 100 } };
  const { latest, missed } = latestMoment(earliestOf(cronJob, status, now), schedule, now);
  if (latest === undefined) return { steps: [], status, ...wait };
  const events: PlannedEvent[] = missed > MANY ? [tooMany(missed)] : [];
  const active = jobs.filter((job) => !isFinished(job));
  const running = leaving.filter((job) => !isFinished(job));
  if (spec.concurrencyPolicy === "Forbid" && active.length + running.length > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return { steps: [], status, events: [...events, { type: "Normal", reason: "JobAlreadyActive", message }], ...wait };
  }
  const create: Step = { type: "create-job", job: newJob(cronJob, latest) };
  if (spec.concurrencyPolicy !== "Replace") return { steps: [create], status, events };
  // What is deleted here is not active any more, and not missing.
  const { active: _, ...rest } = status;
  return {
    steps: [...active.map(deletion), create],
    status: { ...rest, ...(running.length > 0 ? { active: running.map(referenceTo) } : {}) },
    events,
  };
}

function tooMany(missed: number): PlannedEvent {
  const message = `too many missed start times: ${missed}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`;
  return { type: "Warning", reason: "TooManyMissedTimes", message };
}

/** After this moment starts may have been missed. */
function earliestOf({ metadata, spec }: CronJob, { lastScheduleTime }: CronJobStatus, now: number): number {
  const since = Date.parse(lastScheduleTime ?? metadata.creationTimestamp ?? timestamp(now));
  const { startingDeadlineSeconds } = spec;
  return startingDeadlineSeconds === undefined ? since : Math.max(since, now - startingDeadlineSeconds * 1_000);
}

/** The last moment of the schedule that is not in the future, and how many there were. */
function latestMoment(after: number, schedule: Schedule, now: number): { latest: number | undefined; missed: number } {
  let latest: number | undefined;
  let from = after;
  let missed = 0;
  for (let count = 0; count < LIMIT; count++) {
    const moment = schedule.next(from);
    if (moment === undefined || moment > now) return { latest, missed };
    latest = moment;
    missed++;
    // Far behind: halve what is left, which passes over moments, but over none of the last ones.
    const middle = from + (now - from) / 2;
    const far = missed > MANY ? schedule.next(middle) : undefined;
    from = far !== undefined && far <= now && far > moment ? Math.floor(middle) : moment;
  }
  return { latest, missed };
}

function statusOf({ cronJob: { status }, jobs, leaving }: Observed): CronJobStatus {
  const active = [...jobs, ...leaving].filter((job) => !isFinished(job)).toSorted(byCreation);
  const started = Math.max(
    Date.parse(status?.lastScheduleTime ?? "") || 0,
    ...jobs.map(({ metadata }) => Date.parse(metadata.annotations?.[SCHEDULED] ?? "") || 0),
  );
  const succeeded = Math.max(
    Date.parse(status?.lastSuccessfulTime ?? "") || 0,
    ...jobs.filter((job) => endOf(job) === "Complete").map((job) => Date.parse(job.status?.completionTime ?? "") || 0),
  );
  return {
    ...(active.length > 0 ? { active: active.map(referenceTo) } : {}),
    ...(started > 0 ? { lastScheduleTime: timestamp(started) } : {}),
    ...(succeeded > 0 ? { lastSuccessfulTime: timestamp(succeeded) } : {}),
  };
}

function referenceTo({ metadata }: Job) {
  const { name, namespace = "", uid = "" } = metadata;
  return { apiVersion: "batch/v1", kind: "Job", name, namespace, uid };
}

function outdated({ spec }: CronJob, jobs: readonly Job[]): Step[] {
  const beyond = (type: "Complete" | "Failed", limit: number | undefined) => {
    const ended = jobs.filter((job) => endOf(job) === type).toSorted(byCreation);
    return limit === undefined ? [] : ended.slice(0, Math.max(0, ended.length - limit));
  };
  return [...beyond("Complete", spec.successfulJobsHistoryLimit), ...beyond("Failed", spec.failedJobsHistoryLimit)].map(
    deletion,
  );
}

function endOf({ status }: Job): string | undefined {
  return status?.conditions?.find(
    (condition) => (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True",
  )?.type;
}

function byCreation(a: Job, b: Job): number {
  const one = a.status?.startTime ?? a.metadata.creationTimestamp ?? "";
  const other = b.status?.startTime ?? b.metadata.creationTimestamp ?? "";
  return one === other ? (a.metadata.name < b.metadata.name ? -1 : 1) : one < other ? -1 : 1;
}

function deletion(job: Job): Step {
  return { type: "delete-job", target: targetOf(job) };
}

/** Its name follows from the moment: a repeated create meets what the first one created. */
function newJob(cronJob: CronJob, moment: number): Job {
  const { jobTemplate } = cronJob.spec;
  const { name, namespace } = cronJob.metadata;
  const { labels, annotations } = jobTemplate.metadata ?? {};
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: `${name}-${Math.floor(moment / 60_000)}`,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels ? { labels } : {}),
      annotations: { ...annotations, [SCHEDULED]: timestamp(moment) },
      ownerReferences: [ownerReference(cronJob, { controller: true })],
    },
    spec: jobTemplate.spec,
  };
}
