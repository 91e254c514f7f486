import type { Clock } from "@causeway/foundation";
import type { Node } from "@causeway/kubernetes";
import type { CloudWatch, Server } from "@causeway/openstack";

/** Looks at the cloud that count as several are at least this many milliseconds apart. */
export const denialPause = 5_000;

interface Denied {
  readonly uid: string | undefined;
  readonly count: number;
  readonly at: number;
}

/**
 * Counts in how many fresh lists a node's server was missing. A list that fails counts nothing: a cloud that is away
 * denies nothing. Heartbeats that come between two looks do not make them more.
 */
export class Denials {
  readonly #denied = new Map<string, Denied>();
  readonly #watch: CloudWatch;
  readonly #clock: Clock;

  constructor(watch: CloudWatch, clock: Clock) {
    this.#watch = watch;
    this.#clock = clock;
  }

  /** Looks again, unless it has just been done; `find` tells whether the server is there now. */
  async deny(node: Node, find: () => readonly Server[], signal: AbortSignal): Promise<number> {
    const { name, uid } = node.metadata;
    const before = this.#denied.get(name);
    const count = before !== undefined && before.uid === uid ? before.count : 0;
    if (before && count > 0 && this.#clock.now() < before.at + denialPause) return count;
    await this.#watch.servers.refresh(signal);
    if (find().length > 0) return this.forget(name);
    this.#denied.set(name, { uid, count: count + 1, at: this.#clock.now() });
    return count + 1;
  }

  forget(name: string): 0 {
    this.#denied.delete(name);
    return 0;
  }
}
