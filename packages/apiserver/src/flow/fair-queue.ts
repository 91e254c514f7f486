interface Line<T> {
  /** The virtual time at which its next item begins. */
  virtual: number;
  readonly items: { readonly width: number; readonly item: T }[];
}

/**
 * Items that wait, of several users: the next is of the user who has had least (start-time fair queueing), and of one
 * user's the oldest.
 */
export class FairQueue<T> {
  readonly #lines = new Map<string, Line<T>>();
  /** The virtual time at which the last item began. */
  #virtual = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Users that have something waiting, or had it since the queue was empty. */
  get users(): number {
    return this.#lines.size;
  }

  lengthOf(user: string): number {
    return this.#lines.get(user)?.items.length ?? 0;
  }

  push(user: string, width: number, item: T): void {
    const line = this.#lines.get(user) ?? { virtual: this.#virtual, items: [] };
    if (line.items.length === 0) line.virtual = Math.max(line.virtual, this.#virtual);
    line.items.push({ width, item });
    this.#lines.set(user, line);
    this.#length += 1;
  }

  shift(): T | undefined {
    return this.take()?.item;
  }

  /** The next item, and how wide it is. */
  take(): { readonly width: number; readonly item: T } | undefined {
    let first: Line<T> | undefined;
    for (const line of this.#lines.values()) {
      if (line.items.length > 0 && (first === undefined || line.virtual < first.virtual)) first = line;
    }
    const head = first?.items.shift();
    if (!first || !head) return undefined;
    this.#virtual = first.virtual;
    first.virtual += head.width;
    this.#length -= 1;
    // While nothing waits, the thread was free for all: what each had before no longer counts.
    if (this.#length === 0) this.#lines.clear();
    return head;
  }
}
