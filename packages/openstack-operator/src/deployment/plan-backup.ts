import type { OpenStackDeploymentStatus } from "@causeway/api";
import { timestamp, type Job, type KubeObject, type PlannedEvent, type Pod } from "@causeway/kubernetes";
import { labels } from "../model/names.ts";
import type { Desired } from "../render/desired.ts";
import { stamped } from "../render/stamp.ts";
import type { Observed } from "./gather.ts";
import { readinessOf } from "./readiness.ts";
import type { Step } from "./steps.ts";

const HOUR = 3_600_000;

type Record = NonNullable<OpenStackDeploymentStatus["backups"]>[number];
type State = NonNullable<OpenStackDeploymentStatus["backup"]>;

/** What is to be done for backups, and what the status says of them. */
export interface BackupPlan {
  readonly steps: readonly Step[];
  readonly status: Pick<OpenStackDeploymentStatus, "backup" | "backups">;
  readonly events: readonly PlannedEvent[];
  /** When the next one is due. */
  readonly next?: number;
}

/** What `planBackup` reads. */
export interface BackupFacts {
  readonly observed: Observed;
  readonly desired: Pick<Desired, "templates" | "catalogue">;
  /** Every component is up to date, and nothing else is under way. */
  readonly isSettled: boolean;
  readonly now: number;
}

/** Most records of a status. */
const MOST_RECORDS = 32;

/** The name of the backup that is due at a time. It is the same in every process. */
export const runOf = (time: number): string =>
  new Date(time)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(/[-:]/g, "")
    .toLowerCase();

/** The last time at or before `now` at which a backup is due. */
export function dueAt({ everyHours = 24, hour = 2 }: { everyHours?: number; hour?: number }, now: number): number {
  const every = everyHours * HOUR;
  const offset = (hour * HOUR) % every;
  return Math.floor((now - offset) / every) * every + offset;
}

/**
 * A backup is a row of Jobs that run one after another, each named by what it does and by the backup's time. What
 * exists and what ended says where it is, so that any process continues it. A Job that fails ends it; the next one is
 * made at its time. Pure.
 */
export function planBackup({ observed, desired, isSettled, now }: BackupFacts): BackupPlan {
  const { deployment } = observed;
  const { backup } = deployment.spec;
  const jobs = runningJobs(observed);
  const records = deployment.status?.backups ?? [];
  const remove = (objects: readonly KubeObject[]): Step[] =>
    objects.map((object) => ({ type: "delete", name: `Job/${object.metadata.name}`, object }));
  if (!backup) return { steps: remove(jobs), status: records.length > 0 ? { backups: [...records] } : {}, events: [] };
  const due = dueAt(backup, now);
  const next = due + (backup.everyHours ?? 24) * HOUR;
  const run = records.find(({ state }) => state === "Running")?.run ?? unrecorded(jobs, records) ?? runOf(due);
  const known = records.find((each) => each.run === run);
  const old = jobs.filter(({ metadata }) => metadata.labels?.[labels.run] !== run);
  const idle = { next: timestamp(next), ...lastOf(records) };
  if (known && known.state !== "Running") {
    // Jobs of one that failed remain until the next: their logs say why.
    const over = known.state === "Complete" ? jobs : old;
    return { steps: remove(over), status: { backup: idle, backups: [...records] }, events: [], next };
  }
  const own = jobs.filter(({ metadata }) => metadata.labels?.[labels.run] === run);
  if (own.length === 0 && !known && !isSettled) {
    const step = "waits until every component is ready";
    return { steps: [], status: { backup: { ...idle, step }, ...kept(records) }, events: [], next };
  }
  const progress = progressOf(desired, own, run);
  const record: Record = {
    run,
    state: progress.state,
    startedAt: known?.startedAt ?? timestamp(now),
    ...(progress.state === "Running" ? {} : { completedAt: timestamp(now) }),
    ...sizeOf(observed.pods, run),
    ...(progress.message === undefined ? {} : { message: progress.message.slice(0, 512) }),
  };
  const all = [record, ...records.filter((each) => each.run !== run)].slice(0, MOST_RECORDS);
  const state: State =
    progress.state === "Running" ? { ...idle, run, step: progress.step } : { next: idle.next, ...lastOf(all) };
  return {
    steps: [...remove(old), ...progress.create],
    status: { backup: state, backups: all },
    events: eventsOf(record),
    next,
  };
}

