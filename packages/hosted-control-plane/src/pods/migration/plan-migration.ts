import { hasCode, messageOf } from "@causeway/foundation";
import type { ConfigMap, Deployment, KubeObject } from "@causeway/kubernetes";
import type { ControlPlaneProblem } from "../../runtime.ts";
import { keyspaceOf } from "../keyspace.ts";
import type { Observed } from "../observed.ts";
import { isPooled } from "../options.ts";
import { podsOf, workload } from "../rollout.ts";
import type { Step } from "../steps.ts";
import { prefixOf } from "../tenant.ts";
import { apiServers, hashOf, hasOwnServers, isReady } from "./api-servers.ts";
import type { MigrationMemory, OwnEtcd } from "./memory.ts";
import type { MigrationRecord } from "./record.ts";
import { datastoreWithData, etcdWanted, MIGRATION_ID, migrationOf, ownSpec } from "./served.ts";

/** Milliseconds in which writes may be refused: what does not serve by then goes back. */
export const FREEZE_LIMIT = 30_000;
/** Of them, those in which both sides have to be equal. */
export const COMPARE_WITHIN = 12_000;
/** What is left to accept writes again. */
const TO_RETURN = 2_000;
/** Milliseconds in which all data has to be copied: an attempt whose copies fail all the time ends. */
export const COPY_LIMIT = 30 * 60_000;
/** Milliseconds until a failed attempt is repeated: each time twice as long, up to a day. */
const [FIRST_RETRY, LONGEST_RETRY] = [600_000, 24 * 3600_000];
/** Milliseconds that the shared etcd has the old data. */
export const RETENTION = 24 * 3600_000;

/** Undefined: there is none yet, it is given up, or it is the one that serves. */
export function ownEtcdOf(observed: Observed, now: number): OwnEtcd | undefined {
  const record = migrationOf(observed);
  if (record === undefined || (record.retryAt !== undefined && record.retryAt > now)) return undefined;
  if (record.stage === "Starting") return { seeded: true };
  return record.stage === "Copying" || record.stage === "Freezing" ? { seeded: false } : undefined;
}

/** What the rest of the plan knows. */
export interface ServingPlan {
  /** It has nothing to do, and every program is as requested. */
  readonly isSettled: boolean;
  /** The own etcd is as wanted. */
  readonly isEtcdDone: boolean;
}

/** Steps that go before all others, and when it continues by itself. */
export interface MigrationPlan {
  readonly steps: readonly Step[];
  readonly until?: number;
  readonly problem?: ControlPlaneProblem;
}

/** The rules of a migration: one small stage after the other, each recorded before what it does begins. */
export function planMigration(observed: Observed, serving: ServingPlan, now: number): MigrationPlan {
  const record = migrationOf(observed);
  const { requested } = observed;
  const wantsOwn = !isPooled(requested);
  if (record === undefined || record.stage === "Withdrawn")
    return wantsOwn && datastoreWithData(observed) === "Pooled" ? begin(observed, serving, record) : nothing;
  const next = (change: Partial<MigrationRecord>): MigrationPlan => ({
    steps: [recordStep(observed, { ...record, ...change })],
  });
  const isOver = datastoreWithData(observed) === "Own";
  const isWithdrawn = !wantsOwn || requested.replicas === 0;
  if (isWithdrawn && !isOver && record.stage !== "Returning") return next({ stage: "Returning" });
  switch (record.stage) {
    case "Starting":
      return starting(observed, serving, { record, next, now });
    case "Copying":
      return copying(observed, serving, { record, next, now });
    case "Freezing":
      return freezing(observed, { record, next });
    case "Switching":
      return switching(observed, { record, next, now });
    case "Returning":
      return returning(observed, serving, { record, next, now });
    case "Retained":
      return retained(observed, { record, next, now });
    case "Done":
      return nothing;
  }
}

/** Until there are volumes the record follows the request, which was checked for it. */
function hasVolumesOf({ live, requested }: Observed, { members, storage, storageClassName }: MigrationRecord): boolean {
  if (live.has("StatefulSet/etcd")) return true;
  const wanted = etcdWanted(requested);
  return members === wanted.members && storage === wanted.storage && storageClassName === wanted.storageClassName;
}

function withVolumes({ storageClassName: _before, ...record }: MigrationRecord, requested: Observed["requested"]) {
  return { ...record, ...etcdWanted(requested) };
}

const nothing: MigrationPlan = { steps: [] };

