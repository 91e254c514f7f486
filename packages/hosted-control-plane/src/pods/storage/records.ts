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
}

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
    const { bytes, budget, stage, at, sealAt } = JSON.parse(text) as Partial<StorageRecord>;
    const isKnown = stage === "Within" || stage === "Exceeded" || stage === "Sealed";
    if (!isKnown || !isCount(bytes) || !isCount(budget) || !isCount(at)) return [];
    return [[name, { bytes, budget, stage, at, ...(isCount(sealAt) ? { sealAt } : {}) }]];
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
 * sealed; that ends when the budget is raised so far that what is stored is within a quarter above it.
 */
export function nextRecord(before: StorageRecord | undefined, { bytes, budget, at }: Measured): StorageRecord {
  const stage = before?.stage ?? "Within";
  const now = { bytes, budget, at };
  if (stage === "Within" ? bytes <= budget : bytes <= budget * 0.9) return { ...now, stage: "Within" };
  const sealAt = stage === "Within" ? bytes + budget / 4 : Math.max(before?.sealAt ?? 0, budget * 1.25);
  // The API refuses writes again, so that objects can be deleted. What each raise permits beyond its budget is the
  // same.
  const isRaised = stage === "Sealed" && budget > (before?.budget ?? budget) && bytes <= budget * 1.25;
  if (isRaised) return { ...now, stage: "Exceeded", sealAt: budget * 1.25 };
  return { ...now, stage: stage === "Sealed" || bytes > sealAt ? "Sealed" : "Exceeded", sealAt };
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
