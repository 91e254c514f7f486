/** Transitions of one kind that are remembered. */
const REMEMBERED = 5;
/** From so many on, the shortest of them is not believed: one that was over before it was seen must not make all others be looked at early. */
const SEVERAL = 3;
/** What is expected is a little less than what was seen, so that it shortens again when the cloud becomes faster. */
const SHARE = 0.97;
/** Nobody waits longer (ms) than this without a look, whatever is expected. */
const LONGEST = 15_000;

/** How long transitions of each kind took lately: the next one is looked at when it is likely to be over, not all the time. */
export class Durations {
  readonly #recent = new Map<string, readonly number[]>();

  /** A transition of that kind was seen to be over after so many milliseconds. */
  settled(kind: string, milliseconds: number): void {
    this.#recent.set(kind, [...(this.#recent.get(kind) ?? []), milliseconds].slice(-REMEMBERED));
  }

  /** Milliseconds; undefined when none has been seen yet. */
  expected(kind: string): number | undefined {
    const recent = this.#recent.get(kind)?.toSorted((a, b) => a - b);
    const usual = recent?.[recent.length >= SEVERAL ? 1 : 0];
    return usual === undefined ? undefined : Math.min(LONGEST, usual * SHARE);
  }
}
