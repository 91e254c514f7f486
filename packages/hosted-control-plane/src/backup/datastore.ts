import { base64, hasCode, type Clock } from "@causeway/foundation";
import { openEtcd, type Call, type EtcdAccess } from "../pods/pool/etcd-admin.ts";
import { rangeOf } from "../pods/pool/range.ts";

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

const KEYS_PER_PAGE = 2_000;
const VALUES_PER_PAGE = 128;

/** Reads at one revision, so that what is read is one moment of the data, whatever is written meanwhile. */
export interface DatastoreReader {
  keys(): Promise<KeyList>;
  /** All values at a revision, in pages. */
  values(revision: number): AsyncIterable<readonly Value[]>;
  value(key: string, revision: number): Promise<string | undefined>;
}

interface Answer {
  readonly header?: { readonly revision?: string; readonly cluster_id?: string };
  readonly kvs?: readonly {
    readonly key: string;
    readonly value?: string;
    readonly mod_revision?: string;
    readonly lease?: string;
  }[];
  readonly more?: boolean;
}

/** Keys with a lease (events) and keys of our own are left out. */
export async function openReader(
  { access, prefix }: Keyspace,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<DatastoreReader> {
  const call = await openEtcd(access, { clock, signal });
  const all = rangeOf(prefix);
  /** Keys that a lease ends (events, which API servers run) are not data to restore. */
  const kept = ({ kvs = [] }: Answer) =>
    kvs.flatMap(({ key, lease = "0", ...rest }) => {
      const name = plain(key).slice(prefix.length);
      return lease !== "0" || name.startsWith(OWN_KEYS) ? [] : [{ ...rest, key: name }];
    });
  return {
    async keys() {
      const keys: StoredKey[] = [];
      let [next, revision, cluster] = [all.key, 0, ""];
      for (;;) {
        const from = { key: next, range_end: all.range_end, keys_only: true, limit: KEYS_PER_PAGE };
        const answer: Answer = await call("kv/range", revision === 0 ? from : { ...from, revision });
        if (revision === 0) {
          revision = Number(answer.header?.revision ?? 0);
          cluster = answer.header?.cluster_id ?? "";
        }
        keys.push(...kept(answer).map(({ key, mod_revision = "0" }) => ({ key, modified: Number(mod_revision) })));
        const last = answer.kvs?.at(-1);
        if (answer.more !== true || last === undefined) return { revision, cluster, keys };
        next = behind(last.key);
      }
    },
    async *values(revision) {
      let next = all.key;
      let limit = VALUES_PER_PAGE;
      for (;;) {
        const body = { key: next, range_end: all.range_end, revision, limit };
        const answer = await pageOf(call, body);
        if (answer === undefined) {
          // Large objects: fewer of them at once.
          limit = Math.max(1, Math.floor(limit / 4));
          continue;
        }
        yield kept(answer).map(({ key, value = "" }) => ({ key, value }));
        const last = answer.kvs?.at(-1);
        if (answer.more !== true || last === undefined) return;
        next = behind(last.key);
      }
    },
    async value(key, revision) {
      const answer: Answer = await call("kv/range", { key: base64(prefix + key), revision });
      return answer.kvs?.map(({ value = "" }) => value)[0];
    },
  };
}

/** Undefined: the answer is too long, and has more than one key. */
async function pageOf(call: Call, body: { limit: number }): Promise<Answer | undefined> {
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
