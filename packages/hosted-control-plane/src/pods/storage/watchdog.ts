import { canonicalJson, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { openEtcd, type Call, type EtcdAccess, type EtcdAdmin } from "../../etcd/etcd-admin.ts";
import { compact, defragment, disarm, memberStatus, spaceAlarms, type MemberStatus } from "../../etcd/maintenance.ts";
import { prefixOf } from "../tenant.ts";
import { enforceStage } from "./enforce.ts";
import { measure, moveLeader, recentWriters, type Measure } from "./meter.ts";
import { dueTenants, planRound, stopAt, type Round, type RoundObserved, type StorageTenant } from "./plan-round.ts";
import { isWorthSaving, nextRecord, spaceFor, type StorageRecord, type StorageRecords } from "./records.ts";
import { storageMetrics } from "./storage-metrics.ts";

/** The etcd to watch. */
export interface WatchedEtcd {
  readonly access: EtcdAccess;
  /** Members that it has, ready or not. */
  readonly members: number;
  /** Addresses of members, the one that leads best first. */
  readonly leaders?: readonly string[] | undefined;
}

/** The shared etcd, its control planes, and where records are saved. */
export interface WatchdogOptions {
  /** Undefined: the etcd is not ready, or another process watches it. */
  readonly watched: () => WatchedEtcd | undefined;
  readonly quota: number;
  readonly tenants: () => readonly StorageTenant[];
  /** What was saved last, by this process or another one. */
  readonly saved: () => StorageRecords;
  readonly save: (records: StorageRecords, signal: AbortSignal) => Promise<void>;
  readonly etcd: EtcdAdmin;
  readonly metrics?: Metrics | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds between two checks of the size of the etcd: it may grow by what is written meanwhile. */
const EVERY = 2_000;
/** Tokens of etcd end after five minutes without use, certificates after a day. */
const SESSION = 3_600_000;

/** What one process remembers while it watches. */
interface Memory {
  session?: { readonly key: string; readonly until: number; readonly call: Call };
  before: RoundObserved["before"];
  /** Those that were saved, and what was measured since. */
  records: Map<string, StorageRecord> | undefined;
  /** Measures that continue in the next round. */
  readonly measures: Map<string, Measure>;
  /** The stages that this process saw to. */
  readonly enforced: Map<string, StorageRecord["stage"]>;
}

/**
 * Keeps each control plane in the shared etcd within its budget, so that none of them can fill it for all: it measures
 * what each stores, has the API of one that exceeds its budget refuse writes, and keeps the etcd itself compact.
 */
export function createStorageWatchdog(options: WatchdogOptions): { run(signal: AbortSignal): Promise<void> } {
  const { clock, log } = options;
  const metrics = options.metrics && storageMetrics(options.metrics);
  const memory: Memory = { before: undefined, records: undefined, measures: new Map(), enforced: new Map() };
  const round = async (signal: AbortSignal): Promise<void> => {
    const watched = options.watched();
    if (watched === undefined) return forgetAll(memory);
    const call = await sessionOf(memory, watched.access, { clock, signal });
    const records = (memory.records ??= new Map(options.saved()));
    const observed = await check(call, watched, { options, records, before: memory.before });
    metrics?.observe(observed);
    const planned = planRound(observed);
    const { inUse, revision } = totalOf(observed.members);
    const least = planned.pressure ? inUse : Math.min(memory.before?.inUse ?? inUse, inUse);
    memory.before = { inUse: least, revision };
    // Before older revisions are given up, they say who wrote.
    const writers = planned.pressure ? await recentWriters(call, revision) : new Map<string, number>();
    await maintain(call, planned, options);
    const due = dueTenants(observed, writers, clock.now());
    await measureAll({ call, memory, records, clock, observed }, due, planned.allowance);
    forgetOthers(memory, records, observed.tenants);
    await enforceAll(options, { call, access: watched.access, memory, records }, signal);
    const saved = options.saved();
    const isChanged =
      saved.size !== records.size || [...records].some(([name, record]) => isWorthSaving(saved.get(name), record));
    if (isChanged) await options.save(records, signal);
  };
  return {
    async run(signal) {
      let last = "";
      while (!signal.aborted) {
        try {
          await round(signal);
          last = "";
        } catch (error) {
          delete memory.session;
          const message = messageOf(error);
          if (!signal.aborted && message !== last) log.warn("the shared etcd cannot be measured", { error: message });
          last = message;
        }
        await clock.sleep(EVERY, signal).catch(() => {});
      }
    },
  };
}

async function sessionOf(
  memory: Memory,
  access: EtcdAccess,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Call> {
  const key = canonicalJson(access);
  const now = clock.now();
  if (memory.session === undefined || memory.session.key !== key || memory.session.until < now)
    memory.session = { key, until: now + SESSION, call: await openEtcd(access, { clock, signal }) };
  return memory.session.call;
}

/** Another process continues with what was saved. */
function forgetAll(memory: Memory): void {
  memory.before = undefined;
  memory.records = undefined;
  memory.measures.clear();
  memory.enforced.clear();
}

function forgetOthers(
  { measures, enforced }: Memory,
  records: Map<string, StorageRecord>,
  tenants: readonly StorageTenant[],
): void {
  const names = new Set(tenants.map(({ name }) => name));
  for (const each of [records, measures, enforced])
    for (const name of each.keys()) if (!names.has(name)) each.delete(name);
}

function totalOf(members: readonly MemberStatus[]): { inUse: number; revision: number } {
  return {
    inUse: Math.max(...members.map((each) => each.inUse), 0),
    revision: Math.max(...members.map((each) => each.revision), 0),
  };
}

async function check(
  call: Call,
  { access, members: expected, leaders }: WatchedEtcd,
  { options, records, before }: { options: WatchdogOptions; records: StorageRecords; before: RoundObserved["before"] },
): Promise<RoundObserved> {
  // One that is not reached is no reason to watch nothing; without all `expected` ones nothing is defragmented.
  const found = await Promise.allSettled(access.addresses.map((host) => memberStatus(call, host)));
  const members = found.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const [failure] = found.filter(({ status }) => status === "rejected");
  if (members.length === 0 && failure?.status === "rejected") throw failure.reason;
  const alarms = await spaceAlarms(call);
  return { members, alarms, expected, quota: options.quota, tenants: options.tenants(), records, before, leaders };
}

async function maintain(call: Call, planned: Round, { clock, log }: WatchdogOptions): Promise<void> {
  if (planned.compactAt !== undefined) await compact(call, planned.compactAt);
  if (planned.moveLeader !== undefined) {
    const { from, to } = planned.moveLeader;
    await moveLeader(call, from, to).catch((error: unknown) => {
      // Another round tries it again, and finds the leader where it is then.
      log.info("the leader of the shared etcd could not be moved", { to: to.host, error: messageOf(error) });
    });
  }
  if (planned.defragment !== undefined) {
    const { host, size, inUse } = planned.defragment;
    const start = clock.now();
    await defragment(call, host);
    log.info("member of the shared etcd defragmented", { host, size, inUse, ms: clock.now() - start });
  }
  for (const alarm of planned.disarm) await disarm(call, alarm);
}

interface MeasureWith {
  readonly call: Call;
  readonly memory: Memory;
  readonly records: Map<string, StorageRecord>;
  readonly clock: Clock;
  readonly observed: Pick<RoundObserved, "tenants" | "quota">;
}

async function measureAll(
  { call, memory: { measures }, records, clock, observed }: MeasureWith,
  due: readonly StorageTenant[],
  allowance: number,
): Promise<void> {
  let left = allowance;
  for (const tenant of due) {
    if (left <= 0) return;
    const { name, budget } = tenant;
    const from = measures.get(name);
    const limits = { from, allowance: left, stopAt: stopAt(tenant, records.get(name)) };
    const measured = await measure(call, prefixOf(name), limits);
    left -= measured.cost;
    if (!measured.isDone) {
      measures.set(name, measured);
      return;
    }
    measures.delete(name);
    const space = spaceFor(name, { ...observed, records });
    records.set(name, nextRecord(records.get(name), { bytes: measured.bytes, budget, at: clock.now(), space }));
  }
}

async function enforceAll(
  { etcd, clock, log, saved }: WatchdogOptions,
  { call, access, memory: { enforced }, records }: Omit<MeasureWith, "clock" | "observed"> & { access: EtcdAccess },
  signal: AbortSignal,
): Promise<void> {
  for (const [name, record] of records) {
    const before = enforced.get(name);
    const { bytes, budget, stage } = record;
    if (before === stage) continue;
    const wasSealed = before === "Sealed" || saved().get(name)?.stage === "Sealed";
    const using = { call, access, etcd, now: clock.now() };
    if (!(await enforceStage(using, { name, record, wasSealed }, signal))) continue;
    enforced.set(name, stage);
    if (stage !== "Within")
      log.warn("control plane exceeds its storage budget", { namespace: name, bytes, budget, stage });
    else if (before !== undefined) log.info("control plane is within its storage budget again", { namespace: name });
  }
}