interface At {
  readonly record: MigrationRecord;
  readonly next: (change: Partial<MigrationRecord>) => MigrationPlan;
  readonly now: number;
}

function begin({ pool, requested, live }: Observed, { isSettled }: ServingPlan, before: MigrationRecord | undefined) {
  // One that is hibernated is moved when it is woken.
  if (requested.replicas === 0) return nothing;
  if (!isSettled || pool?.access === undefined || !pool.ready) return waiting("the control plane to be as requested");
  const record = { attempt: (before?.attempt ?? 0) + 1, ...etcdWanted(requested) };
  return { steps: [{ type: "begin-migration", access: pool.access, record, ...replaced(live) } as const] };
}

function starting(observed: Observed, serving: ServingPlan, { record, next, now }: At): MigrationPlan {
  if (!hasVolumesOf(observed, record))
    return { steps: [recordStep(observed, withVolumes(record, observed.requested))] };
  if (record.retryAt !== undefined && record.retryAt > now)
    return { steps: [], until: record.retryAt, problem: failedProblem(record) };
  if (serving.isEtcdDone && (observed.isOtherCopied === true || (observed.otherCopies ?? []).length > 0))
    return { ...otherCopy, until: now + OTHERS };
  return serving.isEtcdDone
    ? next({ stage: "Copying", copyingAt: now })
    : waiting("the members of its own etcd to start");
}

function copying(observed: Observed, serving: ServingPlan, { record, next, now }: At): MigrationPlan {
  const [memory, sides] = [memoryOf(observed, record), sidesOf(observed, record)];
  if (memory.failure !== undefined) return next({ stage: "Returning", failure: memory.failure });
  const endsAt = (record.copyingAt ?? now) + COPY_LIMIT;
  if (now >= endsAt) {
    const what = memory.copied === true ? "the control plane was not as requested" : "the data was not copied";
    return next({ stage: "Returning", failure: `${what} within ${COPY_LIMIT / 60_000} min` });
  }
  if (!serving.isEtcdDone || sides === undefined) return { ...waiting("the members of both etcds"), until: endsAt };
  // Of two that began at the same moment, the one that is copied, or the one with the smaller name.
  const isFirst = (observed.otherCopies ?? []).every((name) => name > observed.namespaceName);
  const isLater = observed.isOtherCopied === true || !isFirst;
  if (memory.copied !== true && isLater) return { ...otherCopy, until: Math.min(endsAt, now + OTHERS) };
  if (memory.copied !== true) return { steps: [{ type: "copy-datastore", record, ...sides }], until: endsAt };
  // A rollout, or a member that restarts, would make the time without writes longer.
  if (!serving.isSettled) return { ...waiting("the control plane to be as requested"), until: endsAt };
  // Of one that serves: there may be an evicted pod, or one that ends, of an older template.
  const heldBy = hashOf(apiServers(observed.pods)[1].find(isReady));
  if (heldBy === undefined) return waiting("an API server that is ready");
  return next({ stage: "Freezing", frozenAt: now, heldBy });
}

function freezing(observed: Observed, { record, next }: Omit<At, "now">): MigrationPlan {
  const [memory, sides] = [memoryOf(observed, record), sidesOf(observed, record)];
  if (memory.failure !== undefined) return next({ stage: "Returning", failure: memory.failure });
  const { compared } = memory;
  if (compared !== undefined) {
    const { keys, hash, revision } = compared;
    return next({ stage: "Switching", keys, hash, frozenRevision: revision });
  }
  // Another process began this, and what it knew of both sides is lost with it.
  if (memory.copied !== true && memory.thawed === "Freezing") return next({ stage: "Copying" });
  if (sides === undefined) return waiting("the members of both etcds");
  const { from, to } = sides;
  if (memory.copied !== true)
    return { steps: [{ type: "thaw-datastore", record, from, reopen: to, sealed: isSealed(observed) }] };
  return {
    steps: [{ type: "freeze-datastore", record, from, to, sealed: isSealed(observed), ...replaced(observed.live) }],
  };
}

