import { seededIntegers } from "@causeway/foundation/testing";

/** Seeded choices: the same seed always gives the same sequence. */
export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededIntegers(seed);
  }

  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    return this.#next() % Math.max(1, Math.floor(limit));
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.#next() < probability * 2 ** 32;
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.below(list.length)];
    if (found === undefined && list.length === 0) throw new Error("nothing to pick from");
    return found as T;
  }

  word(length = this.between(1, 8)): string {
    return Array.from({ length }, () => "abcdefghijklmnopqrstuvwxyz0123456789"[this.below(36)]).join("");
  }

  /** How many of something an input has: mostly few, at times up to `most`. */
  size(most = 20_000): number {
    const magnitude = this.pick([3, 3, 10, 10, 30, 30, 100, 300, 1000, 3000, 10_000, 30_000]);
    return 1 + this.below(Math.min(most, magnitude));
  }
}

/** The seed of one input of a run, so that each can be generated without those before it. */
export function seedOf(run: number, index: number): number {
  return (Math.imul(run ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35)) | 0;
}
