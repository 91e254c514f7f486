import { CausewayError, messageOf, type Clock } from "@causeway/foundation";
import type { DatastoreReader, KeyList, StoredKey, Value } from "./datastore.ts";

/** The values to collect, and where to write them. */
export interface CollectWith {
  /** The first pass: all values, or the changed ones, each in the version that the read returns. */
  readonly first: AsyncIterable<readonly Value[]>;
  /** Of all keys at a revision, those whose values are needed. */
  readonly needed: (list: KeyList) => readonly StoredKey[];
  readonly write: (values: readonly Value[]) => Promise<void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Lists whose values are read. Each ends in bounded time, whatever clients write. */
const ROUNDS = 5;
/** Milliseconds, and how often, to wait for writes that are on their way. */
const ON_THE_WAY = 25;
const WAITS = 120;

/**
 * Writes the values of one moment while clients write to the keyspace, in a bounded number of reads. It reads current
 * values, follows writes by a watch, and then lists all keys to learn which version of each it needs. A version is a
 * key and the revision that wrote it. What neither the reads nor the watch had when the wait ends is read at the
 * revision of the list, which no rate of writes can prevent. Where that revision was compacted, what was written since
 * is read together with a new list in one call, which no compaction can prevent; only where that is too much for one
 * call, the current values are read and the next list is made. It writes more versions than it needs: two of a key that
 * changes, where one list is enough.
 * @returns the list: every value of it was written
 * @throws BACKUP_DATA_CHANGING
 */
export async function collect(
  reader: DatastoreReader,
  { first, needed, write, clock, signal }: CollectWith,
): Promise<KeyList> {
  const follower = reader.follow();
  const written = new Map<string, number>();
  const put = async (values: readonly Value[]): Promise<void> => {
    for (const { key, modified = 0 } of values) written.set(key, modified);
    await write(values);
  };
  const isWritten = ({ key, modified }: StoredKey): boolean => written.get(key) === modified;
  const isMissing = (each: StoredKey): boolean =>
    !isWritten(each) && follower.find(each.key, each.modified) === undefined;
  await follower.start();
  for await (const page of first) await put(page);
  for (let round = 0; round < ROUNDS; round++) {
    // Which of several versions is the one of the list is known when there is a list.
    follower.hold();
    const list = await reader.keys();
    let missing = needed(list).filter(isMissing);
    for (let i = 0; i < WAITS && missing.length > 0 && follower.isRunning; i++) {
      await clock.sleep(ON_THE_WAY, signal);
      missing = missing.filter(isMissing);
    }
    const received = needed(list).filter((each) => !isWritten(each));
    await put(received.flatMap(({ key, modified }) => follower.find(key, modified) ?? []));
    follower.release();
    const compacted = await readAt(list.revision, missing);
    if (compacted.length === 0) return list;
    // Every version of the list that is older than this was written.
    const from = compacted.reduce((least, { modified }) => Math.min(least, modified), list.revision + 1);
    const newest = await reader.writtenSince(from);
    if (newest !== undefined) {
      const versions = new Set(needed(newest.list).map(versionOf));
      await write(newest.values.filter((each) => versions.has(versionOf(each))));
      return newest.list;
    }
    await follower.start();
    for (const { key } of compacted) {
      const value = await reader.value(key);
      if (value !== undefined) await put([value]);
    }
  }
  // A stream that always fails looks like a client that writes too much.
  const { failure } = follower;
  const why = failure === undefined ? "" : `, and etcd's stream of writes ended: ${messageOf(failure)}`;
  throw new CausewayError("BACKUP_DATA_CHANGING", `the data changes faster than the backup reads it${why}`, {
    hint: "It is retried. The control plane's audit log shows which client writes so much.",
    cause: failure,
  });

  /** Returns those that cannot be read, since the revision was compacted. */
  async function readAt(revision: number, missing: readonly StoredKey[]): Promise<readonly StoredKey[]> {
    for (const [i, { key }] of missing.entries()) {
      const value = await reader.value(key, revision);
      if (value === undefined) return missing.slice(i);
      await put([value]);
    }
    return [];
  }
}

const versionOf = ({ key, modified = 0 }: Value | StoredKey): string => `${modified} ${key}`;
