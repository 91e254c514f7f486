import { systemClock, type Clock } from "@causeway/foundation";

/** The wall clock, and what a test skips of it: who sleeps on it wakes as much earlier. */
export class SkippingClock implements Clock {
  #skipped = 0;
  #skip = new AbortController();

  now(): number {
    return systemClock.now() + this.#skipped;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const end = this.now() + milliseconds;
    for (let left = milliseconds; left > 0; left = end - this.now()) {
      const skip = this.#skip.signal;
      try {
        await systemClock.sleep(left, signal ? AbortSignal.any([signal, skip]) : skip);
      } catch (error) {
        if (signal?.aborted || !skip.aborted) throw error;
      }
    }
  }

  skip(milliseconds: number): void {
    this.#skipped += milliseconds;
    const skipped = this.#skip;
    this.#skip = new AbortController();
    skipped.abort();
  }
}
