import type { Clock } from "@causeway/foundation";

/** Milliseconds between two rounds. */
const ROUND = 5_000;

/** Control planes that a watchdog checks, and what it remembers of them. */
export interface Rounds<Item extends { readonly id: string }, Entry extends { readonly due: number }> {
  readonly items: () => readonly Item[];
  /** By the IDs of items; those of items that are gone are deleted. */
  readonly known: Map<string, Entry>;
  /** What is remembered of an item from now on. */
  readonly entryOf: (item: Item, known: Entry | undefined) => Entry;
  /** Never throws. It says by `due` when the next check is (ms since epoch). */
  readonly check: (item: Item, entry: Entry, signal: AbortSignal) => Promise<void>;
  /** Checks at a time. */
  readonly atOnce: number;
  readonly clock: Clock;
}

/** Checks what is due, round by round, until the signal aborts. */
export async function runRounds<Item extends { readonly id: string }, Entry extends { readonly due: number }>(
  { items, known, entryOf, check, atOnce, clock }: Rounds<Item, Entry>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const all = items().map((item) => ({ item, entry: entryOf(item, known.get(item.id)) }));
    known.clear();
    for (const { item, entry } of all) known.set(item.id, entry);
    const due = all.filter(({ entry }) => entry.due <= clock.now());
    for (let i = 0; i < due.length && !signal.aborted; i += atOnce)
      await Promise.all(due.slice(i, i + atOnce).map(({ item, entry }) => check(item, entry, signal)));
    await clock.sleep(ROUND, signal).catch(() => {});
  }
}

/** Aborts with the message after so many milliseconds, unless the check has `ended` before. */
export function timeLimit(
  clock: Clock,
  { milliseconds, message }: { readonly milliseconds: number; readonly message: string },
  ended: AbortSignal,
): AbortSignal {
  const over = new AbortController();
  void clock.sleep(milliseconds, ended).then(
    () => over.abort(new Error(message)),
    () => {},
  );
  return over.signal;
}
