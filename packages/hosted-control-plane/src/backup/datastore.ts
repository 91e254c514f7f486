import { base64, hasCode, type Clock } from "@causeway/foundation";
import { openEtcd, type Call, type EtcdAccess } from "../etcd/etcd-admin.ts";
import { createFollower, type Follower } from "./follow.ts";
import { rangeOf } from "../etcd/range.ts";

/** The part of an etcd that has a control plane's data. */
export interface Keyspace {
  readonly access: EtcdAccess;
  /** What all of its keys begin with: "/NAMESPACE/" in a shared etcd, "/" in one of its own. */
  readonly prefix: string;
}

/** A key without the prefix of its keyspace. */
export interface StoredKey {
  readonly key: string;
  readonly modified: number;
}

/** A key without the prefix of its keyspace, and its value. */
export interface Value {
  readonly key: string;
  /** Base64. */
  readonly value: string;
  /** The revision that wrote it: with the key it names one version. Backups of format 1 do not have it. */
  readonly modified?: number;
}

/** The keys at one revision of the etcd. */
export interface KeyList {
  readonly revision: number;
  /** Which etcd it is: revisions of another one have nothing to do with it. */
  readonly cluster: string;
  readonly keys: readonly StoredKey[];
}

/** Keys of our own, next to those of the API server. */
export const OWN_KEYS = "causeway.dev/";

const KEYS_PER_PAGE = 5_000;
const VALUES_PER_PAGE = 128;
/** Attempts to list all keys at one revision. */
const LISTINGS = 10;

/** Reads one keyspace. Keys are of one revision; values are those of now, each with the revision that wrote it. */
export interface DatastoreReader {
  keys(): Promise<KeyList>;
  /** All values in pages, each as it is when its page is read. */
  values(): AsyncIterable<readonly Value[]>;
  /** Undefined: there is no such key now. */
  value(key: string): Promise<Value | undefined>;
  /** Receives what is written from now on. */
  follow(): Follower;
  /** Ends what `follow` began. */
  close(): void;
}

interface KeyValue {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision?: string;
  readonly lease?: string;
}

interface Answer {
  readonly header?: { readonly revision?: string; readonly cluster_id?: string };
  readonly kvs?: readonly KeyValue[];
  readonly more?: boolean;
}

/** Keys with a lease (events) and keys of our own are left out. */
export async function openReader(
  { access, prefix }: Keyspace,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<DatastoreReader> {
  const life = new AbortController();
  const call = await openEtcd(access, { clock, signal: AbortSignal.any([signal, life.signal]) });
  const all = rangeOf(prefix);
  /** Keys that a lease ends (events, which API servers run) are not data to restore. */
  const kept = (kvs: readonly KeyValue[] = []): Required<Value>[] =>
    kvs.flatMap(({ key, lease = "0", value = "", mod_revision = "0" }) => {
      const name = plain(key).slice(prefix.length);
      return lease !== "0" || name.startsWith(OWN_KEYS) ? [] : [{ key: name, value, modified: Number(mod_revision) }];
    });
  return {
    keys: () => listKeys(call, all, kept),
    async *values() {
      let next = all.key;
      let limit = VALUES_PER_PAGE;
      for (;;) {
        const answer = await pageOf(call, { key: next, range_end: all.range_end, limit });
        if (answer === undefined) {
          // Large objects: fewer of them at once.
          limit = Math.max(1, Math.floor(limit / 4));
          continue;
        }
        yield kept(answer.kvs);
        const last = answer.kvs?.at(-1);
        if (answer.more !== true || last === undefined) return;
        next = behind(last.key);
      }
    },
    async value(key) {
      const answer: Answer = await call("kv/range", { key: base64(prefix + key) });
      return kept(answer.kvs)[0];
    },
    follow: () => createFollower(call, all, (kvs) => kept(kvs as readonly KeyValue[])),
    close: () => life.abort(),
  };
}

/** At one revision. One that is compacted between two pages is given up for the one of now. */
async function listKeys(
  call: Call,
  all: ReturnType<typeof rangeOf>,
  kept: (kvs?: readonly KeyValue[]) => readonly Required<Value>[],
): Promise<KeyList> {
  const keys: StoredKey[] = [];
  let [next, revision, cluster, attempts] = [all.key, 0, "", 1];
  for (;;) {
    const from = { key: next, range_end: all.range_end, keys_only: true, limit: KEYS_PER_PAGE };
    let answer: Answer;
    try {
      answer = await call("kv/range", revision === 0 ? from : { ...from, revision });
    } catch (error) {
      // Later pages are refused when their revision is not there any more.
      if (revision === 0 || attempts++ === LISTINGS || !hasCode(error, "PODS_ETCD_REFUSED")) throw error;
      [next, revision] = [all.key, 0];
      keys.length = 0;
      continue;
    }
    if (revision === 0) {
      revision = Number(answer.header?.revision ?? 0);
      cluster = answer.header?.cluster_id ?? "";
    }
    keys.push(...kept(answer.kvs).map(({ key, modified }) => ({ key, modified })));
    const last = answer.kvs?.at(-1);
    if (answer.more !== true || last === undefined) return { revision, cluster, keys };
    next = behind(last.key);
  }
}

/** Undefined: the answer is too long, and has more than one key. */
async function pageOf(
  call: Call,
  body: { key: string; range_end: string; limit: number },
): Promise<Answer | undefined> {
  try {
    return await call("kv/range", body);
  } catch (error) {
    if (body.limit > 1 && hasCode(error, "PODS_ETCD_ANSWER_TOO_LONG")) return undefined;
    throw error;
  }
}

function behind(key: string): string {
  return Buffer.concat([Buffer.from(key, "base64"), Buffer.from([0])]).toString("base64");
}

/** The text of a key or value that etcd's JSON API has in base64. */
export const plain = (encoded: string): string => Buffer.from(encoded, "base64").toString();
