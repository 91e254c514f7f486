import { CausewayError, unlessAborted, type Clock } from "@causeway/foundation";

/** How the objects of one project are read. */
export interface Reader<T> {
  one(id: string, signal: AbortSignal): Promise<T | undefined>;
  all(signal: AbortSignal): Promise<readonly T[]>;
}

/** How long a state is waited for. */
export interface WaitOptions {
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
}

interface PendingWait<T> {
  readonly id: string;
  readonly since: number;
  readonly isDone: (object: T | undefined) => boolean;
  readonly finish: (object: T | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** Milliseconds between two reads: a quarter of how long the youngest has waited, within these bounds. */
const FASTEST = 1_000;
const SLOWEST = 5_000;

/**
 * Waits for the states of objects that change by themselves. While one object is waited for it is read by its ID;
 * several cost one list together. Nothing is read while there is nothing to wait for.
 */
export class Waiter<T extends { readonly id: string }> {
  readonly #reader: Reader<T>;
  readonly #clock: Clock;
  readonly #waiting = new Set<PendingWait<T>>();
  #running: AbortController | undefined;

  constructor(reader: Reader<T>, clock: Clock) {
    this.#reader = reader;
    this.#clock = clock;
  }

  /** The object once it satisfies the condition; undefined: it is gone. Throws CSI_DEADLINE_EXCEEDED. */
  async until(
    id: string,
    isDone: (object: T | undefined) => boolean,
    { signal, timeout }: WaitOptions,
  ): Promise<T | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    const waiting = { id, since: this.#clock.now(), isDone, finish: resolve, fail: reject };
    const limit = new AbortController();
    this.#waiting.add(waiting);
    if (this.#running === undefined) void this.#run();
    const late = this.#clock.sleep(timeout, limit.signal).then(
      () => reject(new CausewayError("CSI_DEADLINE_EXCEEDED", `${id} did not reach the expected status in time.`)),
      () => {},
    );
    try {
      return await unlessAborted(promise, signal);
    } finally {
      this.#waiting.delete(waiting);
      if (this.#waiting.size === 0) this.#running?.abort();
      limit.abort();
      await late;
    }
  }

  async #run(): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    try {
      while (this.#waiting.size > 0) {
        await this.#clock.sleep(this.#pause(), running.signal);
        await this.#poll(running.signal);
      }
    } catch (error) {
      if (!running.signal.aborted) for (const { fail } of this.#waiting) fail(error);
    } finally {
      if (this.#running === running) this.#running = undefined;
      // One that came while the last reading ended has no loop yet.
      if (this.#waiting.size > 0 && this.#running === undefined) void this.#run();
    }
  }

  #pause(): number {
    const youngest = Math.max(...[...this.#waiting].map(({ since }) => since));
    return Math.min(SLOWEST, Math.max(FASTEST, (this.#clock.now() - youngest) / 4));
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const asked = [...this.#waiting];
    const ids = new Set(asked.map(({ id }) => id));
    const [only] = ids;
    if (only === undefined) return;
    const found = new Map<string, T>();
    if (ids.size === 1) {
      const object = await this.#reader.one(only, signal);
      if (object) found.set(only, object);
    } else {
      for (const object of await this.#reader.all(signal)) found.set(object.id, object);
    }
    for (const { id, isDone, finish } of asked) if (isDone(found.get(id))) finish(found.get(id));
  }
}
