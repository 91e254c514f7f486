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
