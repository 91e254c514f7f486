import { seededIntegers } from "@causeway/foundation/testing";

/**
 * Numbers that generators draw from, one after another. When they are used up zeros come, and zero always chooses what
 * is simplest: so a sequence shrinks by making its numbers smaller, whatever they represent.
 */
export class Choices {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** As many numbers as are requested, all from one seed. */
  static seeded(seed: number, count: number): Choices {
    const next = seededIntegers(seed);
    return new Choices(Array.from({ length: count }, () => next() & 0xffff));
  }

  /** A whole number from 0 up to, but not, `bound`. */
  below(bound: number): number {
    const number = this.#numbers[this.#at] ?? 0;
    this.#at += 1;
    return number % bound;
  }

  /** One of these; the first is the simplest. */
  pick<T>(options: readonly [T, ...T[]]): T {
    return options[this.below(options.length)] ?? options[0];
  }

  /** True in so many of a hundred cases. */
  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }

  /** From `least` to `most` things. */
  several<T>(least: number, most: number, make: (index: number) => T): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, (_, i) => make(i));
  }

  /** Each of the fields with the given chance. */
  fields(percent: number, makers: Readonly<Record<string, () => unknown>>): Record<string, unknown> {
    const chosen = Object.entries(makers).filter(() => this.chance(percent));
    return Object.fromEntries(chosen.map(([name, make]) => [name, make()]));
  }
}
