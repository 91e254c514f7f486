/** Since when clusters have not responded. For a cluster that was not checked before this begins now. */
export class UnreachableTracker {
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
