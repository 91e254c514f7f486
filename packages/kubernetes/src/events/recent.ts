interface Kept<V> {
  readonly value: V;
  readonly at: number;
}

/** A map that forgets: what was set too long ago, and beyond its size what was set longest ago. */
export class Recent<V> {
  readonly #size: number;
  readonly #lifetime: number;
  readonly #kept = new Map<string, Kept<V>>();

  /** `lifetime` in milliseconds since the value was set. */
  constructor(size: number, lifetime: number) {
    this.#size = size;
    this.#lifetime = lifetime;
  }

  get(id: string, now: number): V | undefined {
    const kept = this.#kept.get(id);
    if (!kept) return undefined;
    if (now - kept.at < this.#lifetime) return kept.value;
    this.#kept.delete(id);
    return undefined;
  }

  set(id: string, value: V, now: number): void {
    // Deleted and set again, so that the map is ordered by the time of the last set.
    this.#kept.delete(id);
    this.#kept.set(id, { value, at: now });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#size) return;
      this.#kept.delete(oldest);
    }
  }
}
