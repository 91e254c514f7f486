import type { KubeObject } from "@causeway/kubernetes";

const memory = 30_000;

/**
 * Requested deletions that the cache does not show yet. Between a delete and its watch event the cached object seems
 * alive; `view` shows it as leaving, so that no controller requests it twice. Entries expire after 30 s: then it may be
 * requested again.
 */
export class PendingDeletions {
  readonly #since = new Map<string, number>();

  note(uid: string, now: number): void {
    for (const [known, at] of this.#since) if (now - at > memory) this.#since.delete(known);
    this.#since.set(uid, now);
  }

  view<T extends KubeObject>(object: T, now: number): T {
    const { uid, deletionTimestamp } = object.metadata;
    const at = uid === undefined ? undefined : this.#since.get(uid);
    if (at === undefined || deletionTimestamp !== undefined || now - at > memory) return object;
    return { ...object, metadata: { ...object.metadata, deletionTimestamp: new Date(at).toISOString() } };
  }
}
