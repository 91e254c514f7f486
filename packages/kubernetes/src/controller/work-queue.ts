import { backoff, systemClock, type Backoff, type Clock } from "@causeway/foundation";
import { idOf } from "../cache/store.ts";
import type { ObjectKey } from "../types/meta.ts";
import { queueMeasures, type MeasuredQueue, type QueueMeasures } from "./queue-measures.ts";

/** The back-off of keys that failed. */
export interface WorkQueueOptions {
  readonly clock?: Clock;
  readonly measured?: MeasuredQueue;
  readonly retries?: RetryRate;
  /** Between 0 and 1, for the jitter. */
  readonly random?: () => number;
}

/** How often all failed keys of a queue together are tried again. */
export interface RetryRate {
  readonly perSecond: number;
  /** So many at once before. */
  readonly burst: number;
}

const FIRST_DELAY = 5;
const LAST_DELAY = 60_000;
/**
 * From so many failures on, events do not cut the back-off short: a failing reconcile that writes its failure into
 * the status causes an event itself, and would run without a pause.
 */
const HURRIED = 3;
const HURRY_DELAY = 1_000;

/**
 * Keys to reconcile. A key waits in it once however often it is added; it is handed out to one worker at a time, and
 * again afterwards if it was added meanwhile. Handing a key out also forgets when it was to be reconciled later.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #delayAfter: Backoff;
  readonly #ready = new Map<string, ObjectKey>();
  readonly #working = new Set<string>();
  readonly #again = new Map<string, ObjectKey>();
  readonly #later = new Map<string, { at: number; cancel: AbortController }>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: ObjectKey | undefined) => void)[] = [];
  readonly #measures: QueueMeasures;
  readonly #retries: RetryRate | undefined;
  /** When the retry that was planned last is due by the rate. */
  #retryDue = -Infinity;
  #closed = false;

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#measures = queueMeasures(options.measured, this.#clock);
    this.#retries = options.retries;
    this.#delayAfter = backoff({ base: FIRST_DELAY, cap: LAST_DELAY, random: options.random ?? Math.random });
  }

  /** Keys ready to be handed out. */
  get length(): number {
    return this.#ready.size;
  }

  /**
   * Adds the key at once, or in `milliseconds`; but one that fails again and again is not hurried beyond once a second.
   */
  add(key: ObjectKey, milliseconds = 0): void {
    this.addAfter(key, this.failures(key) >= HURRIED ? Math.max(HURRY_DELAY, milliseconds) : milliseconds);
  }

  /** Adds the key in `milliseconds`, or earlier if an earlier instant is set already. */
  addAfter(key: ObjectKey, milliseconds: number): void {
    if (this.#closed) return;
    if (milliseconds <= 0) return this.#enqueue(key);
    const id = idOf(key);
    const at = this.#clock.now() + milliseconds;
    const waiting = this.#later.get(id);
    if (waiting && waiting.at <= at) return;
    this.#forgetLater(id);
    const cancel = new AbortController();
    this.#later.set(id, { at, cancel });
    this.#clock.sleep(milliseconds, cancel.signal).then(
      () => {
        if (this.#later.get(id)?.cancel !== cancel) return;
        this.#later.delete(id);
        this.#enqueue(key);
      },
      () => {},
    );
  }

  /**
   * Adds the key after a delay that doubles with each failure since `forget`: 5 ms … 60 s, jittered; longer where the
   * rate of retries demands it, unless the key only lost a race. Returns the delay.
   */
  addRateLimited(key: ObjectKey, isRace = false): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(idOf(key), failures);
    const delay = Math.max(this.#delayAfter(failures), isRace ? 0 : this.#untilRate());
    this.#measures.retried();
    this.addAfter(key, delay);
    return delay;
  }

  /** The key did not fail: its next failure is its first. */
  forget(key: ObjectKey): void {
    this.#failures.delete(idOf(key));
  }

  failures(key: ObjectKey): number {
    return this.#failures.get(idOf(key)) ?? 0;
  }

  /** The next key; undefined once the queue is closed. Each returned key must be given back with `done`. */
  take(): Promise<ObjectKey | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  done(key: ObjectKey): void {
    const id = idOf(key);
    this.#working.delete(id);
    this.#measures.done(id);
    const again = this.#again.get(id);
    this.#again.delete(id);
    if (again) this.add(again);
  }

  /** Drops what waits and lets the takers go. */
  close(): void {
    this.#closed = true;
    this.#measures.close();
    this.#ready.clear();
    this.#again.clear();
    for (const id of this.#later.keys()) this.#forgetLater(id);
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  /** Milliseconds until one more retry is within the rate; takes it. */
  #untilRate(): number {
    if (!this.#retries) return 0;
    const { perSecond, burst } = this.#retries;
    const now = this.#clock.now();
    const each = 1_000 / perSecond;
    this.#retryDue = Math.max(this.#retryDue, now - burst * each) + each;
    return Math.max(0, this.#retryDue - now);
  }

  #enqueue(key: ObjectKey): void {
    if (this.#closed) return;
    const id = idOf(key);
    if (this.#working.has(id)) {
      this.#again.set(id, key);
      return;
    }
    this.#ready.set(id, key);
    this.#measures.added(id);
    this.#handOut();
  }

  #handOut(): void {
    for (const [id, key] of this.#ready) {
      const taker = this.#takers.shift();
      if (!taker) return;
      this.#ready.delete(id);
      this.#working.add(id);
      this.#measures.taken(id);
      this.#forgetLater(id);
      taker(key);
    }
  }

  #forgetLater(id: string): void {
    this.#later.get(id)?.cancel.abort("another instant");
    this.#later.delete(id);
  }
}