/** No client reaches a new API server before no old one runs: resource versions never go backwards. */
function switching(observed: Observed, { record, next, now }: At): MigrationPlan {
  const isOver = datastoreWithData(observed) === "Own";
  const { failure } = memoryOf(observed, record);
  if (!isOver && failure !== undefined) return next({ stage: "Returning", failure });
  const [own, old] = apiServers(observed.pods);
  const program = workload(observed.live.get("Deployment/kube-apiserver")) as Deployment | undefined;
  const wanted = observed.requested.replicas;
  if (program === undefined || own.filter(isReady).length < wanted) return waiting("API servers with its own etcd");
  const [first] = old;
  if (first !== undefined) {
    const pods = old.filter(({ metadata }) => (metadata.deletionGracePeriodSeconds ?? Infinity) > END_WITHIN);
    const steps: Step[] = pods.length === 0 ? [] : [{ type: "end-pods", pods, seconds: END_WITHIN }];
    return { ...waiting("the API servers with the shared etcd to end"), steps };
  }
  const sides = sidesOf(observed, record);
  if (sides === undefined) return waiting("the members of both etcds");
  const switched: MigrationRecord = { ...withoutFailure(record), stage: "Retained", switchedAt: now };
  return { steps: [{ type: "switch-datastore", record: switched, ...sides, ...replaced(observed.live) }] };
}

/** Seconds that an API server has to end, which can only read. */
const END_WITHIN = 1;

function returning(observed: Observed, { isSettled }: ServingPlan, { record, next, now }: At): MigrationPlan {
  const { pool, live, requested } = observed;
  if (!live.has(MIGRATION_ID)) return next({});
  const thaw = thawStep(observed, record);
  if (thaw === undefined) return waiting("the shared etcd");
  const isLeft = hasOwnServers(observed) || live.has("StatefulSet/etcd") || podsOf(observed.pods, "etcd").length > 0;
  if (!isSettled || isLeft) return waiting("its API servers to serve from the shared etcd again");
  const { attempt, revision, failure } = record;
  if (isPooled(requested) || requested.replicas === 0)
    return { steps: [thaw, recordStep(observed, { stage: "Withdrawn", attempt, revision, members: record.members })] };
  const failures = (record.failures ?? 0) + 1;
  const retryAt = now + Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(failures - 1, 20));
  if (pool?.access === undefined || !pool.ready) return waiting("the shared etcd");
  const again = {
    attempt: attempt + 1,
    ...etcdWanted(requested),
    ...(failure === undefined ? {} : { failures, failure, retryAt }),
  };
  // Once more: a late process may have refused writes meanwhile.
  return { steps: [thaw, { type: "begin-migration", access: pool.access, record: again, ...replaced(live) }] };
}

function thawStep(observed: Observed, record: MigrationRecord): Step | undefined {
  const { pool, namespaceName } = observed;
  if (pool?.access === undefined) return undefined;
  const from = { access: pool.access, prefix: prefixOf(namespaceName) };
  return { type: "thaw-datastore", record, from, sealed: isSealed(observed) };
}

/** What goes before all else, whatever else is missing: a client that cannot write waits for it. */
export function thawSteps(observed: Observed): readonly Step[] {
  const record = migrationOf(observed);
  if (record?.stage !== "Returning" || datastoreWithData(observed) === "Own") return [];
  const thaw = memoryOf(observed, record).thawed === "Returning" ? undefined : thawStep(observed, record);
  return thaw === undefined ? [] : [thaw];
}

function retained(observed: Observed, { record, next, now }: At): MigrationPlan {
  const { pool, settings, namespaceName } = observed;
  const until = (record.switchedAt ?? now) + (settings.pool?.retention ?? RETENTION);
  if (now < until) return { steps: [], until };
  if (memoryOf(observed, record).removed === true) return next({ stage: "Done" });
  if (pool?.access === undefined || !pool.ready) return { steps: [], until: now + 60_000 };
  return {
    steps: [
      {
        type: "remove-shared-data",
        access: pool.access,
        user: { name: namespaceName, prefix: prefixOf(namespaceName) },
        record,
      },
    ],
  };
}

/** When it goes back, whatever it waits for: before writes are refused for too long. Undefined: they are accepted. */
export function returnsAt(observed: Observed): number | undefined {
  const record = migrationOf(observed);
  const isFrozen = record?.stage === "Freezing" || record?.stage === "Switching";
  if (!isFrozen || datastoreWithData(observed) === "Own") return undefined;
  return (record.frozenAt ?? 0) + FREEZE_LIMIT - TO_RETURN;
}

/** At that time. */
export function returnInTime(observed: Observed): readonly Step[] {
  const record = migrationOf(observed);
  if (record === undefined) return [];
  const failure = `no API server served with its own etcd within ${FREEZE_LIMIT / 1000} s`;
  return [recordStep(observed, { ...record, stage: "Returning", failure })];
}

