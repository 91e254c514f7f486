import type { Clock } from "@causeway/foundation";

/** Something that can be listed anew. */
interface Listed {
  refresh(signal?: AbortSignal): Promise<void>;
}

/** Lists anew what somebody misses in a cache that is filled rarely; not more often than this (ms), for it may never come. */
export class Missed {
  readonly #clock: Clock;
  readonly #pause: number;
  #looked = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, pause = 30_000) {
    this.#clock = clock;
    this.#pause = pause;
  }

  async look(lists: readonly Listed[], signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    if (now < this.#looked + this.#pause) return;
    this.#looked = now;
    await Promise.all(lists.map((list) => list.refresh(signal)));
  }
}
