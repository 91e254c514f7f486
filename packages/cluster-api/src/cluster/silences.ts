/** Since when clusters have not answered. A cluster that has not been looked at before begins its silence now. */
export class Silences {
  readonly #since = new Map<string, number>();

  since(cluster: string, seen: { readonly answers: boolean; readonly now: number }): number | undefined {
    if (seen.answers) {
      this.#since.delete(cluster);
      return undefined;
    }
    const since = this.#since.get(cluster) ?? seen.now;
    this.#since.set(cluster, since);
    return since;
  }

  forget(cluster: string): void {
    this.#since.delete(cluster);
  }
}
