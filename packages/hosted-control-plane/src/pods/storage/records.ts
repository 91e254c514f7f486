import type { ConfigMap, KubeObject } from "@causeway/kubernetes";
import { namedMeta } from "../objects/meta.ts";

/**
 * Within: the control plane stores less than its budget. Exceeded: its API refuses to create and change objects, and
 * deletes them. Sealed: it grew all the same, and its user of the shared etcd may only read.
 */
export type StorageStage = "Within" | "Exceeded" | "Sealed";

/** What one control plane stores in the shared etcd. */
export interface StorageRecord {
  /** Keys and values, and what etcd needs for each key; when it is far beyond the budget, at least that many. */
  readonly bytes: number;
  readonly budget: number;
  readonly stage: StorageStage;
  /** When it was measured (ms since epoch). */
  readonly at: number;
  /** While it is exceeded: with more bytes than this it is sealed. */
  readonly sealAt?: number;
  /** How often it was sealed since it was within its budget. */
  readonly seals?: number;
  /** While it is sealed: when its users may delete objects again (ms since epoch), unless it stores far too much. */
  readonly opensAt?: number;
  /** It would be opened, but for the shared etcd, which has too little space for what it could store then. */
  readonly lacksSpace?: true;
}

/** What is sealed is opened again, to be deleted from, only below so many times its budget. */
export const OPENED_BELOW = 1.5;
/** What every control plane may store before it is sealed at first, of its budget. */
const UNSEALED_UP_TO = 1.25;
/** What an opened one may grow by, of its budget. */
const OPENED_FOR = 1 / 16;
/** Of the quota, what all control planes together may store after one is opened. */
const OPENED_OF_QUOTA = 0.8;
/** Milliseconds that the first seal lasts; each further one lasts twice as long, up to a day. */
const FIRST_SEAL = 600_000;
const LONGEST_SEAL = 24 * 3600_000;

/** By the name of the control plane's namespace. */
export type StorageRecords = ReadonlyMap<string, StorageRecord>;

/** Of the ConfigMap in the namespace of the shared etcd. */
export const RECORDS_NAME = "etcd-storage";

/** A record that cannot be read is as none: the control plane is measured again. */
export function parseRecords(object: KubeObject | undefined): StorageRecords {
  const { data = {} } = (object ?? {}) as Partial<ConfigMap>;
  return new Map(Object.entries(data).flatMap(([name, text]) => recordOf(name, text)));
}

