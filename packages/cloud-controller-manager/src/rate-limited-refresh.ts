import type { Clock } from "@causeway/foundation";

/** A cache that can be listed again. */
interface Listed {
  refresh(signal?: AbortSignal): Promise<void>;
}

/**
 * Refreshes rarely listed caches when an object is missing from them, at most once per `pause` (ms): the object may
 * never exist.
 */
export class RateLimitedRefresh {
  readonly #clock: Clock;
  readonly #pause: number;
  #refreshedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, pause = 30_000) {
    this.#clock = clock;
    this.#pause = pause;
  }

  async refresh(lists: readonly Listed[], signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    if (now < this.#refreshedAt + this.#pause) return;
    this.#refreshedAt = now;
    await Promise.all(lists.map((list) => list.refresh(signal)));
  }
}
