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
/**
 * Limits of what is read in one call, whatever changed: the keys of a keyspace, since etcd reads the values of all of
 * them as it does for one page of a list, and characters of the response.
 */
const KEYS_AT_ONCE = KEYS_PER_PAGE;
const CHARACTERS_AT_ONCE = 64 * 2 ** 20;
/** Milliseconds without a byte of it. */
const AT_ONCE_TIMEOUT = 60_000;

/** Reads one keyspace. Keys are of one revision; values are those of now, each with the revision that wrote it. */
export interface DatastoreReader {
  keys(): Promise<KeyList>;
  /**
   * All values in pages, each as it is when its page is read; not all of them where clients create keys faster than
   * they are read.
   */
  values(): AsyncIterable<readonly Value[]>;
  /** Undefined: there is no such key now, or the revision was compacted. Without a revision it is the value of now. */
  value(key: string, revision?: number): Promise<Value | undefined>;
  /**
   * All keys of now and, of the same moment, the values that this revision or a later one wrote.
   * @returns undefined if that is too much for one call
   */
  writtenSince(revision: number): Promise<{ readonly list: KeyList; readonly values: readonly Value[] } | undefined>;
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
  readonly count?: string;
}

interface Transaction {
  readonly header?: Answer["header"];
  readonly responses?: readonly { readonly response_range?: Answer }[];
}

type Kept = (kvs?: readonly KeyValue[]) => readonly Required<Value>[];

/**
 * Keys with a lease (events) and keys of our own are left out. `check` is given each other key as etcd's JSON API
 * has it, in base64.
 */
export async function openReader(
  { access, prefix }: Keyspace,
  { clock, signal, check }: { clock: Clock; signal: AbortSignal; check?: (key: string) => void },
): Promise<DatastoreReader> {
  const life = new AbortController();
  const call = await openEtcd(access, { clock, signal: AbortSignal.any([signal, life.signal]) });
  const all = rangeOf(prefix);
  /** Keys that a lease ends (events, which API servers run) are not data to restore. */
  const kept = (kvs: readonly KeyValue[] = []): Required<Value>[] =>
    kvs.flatMap(({ key, lease = "0", value = "", mod_revision = "0" }) => {
      const name = plain(key).slice(prefix.length);
      if (lease !== "0" || name.startsWith(OWN_KEYS)) return [];
      check?.(key);
      return [{ key: name, value, modified: Number(mod_revision) }];
    });
  return {
    keys: () => listKeys(call, all, kept),
    async *values() {
      const { count = "0" }: Answer = await call("kv/range", { ...all, count_only: true });
      let next = all.key;
      let limit = VALUES_PER_PAGE;
      // Names that grow all the time would have no end.
      for (let left = 2 * Number(count) + VALUES_PER_PAGE; left > 0;) {
        const answer = await pageOf(call, { key: next, range_end: all.range_end, limit });
        if (answer === undefined) {
          // Large objects: fewer of them at once.
          limit = Math.max(1, Math.floor(limit / 4));
          continue;
        }
        yield kept(answer.kvs);
        left -= answer.kvs?.length ?? 0;
        const last = answer.kvs?.at(-1);
        if (answer.more !== true || last === undefined) return;
        next = behind(last.key);
      }
    },
    async value(key, revision) {
      const body = { key: base64(prefix + key), ...(revision === undefined ? {} : { revision }) };
      try {
        const answer: Answer = await call("kv/range", body);
        return kept(answer.kvs)[0];
      } catch (error) {
        if (revision !== undefined && hasCode(error, "PODS_ETCD_REFUSED")) return undefined;
        throw error;
      }
    },
    writtenSince: (revision) => readAtOnce(call, { all, revision, kept }),
    follow: () => createFollower(call, all, (kvs) => kept(kvs as readonly KeyValue[])),
    close: () => life.abort(),
  };
}

/** At one revision. One that is compacted between two pages is given up for the one of now. */
async function listKeys(call: Call, all: ReturnType<typeof rangeOf>, kept: Kept): Promise<KeyList> {
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

/** All reads of one transaction are of one revision, and compaction does not end them. */
async function readAtOnce(
  call: Call,
  { all, revision, kept }: { all: ReturnType<typeof rangeOf>; revision: number; kept: Kept },
): Promise<{ list: KeyList; values: readonly Value[] } | undefined> {
  const { count = "0" }: Answer = await call("kv/range", { ...all, count_only: true });
  if (Number(count) > KEYS_AT_ONCE) return undefined;
  const reads = [{ keys_only: true }, { min_mod_revision: revision }];
  const body = { success: reads.map((read) => ({ request_range: { ...all, ...read } })) };
  const limits = { longest: CHARACTERS_AT_ONCE, timeout: AT_ONCE_TIMEOUT };
  const answer = await unlessTooLong(call("kv/txn", body, limits));
  if (answer === undefined) return undefined;
  const { header, responses = [] } = answer as Transaction;
  const [keys = [], values = []] = responses.map(({ response_range }) => kept(response_range?.kvs));
  return { list: listOf(header, keys), values };
}

/** Undefined: the answer is too long, and has more than one key. */
async function pageOf(
  call: Call,
  body: { key: string; range_end: string; limit: number },
): Promise<Answer | undefined> {
  const answer = call("kv/range", body);
  return body.limit > 1 ? unlessTooLong(answer) : answer;
}

async function unlessTooLong(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (hasCode(error, "PODS_ETCD_ANSWER_TOO_LONG")) return undefined;
    throw error;
  }
}

function listOf({ revision = "0", cluster_id = "" }: Answer["header"] = {}, keys: readonly Required<Value>[]): KeyList {
  return {
    revision: Number(revision),
    cluster: cluster_id,
    keys: keys.map(({ key, modified }) => ({ key, modified })),
  };
}

function behind(key: string): string {
  return Buffer.concat([Buffer.from(key, "base64"), Buffer.from([0])]).toString("base64");
}

/** The text of a key or value that etcd's JSON API has in base64. */
export const plain = (encoded: string): string => Buffer.from(encoded, "base64").toString();
