import { CausewayError, messageOf, type Clock } from "@causeway/foundation";
import type { DatastoreReader, KeyList, StoredKey, Value } from "./datastore.ts";

/** What is collected, and where it goes. */
export interface CollectWith {
  /** What is read first: all values, or those that changed, each as it is when it is read. */
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
 * Writes the values of one moment while others write. No revision is held, so that no compaction and no rate of writes
 * can stop it: values are read as they are, what is written meanwhile is received, and at the end a list of all keys
 * says which version of each is needed. A version is named by its key and the revision that wrote it; those that were
 * received in no way are read again, and a new list is made. More versions may be written than are needed.
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
