import type { Call } from "../etcd/etcd-admin.ts";
import type { Value } from "./datastore.ts";

/** Receives the writes to a keyspace while its values are read: the newest version of each key, or every version. */
export interface Follower {
  /** Characters of the versions that are kept. */
  readonly size: number;
  /** False: the stream ended, and no further writes are received. */
  readonly isRunning: boolean;
  /** Why the stream ended last; undefined: it did not, or etcd ended it without an error. */
  readonly failure: unknown;
  /** Begins, or begins again, and returns when writes are received, or when they cannot be. */
  start(): Promise<void>;
  /** From now on every version is kept, since it is not known yet which one is needed. */
  hold(): void;
  /** Of each key the newest version is kept. */
  release(): void;
  /** One version of a key, if it is still kept. */
  find(key: string, modified: number): Value | undefined;
}

/** Beyond so many characters it ends: who reads lists what it misses, and reads that. */
const LARGEST = 32 * 2 ** 20;
/** Milliseconds without a write after which the stream ends. */
const IDLE = 900_000;

interface WatchLine {
  readonly created?: boolean;
  readonly canceled?: boolean;
  readonly events?: readonly { readonly type?: string; readonly kv?: unknown }[];
}

/**
 * A watch of a range from the current revision on; compaction does not end it as long as it is read. It may miss
 * writes when a member restarts or the stream ends: a list of keys and revisions shows which versions are missing.
 * @param kept which of etcd's keys are data, without their prefix
 */
export function createFollower(
  call: Call,
  range: { readonly key: string; readonly range_end: string },
  kept: (kvs: readonly unknown[]) => readonly Required<Value>[],
): Follower {
  const versions = new Map<string, Required<Value>[]>();
  let [size, isHeld, isRunning] = [0, false, false];
  let failure: unknown;
  const sizeOf = ({ key, value }: Value) => key.length + value.length;
  const add = (each: Required<Value>): void => {
    const before = versions.get(each.key) ?? [];
    if (!isHeld) for (const old of before) size -= sizeOf(old);
    versions.set(each.key, isHeld ? [...before, each] : [each]);
    size += sizeOf(each);
  };
  return {
    get size() {
      return size;
    },
    get isRunning() {
      return isRunning;
    },
    get failure() {
      return failure;
    },
    async start() {
      if (isRunning) return;
      isRunning = true;
      // What a reader needed of an earlier stream it has read; what it kept would end the new one at once.
      versions.clear();
      size = 0;
      await new Promise<void>((begun) => {
        const onLine = (line: Record<string, unknown>): boolean => {
          const { created, canceled, events = [] } = (line["result"] ?? { canceled: true }) as WatchLine;
          if (created === true) begun();
          const puts = events.filter(({ type = "PUT" }) => type === "PUT");
          for (const each of kept(puts.map(({ kv }) => kv))) add(each);
          return canceled !== true && size < LARGEST;
        };
        // Long responses are split into fragments.
        const ended = call("watch", { create_request: { ...range, fragment: true } }, { onLine, timeout: IDLE });
        const end = (error?: unknown): void => {
          failure = error;
          isRunning = false;
          begun();
        };
        ended.then(() => end(), end);
      });
    },
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      for (const each of versions.values()) {
        const newest = each.at(-1);
        if (newest !== undefined && each.length > 1) add(newest);
      }
    },
    find: (key, modified) => versions.get(key)?.find((each) => each.modified === modified),
  };
}