/**
 * While writes are refused a refusal of the request must not hold them back: it goes back to the shared etcd. Nor are
 * old data kept there because of one.
 */
export function whileRefused(
  observed: Observed,
  { message, code }: ControlPlaneProblem,
  now: number,
): Pick<MigrationPlan, "steps" | "until"> {
  const record = migrationOf(observed);
  if (record === undefined) return nothing;
  const next = (change: Partial<MigrationRecord>): MigrationPlan => ({
    steps: [recordStep(observed, { ...record, ...change })],
  });
  if (record.stage === "Retained" && !NOT_OURS.has(code)) return retained(observed, { record, next, now });
  if (datastoreWithData(observed) === "Own") return nothing;
  if (record.stage !== "Freezing" && record.stage !== "Switching") return nothing;
  return next({ stage: "Returning", failure: message.slice(0, 300) });
}

/** Refusals with which the data may be of another, or is all that is left. */
const NOT_OURS: ReadonlySet<string> = new Set(["PODS_NAMESPACE_FOREIGN", "PODS_NAMESPACE_DELETED", "PODS_DATA_LOST"]);

/** What this process knows after a step failed: an attempt that cannot succeed ends, and a lost copy begins again. */
export function migrationFailureAfter(
  memory: MigrationMemory | undefined,
  step: Step,
  error: unknown,
): MigrationMemory | undefined {
  const isLasting = hasCode(error, "PODS_MIGRATION_DIFFERS") || hasCode(error, "PODS_MIGRATION_UNSUPPORTED");
  switch (step.type) {
    case "freeze-datastore":
      // Writes are accepted again: another process that continues has its own memory.
      if (hasCode(error, "PODS_MIGRATION_FENCED")) return undefined;
      return { attempt: step.record.attempt, failure: messageOf(error).slice(0, 300) };
    case "copy-datastore":
    case "switch-datastore": {
      if (!isLasting) return memory;
      return { attempt: step.record.attempt, failure: messageOf(error).slice(0, 300) };
    }
    default:
      return memory;
  }
}

/** Both etcds can be reached. */
function sidesOf(observed: Observed, record: MigrationRecord) {
  const { pool, namespaceName, requested } = observed;
  const to = keyspaceOf({ ...observed, spec: ownSpec(requested, record), pool: undefined });
  if (pool?.access === undefined || !pool.ready || to === undefined) return undefined;
  return { from: { access: pool.access, prefix: prefixOf(namespaceName) }, to };
}

function isSealed({ pool, namespaceName }: Observed): boolean {
  return pool?.storage?.[namespaceName]?.stage === "Sealed";
}

function memoryOf({ migration }: Observed, { attempt }: MigrationRecord): MigrationMemory {
  return migration?.attempt === attempt ? migration : { attempt };
}

function recordStep({ live }: Observed, record: MigrationRecord): Step {
  return { type: "record-migration", record, ...replaced(live) };
}

/** The version of the record that a step replaces: another leader that was faster defeats it. */
function replaced(live: ReadonlyMap<string, KubeObject>): { readonly replaces?: string } {
  const { resourceVersion } = (live.get(MIGRATION_ID) as ConfigMap | undefined)?.metadata ?? {};
  return resourceVersion === undefined ? {} : { replaces: resourceVersion };
}

function withoutFailure({ failure: _failure, failures: _failures, retryAt: _retryAt, ...record }: MigrationRecord) {
  return record;
}

/** Milliseconds until others that are copied are counted again. */
const OTHERS = 5_000;
/** One after the other: the memory of the program has to hold all keys of each. */
const otherCopy = waiting("the data of another control plane to be copied");

function waiting(what: string): MigrationPlan {
  return {
    steps: [],
    problem: { code: "PODS_MIGRATING", message: `moving to its own etcd: waiting for ${what}`, actor: "none" },
  };
}

function failedProblem({ failure = "", retryAt = 0 }: MigrationRecord): ControlPlaneProblem {
  const at = `${new Date(retryAt).toISOString().slice(0, 19)}Z`;
  const message = `the move to its own etcd failed, and the shared etcd serves as before: ${failure}. It is tried again at ${at}; set spec.pods.datastore.type to Pooled to give it up`;
  return { code: "PODS_MIGRATION_FAILED", message, actor: "operator" };
}
