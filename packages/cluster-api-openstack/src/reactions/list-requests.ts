/** A list of the cloud that can be requested once; see CloudInformer. */
export interface Listed {
  refresh(): Promise<void>;
}

/** What an object waits for, in lists whose informers do not know that a change is due. */
export interface Awaited {
  /** The object. */
  readonly key: string;
  readonly what: string;
  readonly lists: readonly Listed[];
}

/**
 * Milliseconds between two lists for any number of objects that wait, and the longest pause of one that waits in vain.
 */
const FIRST = 500;
const LAST = 30_000;

/**
 * Requests a list once when an object begins to wait for something in it, then whenever the wait has become half as
 * long again, and no more once the object waits for nothing. All objects share what is listed: the number of lists does
 * not grow with the number of objects that wait.
 */
export class ListRequests {
  readonly #waits = new Map<string, { readonly what: string; readonly since: number }>();
  readonly #listed = new WeakMap<Listed, number>();

  /** Requests what is due. Returns when (ms since epoch) the object is to be reconciled again. */
  await({ key, what, lists }: Awaited, now: number): number {
    const known = this.#waits.get(key);
    const since = known?.what === what ? known.since : now;
    this.#waits.set(key, { what, since });
    return Math.min(...lists.map((list) => this.#request(list, since, now)));
  }

  /** The object waits for nothing in a list. */
  forget(key: string): void {
    this.#waits.delete(key);
  }

  #request(list: Listed, since: number, now: number): number {
    const due = next(this.#listed.get(list) ?? Number.NEGATIVE_INFINITY, since);
    if (now < due) return due;
    this.#listed.set(list, now);
    // The informer logs why a list failed, and tries again by itself.
    list.refresh().catch(() => {});
    return next(now, since);
  }
}

/** When to list after a list at `listed` for what began at `since`. */
function next(listed: number, since: number): number {
  return listed + Math.min(LAST, Math.max(FIRST, (listed - since) / 2));
}
