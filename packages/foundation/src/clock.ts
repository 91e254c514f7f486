/** Where time comes from. Instants are milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when it aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** What a timer of Node can wait at most, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The wall clock. Its sleeps do not keep a process alive past an abort. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(milliseconds, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const deadline = Date.now() + milliseconds;
      const wake = () => {
        const left = deadline - Date.now();
        if (left > 0) {
          timer = setTimeout(wake, Math.min(left, LONGEST_TIMER));
          return;
        }
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      let timer = setTimeout(wake, Math.min(milliseconds, LONGEST_TIMER));
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  },
};

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that only `advance` moves. Sleepers wake in the order of their deadlines. */
export class VirtualClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (milliseconds <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((s) => s !== sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        at: this.#now + milliseconds,
        wake: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Moves time forward, waking each sleeper at its own instant and letting its work run. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (;;) {
      const next = this.#sleepers.filter((s) => s.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#now = next.at;
      this.#sleepers = this.#sleepers.filter((s) => s !== next);
      next.wake();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#now = end;
  }
}
