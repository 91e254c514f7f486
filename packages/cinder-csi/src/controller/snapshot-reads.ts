import { unlessAborted, type Clock } from "@causeway/foundation";
import type { VolumeSnapshot } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";

interface Reader {
  readonly name: string;
  readonly resolve: (snapshots: readonly VolumeSnapshot[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** Milliseconds between the begins of two lists at least: what is requested meanwhile shares the second. */
const APART = 250;

/** Milliseconds. */
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;
/** Whatever was learned, a snapshot is read so soon (ms). */
const LONGEST_FIRST = 20_000;
/** A snapshot that was complete at the first read lets the next one be read a little earlier. */
const EARLIER = 0.99;

/**
 * Reads the snapshots of a name. A call alone requests those of its name; calls that wait at the same time share one list of all. Every result was
 * read after its call.
 */
export class SnapshotReads {
  readonly #storage: StorageCloud;
  readonly #clock: Clock;
  #waiting: Reader[] = [];
  #isRunning = false;
  #begunAt = Number.NEGATIVE_INFINITY;
  /** How long (ms) after its creation a snapshot is likely to be complete. */
  #expected = APART;

  constructor(storage: StorageCloud, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  named(name: string, signal: AbortSignal): Promise<readonly VolumeSnapshot[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly VolumeSnapshot[]>();
    // When its caller has left, no caller receives the error.
    promise.catch(() => {});
    this.#waiting.push({ name, resolve, reject });
    void this.#run();
    return unlessAborted(promise, signal);
  }

  /**
   * The snapshots of a name that was just created, once `isDone` accepts them or `timeout` milliseconds are over. They are read first when the snapshots
   * before were complete, which is learned, and then whenever they are an eighth older.
   */
  async settled(
    name: string,
    isDone: (snapshots: readonly VolumeSnapshot[]) => boolean,
    { signal, timeout }: { readonly signal: AbortSignal; readonly timeout: number },
  ): Promise<readonly VolumeSnapshot[] | undefined> {
    const begun = this.#clock.now();
    const age = () => this.#clock.now() - begun;
    const first = this.#expected;
    await this.#clock.sleep(first, signal);
    for (let reads = 1; ; reads += 1) {
      const readAt = age();
      const found = await this.named(name, signal);
      if (isDone(found)) {
        this.#expected = reads === 1 ? Math.max(SHORTEST_PAUSE, first * EARLIER) : Math.min(readAt, LONGEST_FIRST);
        return found;
      }
      if (age() >= timeout) return undefined;
      await this.#clock.sleep(Math.min(LONGEST_PAUSE, Math.max(SHORTEST_PAUSE, age() / 8)), signal);
    }
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const wait = this.#begunAt + APART - this.#clock.now();
      if (wait > 0) await this.#clock.sleep(wait);
      const readers = this.#waiting.splice(0);
      this.#begunAt = this.#clock.now();
      await this.#read(readers);
    }
    this.#isRunning = false;
  }

  async #read(readers: readonly Reader[]): Promise<void> {
    const names = [...new Set(readers.map(({ name }) => name))];
    const [name] = names;
    const query = names.length === 1 && name !== undefined ? { name } : {};
    try {
      const all = await this.#storage.cloud.blockStorage.snapshots.all(query);
      for (const reader of readers) reader.resolve(all.filter((each) => each.name === reader.name));
    } catch (error) {
      for (const reader of readers) reader.reject(error);
    }
  }
}