function recordOf(name: string, text: string): [string, StorageRecord][] {
  try {
    const { bytes, budget, stage, at, lacksSpace, ...more } = JSON.parse(text) as Partial<StorageRecord>;
    const isKnown = stage === "Within" || stage === "Exceeded" || stage === "Sealed";
    if (!isKnown || !isCount(bytes) || !isCount(budget) || !isCount(at)) return [];
    const counts = (["sealAt", "seals", "opensAt"] as const).filter((field) => isCount(more[field]));
    const known = Object.fromEntries(counts.map((field) => [field, more[field]]));
    return [[name, { bytes, budget, stage, at, ...known, ...(lacksSpace === true ? { lacksSpace } : {}) }]];
  } catch {
    return [];
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** The ConfigMap that parseRecords reads, one JSON text for each control plane. */
export function recordsObject(namespace: string, records: StorageRecords): ConfigMap {
  const entries = [...records].map(([name, record]) => [name, JSON.stringify(record)]);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: namedMeta(namespace, RECORDS_NAME, "etcd"),
    data: Object.fromEntries(entries) as Record<string, string>,
  };
}

/** A measure: bytes, the budget of that moment, and when it was (ms since epoch). */
export interface Measured {
  readonly bytes: number;
  readonly budget: number;
  readonly at: number;
  /** Bytes that it may store when it is opened. Default: any. */
  readonly space?: number;
}

/**
 * Bytes that one control plane may store when it is opened, so that all together leave a part of the quota free
 * whatever the others do: each of these is counted with what it may store before it is sealed.
 */
export function spaceFor(
  name: string,
  {
    tenants,
    records,
    quota,
  }: {
    readonly tenants: readonly { readonly name: string; readonly budget: number }[];
    readonly records: StorageRecords;
    readonly quota: number;
  },
): number {
  const others = tenants.filter((each) => each.name !== name);
  const taken = others.map((each) => {
    const { bytes = 0, stage, sealAt = 0 } = records.get(each.name) ?? {};
    return Math.max(bytes, stage === "Exceeded" ? sealAt : 0, each.budget * UNSEALED_UP_TO);
  });
  return quota * OPENED_OF_QUOTA - taken.reduce((sum, each) => sum + each, 0);
}

/**
 * The stage that follows from a measure. It ends a tenth below the budget, so that a control plane at its budget does
 * not change between stages with each object. What grows by a quarter of its budget although its API refuses writes is
 * sealed. That ends when the budget is raised so far that what is stored is within a quarter above it; or after a
 * while, so that users can delete objects without the operator. What grows then by a sixteenth of the budget is sealed
 * again, for twice as long, and what is half above its budget is not opened by itself any more, nor what the etcd has
 * no space for: so neither one tenant nor many together gain much by it.
 */
export function nextRecord(before: StorageRecord | undefined, measured: Measured): StorageRecord {
  const { bytes, budget, at } = measured;
  const stage = before?.stage ?? "Within";
  const now = { bytes, budget, at };
  if (stage === "Within" ? bytes <= budget : bytes <= budget * 0.9) return { ...now, stage: "Within" };
  const sealAt =
    stage === "Within" ? bytes + budget * (UNSEALED_UP_TO - 1) : Math.max(before?.sealAt ?? 0, budget * UNSEALED_UP_TO);
  const seals = before?.seals ?? 0;
  const known = seals === 0 ? {} : { seals };
  if (before?.stage === "Sealed") return afterSeal(before, measured, sealAt);
  if (bytes <= sealAt) return { ...now, stage: "Exceeded", sealAt, ...known };
  return { ...now, stage: "Sealed", sealAt, seals: seals + 1, opensAt: at + sealed(seals) };
}

/** Of one that is sealed, and stores too much still. */
function afterSeal(before: StorageRecord, measured: Measured, sealAt: number): StorageRecord {
  const { bytes, budget, at, space = Infinity } = measured;
  const now = { bytes, budget, at };
  const seals = Math.max(1, before.seals ?? 0);
  // The API refuses writes again, so that objects can be deleted. What each raise permits beyond its budget is the
  // same.
  const isRaised = budget > before.budget && bytes <= budget * UNSEALED_UP_TO;
  if (isRaised) return { ...now, stage: "Exceeded", sealAt: budget * UNSEALED_UP_TO, seals };
  // One that an earlier version sealed is opened as one that was sealed now.
  const opensAt = before.opensAt ?? at + FIRST_SEAL;
  const sealed = { ...now, stage: "Sealed", sealAt, seals, opensAt } as const;
  if (at < opensAt || bytes > budget * OPENED_BELOW) return sealed;
  const most = Math.max(bytes + budget * OPENED_FOR, budget * UNSEALED_UP_TO);
  // Of what every one may store without being sealed, space is kept for each.
  if (most > budget * UNSEALED_UP_TO && most > space) return { ...sealed, lacksSpace: true };
  return { ...now, stage: "Exceeded", sealAt: most, seals };
}

/** Milliseconds that a seal lasts, after so many before it. */
function sealed(before: number): number {
  return Math.min(LONGEST_SEAL, FIRST_SEAL * 2 ** Math.min(before, 20));
}

/** Is the difference worth a write, which every process reads? */
export function isWorthSaving(before: StorageRecord | undefined, after: StorageRecord): boolean {
  if (before === undefined || before.stage !== after.stage || before.budget !== after.budget) return true;
  if (before.lacksSpace !== after.lacksSpace) return true;
  return Math.abs(after.bytes - before.bytes) > after.budget / 20;
}

/** For people: "12.3 MiB". */
export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1).replace(/\.0$/, "")} MiB`;
}
