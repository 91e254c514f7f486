import type { Clock } from "@causeway/foundation";

/** After work that took a time, nothing more is done for the same key for so many times that time. */
const REST = 4;

interface Turn<T> {
  /** The work under way has ended, and its rest is over. */
  readonly rested: Promise<void>;
  /** Work that begins then, for all that ask until it does. */
  next?: Promise<T>;
}

/**
 * Work for a key, of which one key gets a fifth of the time at most, however often it asks: one piece is under way at a
 * time, then it rests, and all callers of that time share the next piece. What is returned was begun after the
 * request for it.
 */
export function paced<T>(clock: Clock, work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const turns = new Map<string, Turn<T>>();
  const begin = (key: string): Promise<T> => {
    const begun = clock.now();
    const running = work(key);
    const rest = async (): Promise<void> => {
      await running.catch(() => undefined);
      await clock.sleep(REST * (clock.now() - begun));
      if (turn.next === undefined) turns.delete(key);
    };
    const turn: Turn<T> = { rested: Promise.resolve().then(rest) };
    turns.set(key, turn);
    return running;
  };
  return (key) => {
    const turn = turns.get(key);
    return turn === undefined ? begin(key) : (turn.next ??= turn.rested.then(() => begin(key)));
  };
}
