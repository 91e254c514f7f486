import type { Clock } from "@causeway/foundation";
import { messageOf } from "@causeway/foundation";
import type { Timers, Table } from "./interface.ts";

/** One thing to do later. */
export interface TimerEntry {
  readonly id: string;
  readonly at: number;
  readonly sequence: number;
  readonly handler: string;
  readonly argument: string;
}

/** What the timers run on. Entries are rows of `table`, so that they outlast a restart. */
export interface TimerOptions {
  readonly clock: Clock;
  readonly table: Table<TimerEntry>;
  /** Called after handlers ran, so that what they did is kept. */
  readonly flush: () => void;
}

/**
 * Runs entries at their instants, in order, from one sleep on the clock. Nothing runs before `start`, so that every
 * handler of a restored state is known; entries that came due while the cloud was down run then.
 */
export class StoredTimers implements Timers {
  /** Why handlers failed: defects of a service, kept for people to see. */
  readonly failures: string[] = [];
  readonly #options: TimerOptions;
  readonly #handlers = new Map<string, (argument: string) => void>();
  #sequence: number;
  #running = false;
  #sleep: { readonly at: number; readonly abort: AbortController } | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(options: TimerOptions) {
    this.#options = options;
    this.#sequence = Math.max(0, ...options.table.all().map((entry) => entry.sequence));
  }

  handler(name: string, run: (argument: string) => void): void {
    this.#handlers.set(name, run);
  }

  after(milliseconds: number, handler: string, argument: string): void {
    const sequence = ++this.#sequence;
    const at = this.#options.clock.now() + Math.max(0, milliseconds);
    this.#options.table.insert({ id: String(sequence), at, sequence, handler, argument });
    if (this.#running) this.#schedule(at);
  }

  start(): void {
    this.#running = true;
    this.#next();
  }

  /** To be called when entries or the clock were changed by other hands. */
  wake(): void {
    this.#sequence = Math.max(this.#sequence, ...this.#options.table.all().map((entry) => entry.sequence));
    this.#sleep?.abort.abort();
    this.#sleep = undefined;
    this.#next();
  }

  stop(): void {
    this.#running = false;
    this.#sleep?.abort.abort();
    this.#sleep = undefined;
    if (this.#turn) clearImmediate(this.#turn);
    this.#turn = undefined;
  }

  #next(): void {
    let first = Infinity;
    for (const entry of this.#options.table.all()) first = Math.min(first, entry.at);
    if (this.#running && first < Infinity) this.#schedule(first);
  }

  #schedule(at: number): void {
    const wait = at - this.#options.clock.now();
    if (wait <= 0) {
      this.#turn ??= setImmediate(() => this.#drain());
      return;
    }
    if (this.#sleep && this.#sleep.at <= at) return;
    this.#sleep?.abort.abort();
    const abort = new AbortController();
    this.#sleep = { at, abort };
    this.#options.clock.sleep(wait, abort.signal).then(
      () => this.#drain(),
      () => {},
    );
  }

  #drain(): void {
    this.#turn = undefined;
    if (!this.#running) return;
    const now = this.#options.clock.now();
    if (this.#sleep && this.#sleep.at <= now) this.#sleep = undefined;
    const due = this.#options.table.all().filter((entry) => entry.at <= now);
    for (const entry of due.sort((a, b) => a.at - b.at || a.sequence - b.sequence)) this.#run(entry);
    this.#options.flush();
    this.#next();
  }

  #run(entry: TimerEntry): void {
    // A clearing in an earlier handler of the same turn may have removed this entry.
    if (!this.#options.table.get(entry.id)) return;
    this.#options.table.remove(entry.id);
    try {
      const run = this.#handlers.get(entry.handler);
      if (!run) throw new TypeError(`no handler ${entry.handler}`);
      run(entry.argument);
    } catch (error) {
      const failure = `${entry.handler}(${entry.argument}): ${messageOf(error)}`;
      this.failures.push(failure);
      process.emitWarning(`simulator: ${failure}`);
    }
  }
}
