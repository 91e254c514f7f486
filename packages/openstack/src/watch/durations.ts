/** Transitions of one kind and size that are remembered. */
const REMEMBERED = 5;
/** Sizes of one kind that are remembered. */
const SIZES = 16;
/** From so many on, the shortest of them is not believed: one that was over before it was seen must not make all others be looked at early. */
const SEVERAL = 3;
/** What is expected is a little less than what was seen, so that it shortens again when the cloud becomes faster. */
const SHARE = 0.97;

/** What is under way: changes of one kind whose length grows with their size, or does not. */
export interface Transition {
  readonly kind: string;
  /** In any unit; at least 1. */
  readonly size: number;
}

/** Milliseconds that a transition is expected to take. */
export interface Expected {
  readonly atLeast: number;
  /** If it is as slow as it may be. */
  readonly atMost: number;
}

interface Seen {
  readonly size: number;
  readonly times: readonly number[];
}

/** How long transitions of each kind took lately: the next one is looked at when it is likely to be over, not all the time. */
export class Durations {
  readonly #recent = new Map<string, readonly Seen[]>();

  /** A transition was seen to be over after so many milliseconds. */
  settled({ kind, size }: Transition, milliseconds: number): void {
    const before = this.#recent.get(kind) ?? [];
    const times = [...(before.find((seen) => seen.size === size)?.times ?? []), milliseconds].slice(-REMEMBERED);
    const others = before.filter((seen) => seen.size !== size);
    this.#recent.set(kind, [...others, { size, times }].slice(-SIZES));
  }

  /**
   * From what was seen of the same size; else from the nearest sizes, for a time has a part that is the same for all and one that grows
   * with the size, and which is the larger is not known. Undefined when none of the kind has been seen yet.
   */
  expected({ kind, size }: Transition): Expected | undefined {
    const seen = (this.#recent.get(kind) ?? []).toSorted((a, b) => a.size - b.size);
    const below = seen.findLast((each) => each.size <= size);
    const above = seen.find((each) => each.size >= size);
    if (below?.size === size) return { atLeast: usual(below), atMost: usual(below) };
    if (below && above) return { atLeast: usual(below), atMost: Math.max(usual(below), usual(above)) };
    if (below) return { atLeast: usual(below), atMost: Math.round((usual(below) * size) / below.size) };
    return above && { atLeast: Math.round((usual(above) * size) / above.size), atMost: usual(above) };
  }
}

/** Whole milliseconds. */
function usual({ times }: Seen): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round((sorted[sorted.length >= SEVERAL ? 1 : 0] ?? 0) * SHARE);
}
