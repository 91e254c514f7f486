import type { MemberStatus, SpaceAlarm } from "../../etcd/maintenance.ts";
import { planDefragmentation } from "./plan-defragmentation.ts";
import type { StorageRecord, StorageRecords } from "./records.ts";

/** A control plane in the shared etcd. */
export interface StorageTenant {
  /** Its namespace, its user and the first part of its keys. */
  readonly name: string;
  readonly budget: number;
}

/** Everything that one round is planned from. */
export interface RoundObserved {
  readonly members: readonly MemberStatus[];
  /** Members that the etcd has, ready or not. */
  readonly expected: number;
  readonly alarms: readonly SpaceAlarm[];
  readonly quota: number;
  readonly tenants: readonly StorageTenant[];
  readonly records: StorageRecords;
  /** Addresses of members, the one that leads best first. */
  readonly leaders?: readonly string[] | undefined;
  /** Bytes in use since growth was analysed last, and the revision of the round before. */
  readonly before: { readonly inUse: number; readonly revision: number } | undefined;
}

/** What one round of the shared etcd leads to. */
export interface Round {
  /** The etcd grew fast, is nearly full, or accepts no writes: who writes is looked up and measured now. */
  readonly pressure: boolean;
  /** Older revisions are given up up to this one. */
  readonly compactAt?: number;
  readonly defragment?: MemberStatus;
  /** Before the leader is defragmented or restarted another one leads. */
  readonly moveLeader?: { readonly from: MemberStatus; readonly to: MemberStatus };
  readonly disarm: readonly SpaceAlarm[];
  /** Bytes of values that may be read in this round. */
  readonly allowance: number;
}

const MIB = 2 ** 20;
const ALLOWANCE = 8 * MIB;
const ALLOWANCE_UNDER_PRESSURE = 256 * MIB;

/** Growth, alarms and free pages say what is done now; without pressure little is read and nothing compacted. */
export function planRound(observed: RoundObserved): Round {
  const { members, alarms, quota, before } = observed;
  const inUse = Math.max(...members.map((each) => each.inUse), 0);
  const grown = before === undefined ? 0 : inUse - before.inUse;
  const isAlarmed = alarms.length > 0;
  const pressure = isAlarmed || grown > quota / 64 || inUse > quota * 0.75;
  const revision = Math.max(...members.map((each) => each.revision), 0);
  // A list that an API server reads in pages may continue for a round.
  const compactAt = isAlarmed ? revision : before?.revision;
  return {
    pressure,
    allowance: pressure ? ALLOWANCE_UNDER_PRESSURE : ALLOWANCE,
    ...(pressure && compactAt !== undefined && compactAt > 0 ? { compactAt } : {}),
    ...planDefragmentation(observed, isAlarmed),
    disarm: isAlarmed && members.every(({ size }) => size < quota * 0.95) ? alarms : [],
  };
}

/**
 * The control planes to measure, in order: those that wrote much since they were measured while the etcd grows, those
 * without a record or with another budget, those whose API refuses writes, and the others in turn. A large one is
 * measured less often, so that what is read remains bounded.
 */
export function dueTenants(
  { tenants, records }: Pick<RoundObserved, "tenants" | "records">,
  writers: ReadonlyMap<string, number>,
  now: number,
): StorageTenant[] {
  const rank = ({ name, budget }: StorageTenant): number | undefined => {
    const record = records.get(name);
    const written = writers.get(name) ?? 0;
    // What it may have written since it was measured: one that was measured a moment ago lets others be measured, too.
    if (written > 0) return -written * Math.max(0, now - (record?.at ?? 0));
    if (record === undefined || record.budget !== budget) return 1;
    const due = record.at + interval(record);
    return due > now ? undefined : due;
  };
  return tenants
    .flatMap((tenant) => {
      const at = rank(tenant);
      return at === undefined ? [] : [{ tenant, at }];
    })
    .toSorted((a, b) => a.at - b.at)
    .map(({ tenant }) => tenant);
}

function interval({ bytes, stage }: StorageRecord): number {
  const seconds =
    stage === "Within"
      ? clamp(bytes / MIB, { least: 60, most: 1_800 })
      : clamp(bytes / (8 * MIB), { least: 4, most: 300 });
  return seconds * 1_000;
}

function clamp(value: number, { least, most }: { least: number; most: number }): number {
  return Math.min(most, Math.max(least, value));
}

/** More is not counted: it is too much in any case. */
export function stopAt({ budget }: StorageTenant, record: StorageRecord | undefined): number {
  return Math.max(2 * budget, record?.sealAt ?? 0) + MIB;
}
