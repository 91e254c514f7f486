import type { Clock } from "@causeway/foundation";

/**
 * A clock that goes as another does, and can be put forward. Sleeps are of the other: who waits for an instant checks
 * again after `advance`.
 */
export class MovableClock implements Clock {
  readonly #base: Clock;
  #ahead = 0;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): number {
    return this.#base.now() + this.#ahead;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#base.sleep(milliseconds, signal);
  }

  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }
}
