/** A range of indexes, both ends included. */
type Interval = readonly [first: number, last: number];

/**
 * A set of completion indexes, kept as intervals: a status may list two thousand million of them in a few characters,
 * and what is done with it costs no more than what its text is long.
 */
export class Indexes {
  static readonly none = new Indexes([]);
  /** In order; neither overlapping nor adjacent. */
  readonly #intervals: readonly Interval[];

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals;
  }

  /** Reads a list such as "0,2-4". What is not a number, and what is not below `limit`, is left out. */
  static parse(text: string | undefined, limit: number): Indexes {
    const found: Interval[] = [];
    for (const part of text ? text.split(",") : []) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (!match) continue;
      const first = Number(match[1]);
      const last = Math.min(Number(match[2] ?? match[1]), limit - 1);
      if (first <= last) found.push([first, last]);
    }
    return Indexes.#merged(found);
  }

  static of(indexes: Iterable<number>): Indexes {
    return Indexes.#merged(Array.from(indexes, (index): Interval => [index, index]));
  }

  static #merged(intervals: readonly Interval[]): Indexes {
    const merged: [number, number][] = [];
    for (const [first, last] of intervals.toSorted(([a], [b]) => a - b)) {
      const before = merged.at(-1);
      if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
      else merged.push([first, last]);
    }
    return new Indexes(merged);
  }

  /** How many there are. */
  get size(): number {
    return this.#intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.#at(index) !== undefined;
  }

  union(other: Indexes): Indexes {
    if (other.#intervals.length === 0) return this;
    return Indexes.#merged([...this.#intervals, ...other.#intervals]);
  }

  intersection(other: Indexes): Indexes {
    const common: Interval[] = [];
    const [a, b] = [this.#intervals, other.#intervals];
    for (let i = 0, j = 0; ;) {
      const [one, two] = [a[i], b[j]];
      if (!one || !two) return new Indexes(common);
      const [first, last] = [Math.max(one[0], two[0]), Math.min(one[1], two[1])];
      if (first <= last) common.push([first, last]);
      if (one[1] < two[1]) i++;
      else j++;
    }
  }

  /** The first index from `from` on that is not in the set. */
  gapFrom(from: number): number {
    const [, last] = this.#at(from) ?? [];
    return last === undefined ? from : last + 1;
  }

  /** The indexes in order, three or more in a row as a range. */
  toString(): string {
    const shown = ([first, last]: Interval): string =>
      first === last ? String(first) : `${first}${last === first + 1 ? "," : "-"}${last}`;
    return this.#intervals.map(shown).join(",");
  }

  /** The interval that has this index. */
  #at(index: number): Interval | undefined {
    let [low, high] = [0, this.#intervals.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const [first, last] = this.#intervals[middle] ?? [0, 0];
      if (index < first) high = middle - 1;
      else if (index > last) low = middle + 1;
      else return this.#intervals[middle];
    }
    return undefined;
  }
}
