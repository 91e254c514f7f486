/** Delays that double with every failure, jittered so that many who failed together do not return together. */
export class Backoff {
  readonly #first: number;
  readonly #last: number;
  readonly #random: () => number;
  #failures = 0;

  /** `first` and `last` in milliseconds. */
  constructor(first: number, last: number, random: () => number = Math.random) {
    this.#first = first;
    this.#last = last;
    this.#random = random;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Between half of the doubled delay and all of it. */
  next(): number {
    const full = Math.min(this.#first * 2 ** Math.min(this.#failures, 40), this.#last);
    this.#failures++;
    return full / 2 + (full / 2) * this.#random();
  }

  reset(): void {
    this.#failures = 0;
  }
}
