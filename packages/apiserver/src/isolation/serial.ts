/** Runs work of one name one after the other, and work of different names at the same time. */
export class Serial {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` after all earlier work of this name has settled. */
  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const result = before.then(work, work);
    const settled = result
      .catch(() => {})
      .then(() => {
        if (this.#last.get(name) === settled) this.#last.delete(name);
      });
    this.#last.set(name, settled);
    return result;
  }
}
