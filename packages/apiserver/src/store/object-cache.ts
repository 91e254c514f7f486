import type { KubeObject } from "@causeway/kubernetes";

interface Entry {
  readonly object: KubeObject;
  readonly size: number;
}

/**
 * Parsed objects by revision. A revision names one state for ever, so nothing here can be stale; the least recently
 * used go first. Bounded by the length of the objects' JSON, in characters.
 */
export class ObjectCache {
  readonly #limit: number;
  readonly #entries = new Map<number, Entry>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(revision: number): KubeObject | undefined {
    const entry = this.#entries.get(revision);
    if (entry === undefined) return undefined;
    this.#entries.delete(revision);
    this.#entries.set(revision, entry);
    return entry.object;
  }

  set(revision: number, object: KubeObject, size: number): void {
    this.delete(revision);
    this.#entries.set(revision, { object, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#limit) break;
      this.delete(oldest);
    }
  }

  delete(revision: number): void {
    const entry = this.#entries.get(revision);
    if (entry === undefined) return;
    this.#size -= entry.size;
    this.#entries.delete(revision);
  }
}
