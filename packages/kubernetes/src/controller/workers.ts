import type { Clock } from "@causeway/foundation";
import type { ObjectKey } from "../types/meta.ts";
import { noTurn, type Turns } from "./turns.ts";
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

/** Works on keys until the queue is closed, as many at once as `concurrency` says, but for those that take long. */
export function runWorkers(shift: Shift, concurrency: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let running = 0;
    const start = (): void => {
      running += 1;
      worker(shift, replace).then(() => {
        running -= 1;
        if (running === 0) resolve();
      }, reject);
    };
    const replace = (): boolean => {
      if (running >= concurrency * (1 + WAITING)) return false;
      start();
      return true;
    };
    for (let at = 0; at < concurrency; at++) start();
  });
}

/** Ends when the queue is closed, or once it was replaced and its work is done. */
async function worker({ queue, clock, turns, reconcile }: Shift, replace: () => boolean): Promise<void> {
  let isReplaced = false;
  while (!isReplaced) {
    const key = await queue.take();
    if (key === undefined) return;
    const turn = turns ? turns.enter(key) : noTurn;
    if (!turn) {
      queue.done(key);
      continue;
    }
    const ended = new AbortController();
    if (turns)
      void clock.sleep(SLOW_AFTER, ended.signal).then(
        () => {
          if (ended.signal.aborted) return;
          turn.slow();
          isReplaced = replace();
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
}
