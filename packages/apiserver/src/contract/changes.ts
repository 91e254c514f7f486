import type { KubeObject } from "@causeway/kubernetes";
import type { Resource } from "./resource.ts";

/** A write that has been committed. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly previous?: KubeObject;
}

/** Notifies the server's own controllers of commits, in their order. */
export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();

  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