const kept = (records: readonly Record[]) => (records.length > 0 ? { backups: [...records] } : {});

/** Jobs of backups, whatever their run. */
const runningJobs = ({ objects }: Observed): Job[] =>
  [...objects.values()].filter(
    (object): object is Job => object.kind === "Job" && object.metadata.labels?.[labels.run] !== undefined,
  );

/** A run that was begun by a process that died before it published that. */
function unrecorded(jobs: readonly Job[], records: readonly Record[]): string | undefined {
  const runs = new Set(jobs.map(({ metadata }) => metadata.labels?.[labels.run] ?? ""));
  return [...runs]
    .filter((run) => !records.some((record) => record.run === run))
    .toSorted()
    .at(-1);
}

function lastOf(records: readonly Record[]): Pick<State, "last"> {
  const last = records.find(({ state }) => state === "Complete");
  return last ? { last: last.startedAt } : {};
}

interface Progress {
  readonly state: Record["state"];
  readonly step: string;
  readonly create: readonly Step[];
  readonly message?: string;
}

function progressOf({ templates, catalogue }: BackupFacts["desired"], jobs: readonly Job[], run: string): Progress {
  for (const template of templates) {
    const name = template.metadata.labels?.[labels.component] ?? "";
    const found = jobs.find(({ metadata }) => metadata.labels?.[labels.component] === name);
    const step = `${name} runs`;
    if (!found) {
      const object = jobOfRun(template, run);
      return {
        state: "Running",
        step,
        create: [{ type: "apply", name: `${object.kind}/${object.metadata.name}`, object }],
      };
    }
    const component = catalogue.components.find((each) => each.name === name);
    const readiness = component && readinessOf(component, found);
    if (readiness?.state === "Failed")
      return { state: "Failed", step, create: [], message: `${name}: ${readiness.step}` };
    if (readiness?.state !== "Ready") return { state: "Running", step, create: [] };
  }
  return { state: "Complete", step: "", create: [] };
}

const SIX_HOURS = 6 * 3600;

/** A template as the Job of one run. */
export function jobOfRun(template: Job, run: string): Job {
  const component = template.metadata.labels?.[labels.component] ?? "";
  const deployment = template.metadata.labels?.[labels.deployment] ?? "";
  const { metadata, spec: pod } = template.spec.template;
  const containers = (pod?.containers ?? []).map((each) => ({
    ...each,
    env: [...(each.env ?? []), { name: "BACKUP_RUN", value: run }],
  }));
  const mark = { [labels.run]: run };
  const { annotations: _inputs, ...own } = template.metadata;
  return stamped({
    ...template,
    metadata: { ...own, name: `${deployment}-${component}-${run}`, labels: { ...own.labels, ...mark } },
    spec: {
      ...template.spec,
      backoffLimit: 3,
      activeDeadlineSeconds: SIX_HOURS,
      template: {
        metadata: { ...metadata, labels: { ...metadata?.labels, ...mark } },
        spec: { ...pod, containers },
      },
    },
  } as Job);
}

/** What the Jobs report when they end: the bytes of the whole backup by its last one, of their own part before. */
function sizeOf(pods: readonly Pod[], run: string): { bytes?: number } {
  let sum = 0;
  for (const { metadata, status } of pods) {
    if (metadata.labels?.[labels.run] !== run) continue;
    for (const { state } of status?.containerStatuses ?? []) {
      const bytes = bytesOf((state?.terminated as { message?: string } | undefined)?.message);
      if (bytes === undefined) continue;
      if (metadata.labels[labels.component] === FINISH) return { bytes };
      sum += bytes;
    }
  }
  return sum > 0 ? { bytes: sum } : {};
}

const FINISH = "backup-finish";

function bytesOf(message: string | undefined): number | undefined {
  try {
    const { bytes } = JSON.parse(message ?? "") as { bytes?: unknown };
    return typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function eventsOf({ run, state, message }: Record): PlannedEvent[] {
  if (state === "Failed") return [{ type: "Warning", reason: "BackupFailed", message: `${run}: ${message ?? ""}` }];
  return state === "Complete" ? [{ type: "Normal", reason: "BackedUp", message: `Backup ${run} is complete` }] : [];
}
