import { createHash, randomBytes } from "node:crypto";
import { base64, CausewayError, type Clock } from "@causeway/foundation";
import { batches, OPERATIONS, putOf } from "../../backup/batches.ts";
import {
  openReader,
  OWN_KEYS,
  plain,
  type DatastoreReader,
  type Keyspace,
  type Value,
} from "../../backup/datastore.ts";
import { openEtcd, type Call } from "../../etcd/etcd-admin.ts";
import { compact } from "../../etcd/maintenance.ts";
import { policyKeys } from "../../etcd/permissions.ts";
import { rangeOf } from "../../etcd/range.ts";
import type { Comparison } from "./memory.ts";

/** The two etcds of one attempt. */
export interface CopyFrom {
  readonly from: Keyspace;
  readonly to: Keyspace;
  /** The own etcd began with this revision. */
  readonly revision: number;
  /** More are refused. Default: 200,000, since both sides are in memory as long as the copy lasts. */
  readonly mostKeys?: number;
  readonly clock: Clock;
}

/** A copy that continues while clients write. */
export interface DatastoreCopy {
  /** Copies what changed since the call before; the number of keys that changed. */
  advance(signal: AbortSignal): Promise<number>;
  /** Both sides, which must not change meanwhile. Throws where they differ. */
  compare(signal: AbortSignal): Promise<Comparison>;
  /** From now on no copy, of no process, writes there. */
  finish(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** In the own etcd: who copies. Each transaction of a copy compares it. */
const COPYING = `${OWN_KEYS}migrating`;
/** In the own etcd: it is complete, and no copy begins any more. */
const COMPLETE = `${OWN_KEYS}migrated`;
/** Values that are read at the same moment. */
const READS = 8;
const MOST_KEYS = 200_000;
/** The policy of a storage budget belongs to the shared etcd. */
const LEFT_OUT: ReadonlySet<string> = new Set(policyKeys(""));

/**
 * What one side has: of each key the revision that wrote it, and the hash of its value. One version of a key has one
 * value, so that only changed keys are read again.
 */
class Side {
  readonly #keys = new Map<string, { readonly modified: number; readonly hash: string }>();
  readonly #reader: DatastoreReader;

  constructor(reader: DatastoreReader) {
    this.#reader = reader;
  }

  get size(): number {
    return this.#keys.size;
  }

  close(): void {
    this.#reader.close();
  }

  /** All values for the first time, in pages. */
  async *readAll(): AsyncIterable<readonly Value[]> {
    for await (const page of this.#reader.values()) {
      const kept = page.filter(({ key }) => !LEFT_OUT.has(key));
      for (const each of kept) this.#note(each);
      yield kept;
    }
  }

  /** Reads what changed. */
  async refresh(): Promise<{ revision: number; changed: readonly Value[]; deleted: readonly string[] }> {
    const { revision, keys } = await this.#reader.keys();
    const there = new Set(keys.map(({ key }) => key));
    const deleted = [...this.#keys.keys()].filter((key) => !there.has(key));
    const stale = keys.filter(({ key, modified }) => !LEFT_OUT.has(key) && this.#keys.get(key)?.modified !== modified);
    const changed: Value[] = [];
    for (let at = 0; at < stale.length; at += READS) {
      const values = await Promise.all(stale.slice(at, at + READS).map(({ key }) => this.#reader.value(key)));
      // One that was deleted since the list was made is noticed by the next one.
      changed.push(...values.filter((each) => each !== undefined));
    }
    for (const each of changed) this.#note(each);
    for (const key of deleted) this.#keys.delete(key);
    return { revision, changed, deleted };
  }

  /** Over all keys and values, in the order of the keys. */
  digest(): string {
    const all = createHash("sha256");
    for (const key of [...this.#keys.keys()].toSorted()) all.update(`${key}\0${this.#keys.get(key)?.hash}\n`);
    return all.digest("hex");
  }

  /** Keys that differ, some of them. */
  differences(other: Side, most: number): string[] {
    const all = new Set([...this.#keys.keys(), ...other.#keys.keys()]);
    const isOther = (key: string) => this.#keys.get(key)?.hash !== other.#keys.get(key)?.hash;
    return [...all].filter(isOther).slice(0, most);
  }

  #note({ key, value, modified = 0 }: Value): void {
    this.#keys.set(key, { modified, hash: createHash("sha256").update(value).digest("base64") });
  }
}

/**
 * Deletes what an earlier copy wrote, and copies all data. Of two processes the one that began later continues, and the
 * other one fails.
 * @throws PODS_MIGRATION_FENCED, PODS_MIGRATION_DIFFERS, PODS_MIGRATION_UNSUPPORTED
 */
export async function startCopy(options: CopyFrom, signal: AbortSignal): Promise<DatastoreCopy> {
  const { from, to, revision, clock, mostKeys = MOST_KEYS } = options;
  const life = new AbortController();
  const using = { clock, signal: AbortSignal.any([signal, life.signal]) };
  const call = await openEtcd(to.access, { clock, signal: life.signal });
  const source = new Side(await openReader(from, { clock, signal: life.signal, check: refuseBytes }));
  const target = new Side(await openReader(to, { clock, signal: life.signal }));
  const close = (): void => {
    life.abort(new Error("the copy ended"));
    source.close();
    target.close();
  };
  try {
    using.signal.throwIfAborted();
    const token = randomBytes(16).toString("base64");
    const commit = writer(call, to, token);
    await begin(call, { to, token, revision });
    for await (const page of source.readAll()) {
      signal.throwIfAborted();
      if (source.size > mostKeys) throw unsupported(`it has more than ${mostKeys} keys`);
      for (const batch of batches(page)) await commit(batch.map((value) => putOf(to.prefix, value)));
    }
    const advance = async (stop: AbortSignal): Promise<number> => {
      const { changed, deleted } = await source.refresh();
      stop.throwIfAborted();
      for (const batch of batches(changed)) await commit(batch.map((value) => putOf(to.prefix, value)));
      for (let at = 0; at < deleted.length; at += OPERATIONS) {
        const keys = deleted.slice(at, at + OPERATIONS);
        await commit(keys.map((key) => ({ request_delete_range: { key: base64(to.prefix + key) } })));
      }
      return changed.length + deleted.length;
    };
    await advance(signal);
    // What was copied is read back, so that the comparison compares what is stored.
    for await (const _page of target.readAll()) signal.throwIfAborted();
    return {
      advance,
      async compare(stop) {
        const [{ revision: shared }, { revision: own }] = [await source.refresh(), await target.refresh()];
        stop.throwIfAborted();
        if (own <= shared) throw unusable(own, shared);
        const hash = source.digest();
        if (target.digest() !== hash || target.size !== source.size) throw differs(source, target);
        return { keys: source.size, hash, revision: shared };
      },
      async finish() {
        await commit([
          { request_put: { key: base64(to.prefix + COMPLETE), value: base64("1") } },
          { request_delete_range: { key: base64(to.prefix + COPYING) } },
        ]);
        const { header } = (await call("kv/range", { key: base64(to.prefix), count_only: true })) as Header;
        // Clients that know an older revision list again; deleted values of earlier copies are given up.
        await compact(call, Number(header?.revision ?? 0));
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

interface Header {
  readonly header?: { readonly revision?: string };
}

async function begin(
  call: Call,
  { to, token, revision }: { to: Keyspace; token: string; revision: number },
): Promise<void> {
  const { header } = (await call("kv/range", { key: base64(to.prefix), count_only: true })) as Header;
  const own = Number(header?.revision ?? 0);
  if (own < revision) throw unusable(own, revision);
  const answer = await call("kv/txn", {
    compare: [{ target: "CREATE", key: base64(to.prefix + COMPLETE), result: "EQUAL", create_revision: "0" }],
    success: [
      { request_delete_range: rangeOf(`${to.prefix}registry/`) },
      { request_put: { key: base64(to.prefix + COPYING), value: token } },
    ],
  });
  if (answer["succeeded"] !== true) throw fenced();
  // What earlier copies wrote must not fill the etcd.
  const { revision: now = "0" } = (answer["header"] ?? {}) as NonNullable<Header["header"]>;
  await compact(call, Number(now));
}

function writer(call: Call, to: Keyspace, token: string) {
  const compare = [{ target: "VALUE", key: base64(to.prefix + COPYING), result: "EQUAL", value: token }];
  return async (operations: readonly object[]): Promise<void> => {
    const answer = await call("kv/txn", { compare, success: operations });
    if (answer["succeeded"] !== true) throw fenced();
  };
}

/** Copies may begin there again: an attempt ended between the comparison and its record. */
export async function reopen(to: Keyspace, using: { clock: Clock; signal: AbortSignal }): Promise<void> {
  const call = await openEtcd(to.access, using);
  await call("kv/deleterange", { key: base64(to.prefix + COMPLETE) });
}

/** Was any key written after the revision, or deleted? Keys with a lease end by themselves. */
export async function changedSince(
  from: Keyspace,
  { revision, keys }: { revision: number; keys: number },
  using: { clock: Clock; signal: AbortSignal },
): Promise<boolean> {
  const reader = await openReader(from, using);
  try {
    const { keys: now } = await reader.keys();
    const kept = now.filter(({ key }) => !LEFT_OUT.has(key));
    return kept.length !== keys || kept.some(({ modified }) => modified > revision);
  } finally {
    reader.close();
  }
}

/** Another key would be written: only Kubernetes' own keys are known to be texts. */
function refuseBytes(key: string): void {
  if (base64(plain(key)) === key) return;
  throw unsupported(`the key ${JSON.stringify(plain(key).slice(0, 200))} is not valid UTF-8`);
}

function unsupported(why: string): CausewayError {
  return new CausewayError("PODS_MIGRATION_UNSUPPORTED", `the data cannot be moved to an own etcd: ${why}`, {
    hint: "The shared etcd serves as before. Set spec.pods.datastore.type to Pooled, or remove the reason.",
  });
}

function fenced(): CausewayError {
  return new CausewayError("PODS_MIGRATION_FENCED", "another process copies the data, or has finished", {
    hint: "No action is needed: it is retried.",
  });
}

function unusable(own: number, shared: number): CausewayError {
  const message = `the own etcd is at revision ${own}, and clients have seen ${shared}: resource versions would go backwards`;
  return new CausewayError("PODS_MIGRATION_DIFFERS", message, {
    hint: "No action is needed: another attempt begins with a new etcd.",
  });
}

function differs(source: Side, target: Side): CausewayError {
  const some = source.differences(target, 3).join(", ");
  const message = `the shared etcd has ${source.size} keys with hash ${source.digest().slice(0, 16)}, and the own etcd ${target.size} with ${target.digest().slice(0, 16)}; they differ in ${some}`;
  return new CausewayError("PODS_MIGRATION_DIFFERS", message, {
    hint: "The shared etcd serves as before; another attempt begins by itself.",
  });
}
