import type { Clock } from "@causeway/foundation";

interface Sleeper {
  readonly at: number;
  readonly order: number;
  wake: (() => void) | undefined;
}

/**
 * A clock that moves to its next sleeper once nothing else is left to do. All that runs on it waits for nothing but it:
 * hours with millions of sleeps take seconds. Sleepers are in a binary heap.
 */
export class EventClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  #order = 0;
  readonly #heap: Sleeper[] = [];

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const sleeper: Sleeper = { at: this.#now + Math.max(0, milliseconds), order: this.#order++, wake: undefined };
      const onAbort = () => {
        sleeper.wake = undefined;
        reject(signal?.reason);
      };
      sleeper.wake = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#push(sleeper);
    });
  }

  /** Runs for so long, or until the condition holds, which is checked after each instant. */
  async run(milliseconds: number, until: () => boolean = () => false): Promise<void> {
    const end = this.#now + milliseconds;
    await settled();
    while (!until()) {
      const next = this.#heap[0];
      if (!next || next.at > end) break;
      this.#now = next.at;
      // All of one instant at once: they do not depend on each other's order.
      while (this.#heap[0]?.at === this.#now) this.#pop()?.wake?.();
      await settled();
    }
    if (!until()) this.#now = end;
  }

  #push(sleeper: Sleeper): void {
    const heap = this.#heap;
    let place = heap.push(sleeper) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(sleeper, heap[parent])) break;
      heap[place] = heap[parent] as Sleeper;
      place = parent;
    }
    heap[place] = sleeper;
  }

  #pop(): Sleeper | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!last || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Sleeper, heap[child])) child++;
      if (!isBefore(heap[child] as Sleeper, last)) break;
      heap[place] = heap[child] as Sleeper;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}

function isBefore(a: Sleeper, b: Sleeper | undefined): boolean {
  return b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order));
}

/** Promises only: one turn of the event loop ends after all of them. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
