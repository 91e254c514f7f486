/** Transitions of one kind and size that are remembered. */
const REMEMBERED = 6;
/** Sizes of one kind that are remembered. */
const SIZES = 16;
/**
 * From so many on, the shortest of them is not believed: one that was over before it was seen must not make all others
 * be read early.
 */
const SEVERAL = 3;
/** How many of the remembered transitions the estimate may poll too early. */
const TOO_EARLY = 1;
/** The estimate is good enough when a poll so much earlier was too early. */
const NEARLY = 0.95;
/** A poll that was too early by more than this says nothing about the end. */
const NEAR = 0.8;
/** What is shorter (ms) is not tried earlier before as many as are remembered were seen: there is little to win. */
const SHORT = 2_000;
/**
 * A little earlier, if no poll showed that this is too early: so that the estimate becomes shorter when the cloud
 * becomes faster.
 */
const EARLIER = 0.97;

/** What is under way: changes of one kind whose length grows with their size, or does not. */
export interface Transition {
  readonly kind: string;
  /**
   * Kinds of one family are not likely to differ by much: where nothing is known of one, the others show when a first
   * poll is worthwhile.
   */
  readonly family?: string;
  /** In any unit; at least 1. */
  readonly size: number;
}

/** Milliseconds that a transition is expected to take. */
export interface Expected {
  readonly atLeast: number;
  /** If it is as slow as it may be. */
  readonly atMost: number;
}

/**
 * Milliseconds after its begin: the last poll that saw the transition continue (0: none did), and the poll that saw it
 * finished.
 */
export interface PollTimes {
  readonly after: number;
  readonly by: number;
}

interface Seen {
  readonly size: number;
  readonly polls: readonly PollTimes[];
}

/**
 * How long transitions of each kind took lately: the next one is polled when it is likely to have finished, not
 * continuously.
 */
export class Durations {
  readonly #recent = new Map<string, readonly Seen[]>();
  readonly #families = new Map<string, Set<string>>();

  /** A transition was seen to be over. */
  settled({ kind, size, family }: Transition, polled: PollTimes): void {
    const before = this.#recent.get(kind) ?? [];
    const polls = [...(before.find((seen) => seen.size === size)?.polls ?? []), polled].slice(-REMEMBERED);
    const others = before.filter((seen) => seen.size !== size);
    this.#recent.set(kind, [...others, { size, polls }].slice(-SIZES));
    if (family !== undefined) this.#families.set(family, (this.#families.get(family) ?? new Set()).add(kind));
  }

  /**
   * From what was seen of the same size; else from the nearest sizes, for a time has a part that is the same for all
   * and one that grows with the size, and which is the larger is not known. Undefined when none of the kind has been
   * seen yet.
   */
  expected({ kind, size }: Transition): Expected | undefined {
    const seen = (this.#recent.get(kind) ?? []).toSorted((a, b) => a.size - b.size);
    const below = seen.findLast((each) => each.size <= size);
    const above = seen.find((each) => each.size >= size);
    if (below?.size === size) return { atLeast: tried(below), atMost: usual(below) };
    if (below && above) return { atLeast: about(below), atMost: Math.max(about(below), about(above)) };
    if (below) return { atLeast: about(below), atMost: Math.round((about(below) * size) / below.size) };
    return above && { atLeast: Math.round((about(above) * size) / above.size), atMost: about(above) };
  }

  /** Milliseconds that the quickest of the same family take; undefined when none of them has been seen yet. */
  quickest({ family }: Transition): number | undefined {
    const kinds = family === undefined ? [] : [...(this.#families.get(family) ?? [])];
    const times = kinds.flatMap((kind) => (this.#recent.get(kind) ?? []).map(usual));
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

/**
 * The earliest poll that found one finished and that would have been too early for hardly any other. A poll just after
 * the end costs little time; one just before it costs a whole poll, and the time to the next.
 */
function usual({ polls }: Seen): number {
  const times = polls.map(({ by }) => by).toSorted((a, b) => a - b);
  const believed = times.slice(times.length >= SEVERAL ? 1 : 0);
  return believed.find((time) => polls.filter(({ after }) => after >= time).length <= TOO_EARLY) ?? 0;
}

/** When the next one is polled: as usual, or earlier where it is not known that this would be too early. */
function tried(seen: Seen): number {
  const time = usual(seen);
  if (tooEarly(seen) >= time * NEARLY || (time < SHORT && seen.polls.length < REMEMBERED)) return time;
  return Math.min(about(seen), Math.round(tooEarly(seen) >= time * NEAR ? time : time * EARLIER));
}

/** Between the poll that was too early and the one that was not: estimates for another size use this. */
function about(seen: Seen): number {
  const time = usual(seen);
  const early = tooEarly(seen);
  return early < time && early >= time * NEAR ? Math.round((early + time) / 2) : time;
}

function tooEarly({ polls }: Seen): number {
  return Math.max(0, ...polls.map(({ after }) => after));
}
