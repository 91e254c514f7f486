import type { Clock } from "@causeway/foundation";
import type { VolumeSnapshot } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import { APART, NamedReads } from "./named-reads.ts";

/** Milliseconds. */
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;
/** Whatever was learned, a snapshot is read so soon (ms). */
const LONGEST_FIRST = 20_000;
/** A snapshot that was complete at the first read lets the next one be read a little earlier. */
const EARLIER = 0.99;

/** Reads the snapshots of a name, and learns when those that were just created are likely to be complete. */
export class SnapshotReads {
  readonly #reads: NamedReads<VolumeSnapshot>;
  readonly #clock: Clock;
  /** How long (ms) after its creation a snapshot is likely to be complete. */
  #expected = APART;

  constructor({ cloud }: StorageCloud, clock: Clock) {
    const { snapshots } = cloud.blockStorage;
    this.#reads = new NamedReads({ clock, one: (name) => snapshots.all({ name }), all: () => snapshots.all() });
    this.#clock = clock;
  }

  named(name: string, signal: AbortSignal): Promise<readonly VolumeSnapshot[]> {
    return this.#reads.named(name, signal);
  }

  /**
   * The snapshots of a name that was just created, once `isDone` accepts them or `timeout` milliseconds are over. They
   * are read first when the snapshots before were complete, which is learned, and then whenever they are an eighth
   * older.
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
}
