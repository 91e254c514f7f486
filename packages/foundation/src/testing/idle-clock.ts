import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Clock } from "../clock.ts";

interface Sleeper {
  readonly at: number;
  readonly sequence: number;
  readonly wake: () => void;
}

/** Turns of the event loop without a new sleeper or request after which the process is idle. */
const QUIET = 40;
/** Turns after which the clock moves although a request has no response yet: the server sleeps on this clock. */
const PATIENT = 4_000;

/**
 * A clock that moves to the instant of its next sleeper when the process is idle: no request of undici and no stream of
 * a Kubernetes client is under way, and nothing happens in many turns of the event loop. How fast the machine is has no
 * influence, and a wait of an hour takes no time. All that a test waits for has to run in its process and on this
 * clock.
 *
 * @example
 * const clock = new IdleClock();
 * await clock.sleep(600_000);
 * clock.close();
 */
export class IdleClock implements Clock {
  #now: number;
  #sequence = 0;
  #sleepers: Sleeper[] = [];
  #activity = 0;
  readonly #requests = new Set<unknown>();
  #turn: NodeJS.Immediate | undefined;

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
    for (const name of BEGINNINGS) subscribe(name, this.#begin);
    for (const name of ENDS) subscribe(name, this.#end);
  }

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.#activity += 1;
    if (milliseconds <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#activity += 1;
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const sleeper = { at: this.#now + milliseconds, sequence: (this.#sequence += 1), wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#turn ??= setImmediate(() => this.#watch(this.#activity, 0));
    });
  }

  /** Sleepers that remain never wake. */
  close(): void {
    if (this.#turn) clearImmediate(this.#turn);
    this.#sleepers = [];
    for (const name of BEGINNINGS) unsubscribe(name, this.#begin);
    for (const name of ENDS) unsubscribe(name, this.#end);
  }

  #watch(activity: number, quiet: number): void {
    this.#turn = undefined;
    if (this.#sleepers.length === 0) return;
    const isIdle = quiet >= (this.#requests.size > 0 ? PATIENT : QUIET);
    if (isIdle) this.#wakeNext();
    const next = isIdle || activity !== this.#activity ? 0 : quiet + 1;
    const seen = this.#activity;
    this.#turn = setImmediate(() => this.#watch(seen, next));
  }

  #wakeNext(): void {
    const next = this.#sleepers.reduce((first, each) =>
      each.at < first.at || (each.at === first.at && each.sequence < first.sequence) ? each : first,
    );
    this.#now = Math.max(this.#now, next.at);
    this.#sleepers = this.#sleepers.filter((each) => each !== next);
    next.wake();
  }

  readonly #begin = (message: unknown): void => {
    this.#activity += 1;
    this.#requests.add((message as { readonly request: unknown }).request);
  };

  readonly #end = (message: unknown): void => {
    this.#activity += 1;
    this.#requests.delete((message as { readonly request: unknown }).request);
  };
}

const BEGINNINGS = ["undici:request:create", "causeway:stream:begin"];
const ENDS = ["undici:request:trailers", "undici:request:error", "causeway:stream:end"];
