import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Clock } from "@causeway/foundation";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that is stopped while anything is under way in this process, and then jumps to the next sleeper. */
export class DrivenClock implements Clock {
  #now = Date.now();
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (milliseconds <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const sleeper: Sleeper = { at: this.#now + milliseconds, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Moves to the next sleeper and wakes it, or to `end` if there is none before. */
  step(end: number): void {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (next === undefined || sleeper.at < next.at) next = sleeper;
    if (next === undefined || next.at > end) {
      this.#now = end;
      return;
    }
    this.#now = Math.max(this.#now, next.at);
    next.wake();
  }
}

interface Sent {
  readonly request: { readonly path?: string };
}

/** Requests of this process that have no answer yet; watches, which never have, are not counted. */
export class UnderWay {
  readonly #open = new Set<unknown>();
  readonly #begin = (message: unknown): void => {
    const { request } = message as Sent;
    if (request.path?.includes("watch=") !== true) this.#open.add(request);
  };
  readonly #end = (message: unknown): void => void this.#open.delete((message as Sent).request);

  constructor() {
    subscribe("undici:request:create", this.#begin);
    for (const name of ["undici:request:trailers", "undici:request:error"]) subscribe(name, this.#end);
  }

  /** Counts what needs no request as under way until it has ended. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#open.add(work);
    try {
      return await work;
    } finally {
      this.#open.delete(work);
    }
  }

  /** Resolves when nothing has been under way for a moment. */
  async settle(): Promise<void> {
    for (let still = 0; still < 4; still = this.#open.size > 0 ? 0 : still + 1) {
      await new Promise((done) => (this.#open.size > 0 ? setTimeout(done, 1) : setImmediate(done)));
    }
  }

  /** Lets so many milliseconds of the clock pass; nothing is under way when it resolves. */
  async pass(clock: DrivenClock, milliseconds: number): Promise<void> {
    const end = clock.now() + milliseconds;
    await this.settle();
    while (clock.now() < end) {
      clock.step(end);
      await this.settle();
    }
  }

  close(): void {
    unsubscribe("undici:request:create", this.#begin);
    for (const name of ["undici:request:trailers", "undici:request:error"]) unsubscribe(name, this.#end);
  }
}
