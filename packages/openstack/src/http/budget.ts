import type { Clock } from "@causeway/foundation";
import type { ServicePause } from "../types/cloud.ts";

/** How many requests at a time and a second go to one cloud. */
export interface BudgetOptions {
  /** Calls a second in the long run. Default 20. */
  readonly rate?: number;
  /** Calls that may be made at once after a quiet time. Default 100. */
  readonly burst?: number;
  /** Calls under way at the same time. Default 16. */
  readonly inFlight?: number;
}

/** Milliseconds from the end of a pause within which another one continues it. */
const BETWEEN_PAUSES = 60_000;

interface Waiter {
  readonly admit: () => void;
}

/**
 * The limits of calls to one cloud: a token bucket and a number of calls in flight. Waiting calls queue in one lane per
 * lane (a service); the lanes take turns, so a long line at one service does not hold up the others.
 */
export class Budget {
  readonly #clock: Clock;
  readonly #rate: number;
  readonly #burst: number;
  readonly #limit: number;
  readonly #lanes = new Map<string, Waiter[]>();
  readonly #closed = new Map<string, ServicePause>();
  #tokens: number;
  #filledAt: number;
  #inFlight = 0;
  #timer: AbortController | undefined;

  constructor(clock: Clock, options: BudgetOptions = {}) {
    this.#clock = clock;
    this.#rate = options.rate ?? 20;
    this.#burst = options.burst ?? 100;
    this.#limit = options.inFlight ?? 16;
    this.#tokens = this.#burst;
    this.#filledAt = clock.now();
  }

  /** Waits for a turn. The function it gives must be called once, when the call is over. */
  async enter(lane: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#leaveLine(lane, waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        admit: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      const line = this.#lanes.get(lane);
      if (line) line.push(waiter);
      else this.#lanes.set(lane, [waiter]);
      this.#admit();
    });
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#inFlight--;
      this.#admit();
    };
  }

  /** Admits no call of this lane for so many milliseconds: the service sent Retry-After. */
  pause(lane: string, milliseconds: number, isUnavailable = false): void {
    const now = this.#clock.now();
    const before = this.#closed.get(lane);
    const until = Math.max(now + milliseconds, before?.until ?? 0);
    const continues = before !== undefined && before.until + BETWEEN_PAUSES >= now;
    this.#closed.set(lane, { until, since: continues ? before.since : now, isUnavailable });
  }

  /** A call of this lane has succeeded: a later pause does not continue the last one. */
  succeeded(lane: string): void {
    if (this.#until(lane) <= this.#clock.now()) this.#closed.delete(lane);
  }

  /** The longest pause in which one of these lanes admits no call; undefined: all of them do now. */
  pauseOf(lanes: readonly string[]): ServicePause | undefined {
    const now = this.#clock.now();
    return lanes
      .flatMap((lane) => this.#closed.get(lane) ?? [])
      .filter(({ until }) => until > now)
      .toSorted((one, other) => other.until - one.until)[0];
  }

  #until(lane: string): number {
    return this.#closed.get(lane)?.until ?? 0;
  }

  #leaveLine(lane: string, waiter: Waiter): void {
    const line = (this.#lanes.get(lane) ?? []).filter((w) => w !== waiter);
    if (line.length === 0) this.#lanes.delete(lane);
    else this.#lanes.set(lane, line);
  }

  #admit(): void {
    this.#fill();
    while (this.#inFlight < this.#limit && this.#tokens >= 1) {
      const lane = this.#nextLane();
      if (lane === undefined) break;
      const line = this.#lanes.get(lane) ?? [];
      const waiter = line.shift();
      this.#lanes.delete(lane); // and to the end of the turn, if a request is left in it
      if (line.length > 0) this.#lanes.set(lane, line);
      this.#tokens--;
      this.#inFlight++;
      waiter?.admit();
    }
    this.#wakeLater();
  }

  #nextLane(): string | undefined {
    const now = this.#clock.now();
    for (const lane of this.#lanes.keys()) {
      if (this.#until(lane) <= now) return lane;
    }
    return undefined;
  }

  #fill(): void {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (Math.max(0, now - this.#filledAt) / 1000) * this.#rate);
    this.#filledAt = now;
  }

  /** A call waits for time to pass, not for another call to end: wake up when it has passed. */
  #wakeLater(): void {
    this.#timer?.abort();
    this.#timer = undefined;
    if (this.#lanes.size === 0 || this.#inFlight >= this.#limit) return;
    const now = this.#clock.now();
    const opens = [...this.#lanes.keys()].map((lane) => Math.max(0, this.#until(lane) - now));
    const token = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.#rate) * 1000;
    const timer = new AbortController();
    this.#timer = timer;
    this.#clock.sleep(Math.max(1, Math.ceil(token), Math.min(...opens)), timer.signal).then(
      () => this.#admit(),
      () => {},
    );
  }
}
