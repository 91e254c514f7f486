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

/** Characters of changes that are kept in memory before they are written. */
const KEPT = 16 * 2 ** 20;
/** Attempts to have every value of one revision. */
const ROUNDS = 20;
/** Milliseconds, and how often, to wait for writes that are on their way. */
const ON_THE_WAY = 25;
const WAITS = 120;

/**
 * Writes the values of one moment while clients write to the keyspace. It holds no revision, so that neither compaction
 * nor the rate of writes can stop it: it reads current values, follows writes by a watch, and at the end lists all keys
 * to learn which version of each it needs. A version is a key and the revision that wrote it. Versions that neither the
 * reads nor the watch had are read again, and a new list is made. It may write more versions than it needs.
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
  const spill = async (): Promise<void> => {
    if (follower.size > KEPT) await put(follower.take());
  };
  const isMissing = ({ key, modified }: StoredKey): boolean =>
    written.get(key) !== modified && follower.find(key, modified) === undefined;
  await follower.start();
  for await (const page of first) {
    await put(page);
    await spill();
  }
  for (let round = 0; round < ROUNDS; round++) {
    // Which of several versions is the one of the list is known when there is a list.
    follower.hold();
    const list = await reader.keys();
    let missing = needed(list).filter(isMissing);
    for (let i = 0; i < WAITS && missing.length > 0 && follower.isRunning; i++) {
      await clock.sleep(ON_THE_WAY, signal);
      missing = missing.filter(isMissing);
    }
    if (missing.length === 0) {
      const rest = needed(list).filter(({ key, modified }) => written.get(key) !== modified);
      await write(rest.flatMap(({ key, modified }) => follower.find(key, modified) ?? []));
      return list;
    }
    follower.release();
    await follower.start();
    for (const { key } of missing) {
      const value = await reader.value(key);
      if (value !== undefined) await put([value]);
      await spill();
    }
  }
  // A stream that always fails looks like a client that writes too much.
  const { failure } = follower;
  const why = failure === undefined ? "" : `, and etcd's stream of writes ended: ${messageOf(failure)}`;
  throw new CausewayError("BACKUP_DATA_CHANGING", `the data changes faster than it can be read${why}`, {
    hint: "It is tried again. The control plane's audit log shows which client writes so much.",
    cause: failure,
  });
}
