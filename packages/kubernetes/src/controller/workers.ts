import type { Clock } from "@causeway/foundation";
import type { ObjectKey } from "../types/meta.ts";
import { noTurn, type Turn, type Turns } from "./turns.ts";
import type { WorkQueue } from "./work-queue.ts";

/** What workers share. */
export interface Shift {
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly turns: Turns | undefined;
  /** Works on one key; never throws. */
  readonly reconcile: (key: ObjectKey) => Promise<void>;
}

/** Milliseconds of work on a key after which another worker begins in place of the one that waits. */
const SLOW_AFTER = 5_000;
/** For each worker, how many more may wait for slow parties. */
const WAITING = 4;

/**
 * Works on keys until the queue is closed and the work is done, on as many at once as `concurrency` says, but for those
 * that take long. What waits for the next key is one taker, however many keys may be worked on.
 */
export function runWorkers(shift: Shift, concurrency: number): Promise<void> {
  return new Promise((resolve, reject) => {
    takeKeys(shift, new Work(concurrency, reject)).then(resolve, reject);
  });
}

async function takeKeys(shift: Shift, work: Work): Promise<void> {
  const { queue } = shift;
  for (;;) {
    await work.untilRoom();
    const key = await queue.take();
    if (key === undefined) return work.ended();
    const turn = shift.turns ? shift.turns.enter(key) : noTurn;
    if (turn) work.begin((place) => workOn(key, { ...shift, turn, place }));
    else queue.done(key);
  }
}

/** What is under way for one key. */
interface Place {
  /** Another key may be worked on meanwhile, unless too many are slow. */
  slow(): void;
}

async function workOn(key: ObjectKey, shift: Shift & { readonly turn: Turn; readonly place: Place }): Promise<void> {
  const { queue, clock, turns, turn, place, reconcile } = shift;
  const ended = new AbortController();
  if (turns)
    void clock.sleep(SLOW_AFTER, ended.signal).then(
      () => {
        if (ended.signal.aborted) return;
        turn.slow();
        place.slow();
      },
      () => {},
    );
  try {
    await reconcile(key);
  } finally {
    // A reason: an exception with its stack would be made for each reconcile.
    ended.abort("done");
    queue.done(key);
    for (const next of turn.end()) queue.add(next);
  }
}

/** Counts what is under way. */
class Work {
  readonly #concurrency: number;
  /** All that is under way, and of that what is not slow. */
  #all = 0;
  #busy = 0;
  readonly #failed: (reason: unknown) => void;
  /** Called at each change. */
  #changed: (() => void) | undefined;

  constructor(concurrency: number, failed: (reason: unknown) => void) {
    this.#concurrency = concurrency;
    this.#failed = failed;
  }

  begin(work: (place: Place) => Promise<void>): void {
    this.#all += 1;
    this.#busy += 1;
    let isBusy = true;
    const leave = (): void => {
      if (isBusy) this.#busy -= 1;
      isBusy = false;
    };
    const slow = (): void => {
      if (this.#all >= this.#concurrency * (1 + WAITING)) return;
      leave();
      this.#changed?.();
    };
    work({ slow })
      .catch(this.#failed)
      .finally(() => {
        leave();
        this.#all -= 1;
        this.#changed?.();
      });
  }

  untilRoom(): Promise<void> {
    return this.#until(() => this.#busy < this.#concurrency);
  }

  ended(): Promise<void> {
    return this.#until(() => this.#all === 0);
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds())
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
  }
}
