import { createHash } from "node:crypto";
import type { Clock, Metrics } from "@causeway/foundation";
import { idOf } from "../cache/store.ts";
import type { ObjectKey } from "../types/meta.ts";

/** So often (each within `again` of the one before) the same step may be performed before it is held back. */
const FREE = 3;
/**
 * Milliseconds: holds of a step that does not converge, and of one that was refused; each is twice as long as the one
 * before.
 */
const FIRST_HOLD = 1_000;
const FIRST_REFUSAL_HOLD = 5_000;
const LAST_HOLD = 300_000;
/** A step that comes back later than this (ms) after it was performed, or after its hold ended, is another matter. */
const AGAIN = 60_000;
/** Steps remembered of one key. */
const REMEMBERED = 1_000;

/** What is known of one step of one key that did not settle what it was to settle. */
interface Trial {
  readonly performed: number;
  readonly refused: number;
  /** Milliseconds since the epoch: not performed again before. */
  readonly until: number;
  readonly last: number;
  readonly error?: unknown;
}

/** When a step that does not settle is held back, and for how long. */
export interface BrakeOptions {
  readonly clock: Clock;
  /** Of the controller, in its metric. */
  readonly name?: string;
  readonly metrics?: Metrics;
}

/** A step that is held back until an instant (milliseconds since the epoch). */
export interface Hold {
  readonly until: number;
  /** Why the step was refused; undefined: it was performed, and is planned all the same. */
  readonly error?: unknown;
}

/**
 * Holds back steps that are planned again and again: a step that was performed more than three times, each within a
 * minute of the one before, or that was refused, waits ever longer (1 s or 5 s, doubling, 5 min at most). Another step
 * is not held: a plan that changes continues at once. What converged is forgotten. Steps are compared by their content,
 * without resource versions.
 */
export class Brake {
  readonly #clock: Clock;
  readonly #count: () => void;
  readonly #trials = new Map<string, Map<string, Trial>>();
  readonly #epochs = new Map<string, string>();
  /** Of steps that were compared: each is, when it is planned, performed and noted. */
  readonly #signatures = new WeakMap<object, string>();

  constructor({ clock, metrics, name = "" }: BrakeOptions) {
    this.#clock = clock;
    const counter = metrics?.counter({
      name: "controller_runtime_reconcile_nonconverging_total",
      help: "Steps that were performed again although the same steps before did not settle the observed state",
      labels: ["controller"],
    });
    this.#count = () => counter?.increment({ controller: name });
  }

  /** Until when the step waits; undefined: it does not. */
  holdOf(key: ObjectKey, step: unknown): Hold | undefined {
    const trials = this.#trials.get(idOf(key));
    const trial = trials?.get(this.#signatureOf(step));
    if (!trial || trial.until <= this.#clock.now()) return undefined;
    return { until: trial.until, ...(trial.error === undefined ? {} : { error: trial.error }) };
  }

  /** The step was performed. How often, if it is held back from now on. `first`: it was not before. */
  performed(
    key: ObjectKey,
    step: unknown,
  ): { readonly times: number; readonly first: boolean; until: number } | undefined {
    const before = this.#recent(key, step);
    const performed = (before?.performed ?? 0) + 1;
    const over = performed - FREE;
    const now = this.#clock.now();
    const until = over > 0 ? now + holdFor(FIRST_HOLD, over) : now;
    this.#put(key, step, { performed, refused: 0, until, last: now });
    if (over <= 0) return undefined;
    this.#count();
    return { times: performed, first: over === 1, until };
  }

  /** The step was refused for what it is: the same again will be refused again. */
  refused(key: ObjectKey, step: unknown, error: unknown): void {
    const before = this.#recent(key, step);
    const refused = (before?.refused ?? 0) + 1;
    const now = this.#clock.now();
    const until = now + holdFor(FIRST_REFUSAL_HOLD, refused);
    this.#put(key, step, { performed: before?.performed ?? 0, refused, until, last: now, error });
  }

  /** Nothing is to be done and nothing is waited for; or the object is gone. */
  forget(key: ObjectKey): void {
    this.#trials.delete(idOf(key));
    this.#epochs.delete(idOf(key));
  }

  /** Only steps that are held back are left to do: what was performed before, and is not planned again, has settled. */
  forgetSettled(key: ObjectKey): void {
    const trials = this.#trials.get(idOf(key));
    const now = this.#clock.now();
    for (const [signature, { until }] of trials ?? []) if (until <= now) trials?.delete(signature);
  }

  /** What the object asks for, as a text: when it changes, every step may be tried again. */
  begin(key: ObjectKey, epoch: string): void {
    const id = idOf(key);
    if (this.#epochs.get(id) === epoch) return;
    this.#trials.delete(id);
    this.#epochs.set(id, epoch);
  }

  #recent(key: ObjectKey, step: unknown): Trial | undefined {
    const trial = this.#trials.get(idOf(key))?.get(this.#signatureOf(step));
    return trial && this.#isRecent(trial) ? trial : undefined;
  }

  #signatureOf(step: unknown): string {
    if (typeof step !== "object" || step === null) return signatureOf(step);
    return this.#signatures.getOrInsertComputed(step, signatureOf);
  }

  #isRecent({ last, until }: Trial): boolean {
    return this.#clock.now() - Math.max(last, until) <= AGAIN;
  }

  #put(key: ObjectKey, step: unknown, trial: Trial): void {
    const id = idOf(key);
    const trials = this.#trials.get(id) ?? new Map<string, Trial>();
    const signature = this.#signatureOf(step);
    trials.delete(signature);
    trials.set(signature, trial);
    // Oldest first: a map keeps the order in which its entries came.
    for (const [old, { ...past }] of trials) {
      if (trials.size <= REMEMBERED && this.#isRecent(past)) break;
      trials.delete(old);
    }
    this.#trials.set(id, trials);
  }
}

function holdFor(first: number, times: number): number {
  return Math.min(LAST_HOLD, first * 2 ** Math.min(times - 1, 30));
}

/**
 * Locks are new with each attempt, and `more` says only whether another step follows: neither makes another step of it.
 */
function signatureOf(step: unknown): string {
  const text = JSON.stringify(step, (name, value: unknown) =>
    name === "resourceVersion" || (name === "more" && value === true)
      ? undefined
      : typeof value === "bigint"
        ? String(value)
        : value,
  );
  return createHash("sha256").update(text).digest("base64");
}
