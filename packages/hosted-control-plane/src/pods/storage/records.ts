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
}

/** What is sealed is opened again, to be deleted from, only below so many times its budget. */
export const OPENED_BELOW = 1.5;
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
    const { bytes, budget, stage, at, ...more } = JSON.parse(text) as Partial<StorageRecord>;
    const isKnown = stage === "Within" || stage === "Exceeded" || stage === "Sealed";
    if (!isKnown || !isCount(bytes) || !isCount(budget) || !isCount(at)) return [];
    const counts = (["sealAt", "seals", "opensAt"] as const).filter((field) => isCount(more[field]));
    return [[name, { bytes, budget, stage, at, ...Object.fromEntries(counts.map((field) => [field, more[field]])) }]];
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
}

/**
 * The stage that follows from a measure. It ends a tenth below the budget, so that a control plane at its budget does
 * not change between stages with each object. What grows by a quarter of its budget although its API refuses writes is
 * sealed. That ends when the budget is raised so far that what is stored is within a quarter above it; or after a
 * while, so that users can delete objects without the operator. What grows then by a sixteenth of the budget is sealed
 * again, for twice as long, and what is half above its budget is not opened by itself any more: so a tenant gains
 * little by it.
 */
export function nextRecord(before: StorageRecord | undefined, { bytes, budget, at }: Measured): StorageRecord {
  const stage = before?.stage ?? "Within";
  const now = { bytes, budget, at };
  if (stage === "Within" ? bytes <= budget : bytes <= budget * 0.9) return { ...now, stage: "Within" };
  const sealAt = stage === "Within" ? bytes + budget / 4 : Math.max(before?.sealAt ?? 0, budget * 1.25);
  const seals = before?.seals ?? 0;
  const known = seals === 0 ? {} : { seals };
  if (before?.stage === "Sealed") return afterSeal(before, now, sealAt);
  if (bytes <= sealAt) return { ...now, stage: "Exceeded", sealAt, ...known };
  return { ...now, stage: "Sealed", sealAt, seals: seals + 1, opensAt: at + sealed(seals) };
}

/** Of one that is sealed, and stores too much still. */
function afterSeal(before: StorageRecord, now: Measured, sealAt: number): StorageRecord {
  const { bytes, budget, at } = now;
  const seals = Math.max(1, before.seals ?? 0);
  // The API refuses writes again, so that objects can be deleted. What each raise permits beyond its budget is the
  // same.
  const isRaised = budget > before.budget && bytes <= budget * 1.25;
  if (isRaised) return { ...now, stage: "Exceeded", sealAt: budget * 1.25, seals };
  // One that an earlier version sealed is opened as one that was sealed now.
  const opensAt = before.opensAt ?? at + FIRST_SEAL;
  const isOpened = at >= opensAt && bytes <= budget * OPENED_BELOW;
  if (!isOpened) return { ...now, stage: "Sealed", sealAt, seals, opensAt };
  return { ...now, stage: "Exceeded", sealAt: Math.max(bytes + budget / 16, budget * 1.25), seals };
}

/** Milliseconds that a seal lasts, after so many before it. */
function sealed(before: number): number {
  return Math.min(LONGEST_SEAL, FIRST_SEAL * 2 ** Math.min(before, 20));
}

/** Is the difference worth a write, which every process reads? */
export function isWorthSaving(before: StorageRecord | undefined, after: StorageRecord): boolean {
  if (before === undefined || before.stage !== after.stage || before.budget !== after.budget) return true;
  return Math.abs(after.bytes - before.bytes) > after.budget / 20;
}

/** For people: "12.3 MiB". */
export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1).replace(/\.0$/, "")} MiB`;
}
