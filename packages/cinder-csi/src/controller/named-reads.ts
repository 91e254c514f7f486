import { unlessAborted, type Clock } from "@causeway/foundation";

interface Reader<T> {
  readonly name: string;
  readonly resolve: (objects: readonly T[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** How objects are read by their name, or all at once. */
export interface NamedReadsOptions<T> {
  readonly clock: Clock;
  /** Those of one name. */
  readonly one: (name: string) => Promise<readonly T[]>;
  readonly all: () => Promise<readonly T[]>;
  /** How many calls a list of all costs; default 1. So many names are read one by one instead. */
  readonly pages?: () => number;
}

/** Milliseconds between the begins of two reads at least: what is requested meanwhile shares the second. */
export const APART = 250;

/**
 * Reads the objects of a name. A call alone requests those of its name; calls that wait at the same time share one list
 * of all. Every result was read after its call.
 */
export class NamedReads<T extends { readonly name: string | null }> {
  readonly #options: NamedReadsOptions<T>;
  #waiting: Reader<T>[] = [];
  #isRunning = false;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(options: NamedReadsOptions<T>) {
    this.#options = options;
  }

  named(name: string, signal: AbortSignal): Promise<readonly T[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly T[]>();
    // When its caller has left, no caller receives the error.
    promise.catch(() => {});
    this.#waiting.push({ name, resolve, reject });
    void this.#run();
    return unlessAborted(promise, signal);
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { clock } = this.#options;
    while (this.#waiting.length > 0) {
      const wait = this.#begunAt + APART - clock.now();
      if (wait > 0) await clock.sleep(wait);
      const readers = this.#waiting.splice(0);
      this.#begunAt = clock.now();
      await this.#read(readers);
    }
    this.#isRunning = false;
  }

  async #read(readers: readonly Reader<T>[]): Promise<void> {
    const { one, all, pages = () => 1 } = this.#options;
    const names = new Set(readers.map(({ name }) => name));
    const answer = async (own: readonly Reader<T>[], read: () => Promise<readonly T[]>): Promise<void> => {
      try {
        const found = Map.groupBy(await read(), ({ name }) => name);
        for (const reader of own) reader.resolve(found.get(reader.name) ?? []);
      } catch (error) {
        for (const reader of own) reader.reject(error);
      }
    };
    if (names.size > Math.max(1, pages())) return answer(readers, all);
    const ownOf = (name: string) => readers.filter((reader) => reader.name === name);
    await Promise.all([...names].map((name) => answer(ownOf(name), () => one(name))));
  }
}
