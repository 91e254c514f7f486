import type { Cluster } from "@causeway/api";
import { isBeingCreated } from "./hooks.ts";

/** Entries at most. One that is dropped costs no more than a wait for its extension. */
const mostSkipped = 10_000;

/**
 * The patches that Clusters were made without, because their extensions could not be reached and have failurePolicy
 * Ignore. Only a Cluster that was begun without a patch continues without it: in any other, machines that have the
 * patch would be replaced, and replaced again once the extension responds.
 */
export class SkippedPatches {
  readonly #skipped = new Set<string>();

  /** Whether a patch without a response is left out. */
  maySkip(cluster: Cluster, patch: string): boolean {
    const id = idOf(cluster, patch);
    if (isBeingCreated(cluster)) this.#skipped.add(id);
    const [oldest] = this.#skipped;
    if (this.#skipped.size > mostSkipped && oldest !== undefined) this.#skipped.delete(oldest);
    return this.#skipped.has(id);
  }

  /** The extension has responded: from now on the Cluster has the patch. */
  forget(cluster: Cluster, patch: string): void {
    this.#skipped.delete(idOf(cluster, patch));
  }
}

function idOf({ metadata }: Cluster, patch: string): string {
  return JSON.stringify([metadata.uid ?? metadata.name, patch]);
}
