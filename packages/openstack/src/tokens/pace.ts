import type { Clock } from "@causeway/foundation";

/**
 * So many a second in the long run, and as many at once after a quiet second. What comes too soon is not made later.
 */
export class Pace {
  readonly #perSecond: number;
  readonly #clock: Pick<Clock, "now">;
  #left: number;
  #filledAt: number;

  constructor(perSecond: number, clock: Pick<Clock, "now">) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#left = perSecond;
    this.#filledAt = clock.now();
  }

  /** Whether there is one left; it is used up then. */
  take(): boolean {
    const now = this.#clock.now();
    this.#left = Math.min(this.#perSecond, this.#left + (Math.max(0, now - this.#filledAt) * this.#perSecond) / 1_000);
    this.#filledAt = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
