import { randomBytes } from "node:crypto";
import { base64, CausewayError, type Clock } from "@causeway/foundation";
import { openEtcd } from "../etcd/etcd-admin.ts";
import { rangeOf } from "../etcd/range.ts";
import { policyKeys } from "../etcd/permissions.ts";
import { batches, putOf } from "./batches.ts";
import { clearAttempt, isFull } from "./clear-attempt.ts";
import { OWN_KEYS, type Keyspace, type Value } from "./datastore.ts";
import { parsePoint, pointAt, pointName, type Point } from "./points.ts";
import type { SealedStore } from "./store.ts";
import { dataName, keysOf, type BackupSecrets, type Manifest } from "./take.ts";

/** The point to restore. */
export interface RestoreFrom {
  readonly store: SealedStore;
  /** Of the control plane that was backed up. */
  readonly folder: string;
  /** The newest point up to then (ms since epoch); undefined: the newest. */
  readonly at?: number;
  /** Bytes of keys and values at most. Undefined: what the etcd takes. */
  readonly limit?: number | undefined;
}

/** What etcd needs for each key. */
const PER_KEY = 128;

/**
 * What names the endpoint, which may be another one, is created for each endpoint. The policy of a storage budget is of
 * the control plane that was backed up: who watches the new one writes it when it is needed, and its tenant could not
 * remove it.
 */
const CREATED_AGAIN = ["registry/configmaps/kube-public/cluster-info", ...policyKeys("")];

/** Another attempt with the same backup would read all of it again, and end in the same way. */
export function isPermanent(error: unknown): boolean {
  return error instanceof CausewayError && PERMANENT.has(error.code);
}

const PERMANENT: ReadonlySet<string> = new Set([
  "BACKUP_EXCEEDS_BUDGET",
  "BACKUP_INCOMPLETE",
  "BACKUP_TOO_NEW",
  "BACKUP_UNREADABLE",
]);
/** Milliseconds until it is attempted all the same: the operator may have repaired the store. */
export const AFTER_PERMANENT = 1_800_000;

/** All points of a control plane, in the order of the store; other names are left out. */
export async function pointsOf(store: SealedStore, folder: string, signal: AbortSignal): Promise<Point[]> {
  const names = await store.list(`${folder}/points/`, signal);
  return names.flatMap((name) => parsePoint(name) ?? []);
}

/** @throws BACKUP_POINT_MISSING, BACKUP_INCOMPLETE, BACKUP_UNREADABLE */
export async function secretsAt({ store, folder, at }: RestoreFrom, signal: AbortSignal): Promise<BackupSecrets> {
  const point = pointAt(await pointsOf(store, folder, signal), folder, at);
  return (await manifestOf(store, folder, point, signal)).secrets;
}

/**
 * Writes the data of a point into an etcd, under the prefix that is the new control plane's. What an unfinished attempt
 * wrote is deleted first; once it is done, a mark in the etcd keeps it from being done a second time. Each transaction
 * compares the attempt, so that of two programs the later one finishes and the other one fails.
 * @throws BACKUP_EXCEEDS_BUDGET, BACKUP_RESTORE_FENCED, and as `secretsAt`
 */
export async function restoreData(
  from: RestoreFrom,
  { access, prefix }: Keyspace,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const call = await openEtcd(access, { clock, signal });
  const done = base64(`${prefix}${OWN_KEYS}restored`);
  const fence = base64(`${prefix}${OWN_KEYS}restoring`);
  const attempt = randomBytes(16).toString("base64");
  const isOwn = prefix === "/";
  const own = { call, addresses: access.addresses, prefix, done, fence };
  if (isOwn && (await clearAttempt(own)) === "done") return;
  const begun = await call("kv/txn", {
    compare: [{ target: "CREATE", key: done, result: "EQUAL", create_revision: "0" }],
    success: [{ request_delete_range: rangeOf(`${prefix}registry/`) }, { request_put: { key: fence, value: attempt } }],
  });
  if (begun["succeeded"] !== true) return;
  const commit = async (operations: readonly object[]): Promise<void> => {
    const compare = [{ target: "VALUE", key: fence, result: "EQUAL", value: attempt }];
    const answer = await call("kv/txn", { compare, success: operations });
    if (answer["succeeded"] !== true) throw fenced();
  };
  let size = 0;
  const write = async (values: readonly Value[]): Promise<void> => {
    for (const { key, value } of values) size += key.length + (value.length * 3) / 4 + PER_KEY;
    if (from.limit !== undefined && size > from.limit) {
      await commit([{ request_delete_range: rangeOf(`${prefix}registry/`) }]);
      throw exceeds(from.limit);
    }
    await commit(values.map((value) => putOf(prefix, value)));
  };
  const point = await writeAll(from, write, signal).catch(async (error: unknown) => {
    throw isOwn && (await isFull(call, error)) ? withoutSpace(error) : error;
  });
  await commit([{ request_put: { key: done, value: base64(point.id) } }, { request_delete_range: { key: fence } }]);
}

/** From the newest point of the chain to the oldest: the first value that is found of a key is its value. */
async function writeAll(
  { store, folder, at }: RestoreFrom,
  write: (values: readonly Value[]) => Promise<void>,
  signal: AbortSignal,
): Promise<Point> {
  const chosen = pointAt(await pointsOf(store, folder, signal), folder, at);
  const wanted = await keysOf(store, folder, chosen.id, signal);
  // A point may have several versions of a key.
  const isWanted = ({ key, modified }: Value): boolean =>
    wanted.has(key) && (modified === undefined || (wanted.get(key) ?? modified) === modified);
  for (const key of CREATED_AGAIN) wanted.delete(key);
  let point: Point | undefined = chosen;
  while (point !== undefined && wanted.size > 0) {
    const { id }: Point = point;
    const manifest: Manifest = await manifestOf(store, folder, point, signal);
    for (let part = 0; part < manifest.parts; part++) {
      const values = (await store.get(dataName(folder, id, `${part}`), signal)) as readonly Value[];
      for (const batch of batches(values.filter((each) => isWanted(each) && wanted.delete(each.key))))
        await write(batch);
    }
    point = manifest.parent;
  }
  if (wanted.size === 0) return chosen;
  const [missing = ""] = wanted.keys();
  throw new CausewayError("BACKUP_INCOMPLETE", `${wanted.size} keys of the backup have no value, such as ${missing}`, {
    hint: "Restore to another time.",
  });
}

async function manifestOf(store: SealedStore, folder: string, point: Point, signal: AbortSignal): Promise<Manifest> {
  const manifest = (await store.get(pointName(folder, point), signal)) as Manifest;
  if (manifest.format === 1 || manifest.format === 2) return manifest;
  throw new CausewayError("BACKUP_TOO_NEW", `${folder} was written by a newer Causeway`, { hint: "Restore with it." });
}

function exceeds(limit: number): CausewayError {
  return new CausewayError(
    "BACKUP_EXCEEDS_BUDGET",
    `the backup has more than the ${limit} bytes that this control plane may store in the shared etcd`,
    { hint: "Set spec.limits.bytes to more, or restore into an etcd of its own (spec.pods.datastore)." },
  );
}

function withoutSpace(cause: unknown): CausewayError {
  const message = "the backup has more than the etcd of this control plane may store";
  return new CausewayError("BACKUP_EXCEEDS_BUDGET", message, { hint: "Set spec.limits.bytes to more.", cause });
}

function fenced(): CausewayError {
  return new CausewayError("BACKUP_RESTORE_FENCED", "another program restores the same control plane", {
    hint: "No action is needed: it is retried.",
  });
}
