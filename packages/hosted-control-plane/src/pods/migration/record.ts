import type { ConfigMap, KubeObject } from "@causeway/kubernetes";
import { namedMeta } from "../objects/meta.ts";

/**
 * The way of a control plane from the shared etcd to one of its own. Starting: the own etcd's members start. Copying:
 * data is copied while the API serves. Freezing: writes are refused, the last changes are copied, and both sides are
 * compared. Switching: new API servers start with the own etcd, and no client reaches them. Retained: they serve, and
 * the shared etcd has the old data still. Done: it does not have it any more. Returning: it failed, or is withdrawn.
 * Withdrawn: the shared etcd serves as before.
 */
export type MigrationStage =
  | "Starting"
  | "Copying"
  | "Freezing"
  | "Switching"
  | "Returning"
  | "Withdrawn"
  | "Retained"
  | "Done";

/** What is known of one migration, in a ConfigMap of the control plane's namespace. Times are ms since epoch. */
export interface MigrationRecord {
  readonly stage: MigrationStage;
  /** Of this control plane, from 1 on. */
  readonly attempt: number;
  /** Of the own etcd before its first write: far above any that clients have seen. */
  readonly revision: number;
  /** Of the own etcd: they do not follow the request until it serves. */
  readonly members: number;
  readonly storage?: string;
  readonly storageClassName?: string;
  /** When it first began to copy in this attempt. */
  readonly copyingAt?: number;
  /** When writes were first refused in this attempt. */
  readonly frozenAt?: number;
  /** Of the shared etcd, when both sides were compared. */
  readonly frozenRevision?: number;
  /** While no client may reach the new API servers: the label pod-template-hash of the old ones. */
  readonly heldBy?: string;
  readonly keys?: number;
  /** SHA-256 over all keys and values, in hexadecimal. */
  readonly hash?: string;
  /** When the own etcd became the one that serves. */
  readonly switchedAt?: number;
  /** Attempts that failed in a row, why the last one did, and when the next one begins. */
  readonly failures?: number;
  readonly failure?: string;
  readonly retryAt?: number;
}

/** The ConfigMap of the record. */
export const MIGRATION_NAME = "datastore-migration";

const STAGES: readonly string[] = [
  "Starting",
  "Copying",
  "Freezing",
  "Switching",
  "Returning",
  "Withdrawn",
  "Retained",
  "Done",
] satisfies MigrationStage[];
const NUMBERS = ["copyingAt", "frozenAt", "frozenRevision", "keys", "switchedAt", "failures", "retryAt"] as const;
const TEXTS = ["storage", "storageClassName", "heldBy", "hash", "failure"] as const;

/** Undefined: there is none, or one that cannot be read. */
export function parseMigration(object: KubeObject | undefined): MigrationRecord | undefined {
  const text = ((object ?? {}) as Partial<ConfigMap>).data?.["record"];
  if (text === undefined) return undefined;
  try {
    const { stage, attempt, revision, members, ...more } = JSON.parse(text) as Partial<MigrationRecord>;
    const isKnown = stage !== undefined && STAGES.includes(stage);
    if (!isKnown || !isCount(attempt) || !isCount(revision) || !isCount(members)) return undefined;
    const numbers = NUMBERS.filter((field) => isCount(more[field])).map((field) => [field, more[field]]);
    const texts = TEXTS.filter((field) => typeof more[field] === "string").map((field) => [field, more[field]]);
    return { stage, attempt, revision, members, ...Object.fromEntries([...numbers, ...texts]) } as MigrationRecord;
  } catch {
    return undefined;
  }
}

/** The ConfigMap that parseMigration reads. */
export function migrationObject(namespace: string, record: MigrationRecord): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: namedMeta(namespace, MIGRATION_NAME, "etcd"),
    data: { record: JSON.stringify(record) },
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
