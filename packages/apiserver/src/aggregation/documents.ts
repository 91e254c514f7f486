import type { Clock } from "@causeway/foundation";
import type { Json } from "../json/json.ts";

interface Kept {
  readonly until: number;
  readonly content: Promise<Json | undefined>;
  /** Characters of its text; 0 while it is read. */
  size: number;
}

/** How long, and how much of, the documents of extensions are kept. */
export interface DocumentLimits {
  /** Milliseconds that a document is used for. */
  readonly age: number;
  readonly count: number;
  /** Characters of the texts of all. */
  readonly size: number;
}

/** What a document was read from, and how long its text was. */
export interface ReadDocument {
  readonly content: Json | undefined;
  readonly size: number;
}

/**
 * Discovery and OpenAPI documents of extension servers, for a while: as many as the limits allow, and the youngest of
 * them.
 */
export class Documents {
  readonly #limits: DocumentLimits;
  readonly #clock: Clock;
  /** In the order in which they were read. */
  readonly #kept = new Map<string, Kept>();
  #size = 0;

  constructor(limits: DocumentLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The document that is kept, or what `read` returns. Requests at the same time share one read. */
  get(id: string, read: () => Promise<ReadDocument>): Promise<Json | undefined> {
    const now = this.#clock.now();
    const known = this.#kept.get(id);
    if (known !== undefined && known.until > now) return known.content;
    this.#drop(id);
    const reading = read();
    const entry: Kept = {
      until: now + this.#limits.age,
      content: reading.then(({ content }) => content),
      size: 0,
    };
    this.#kept.set(id, entry);
    reading.then(
      ({ size }) => {
        if (this.#kept.get(id) !== entry) return;
        entry.size = size;
        this.#size += size;
        this.#shrink(now);
      },
      () => {
        if (this.#kept.get(id) === entry) this.#drop(id);
      },
    );
    this.#shrink(now);
    return entry.content;
  }

  clear(): void {
    this.#kept.clear();
    this.#size = 0;
  }

  get count(): number {
    return this.#kept.size;
  }

  get size(): number {
    return this.#size;
  }

  /** Old ones first, then the oldest until the limits hold. */
  #shrink(now: number): void {
    for (const [id, { until }] of this.#kept) if (until <= now) this.#drop(id);
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.count && this.#size <= this.#limits.size) return;
      this.#drop(id);
    }
  }

  #drop(id: string): void {
    this.#size -= this.#kept.get(id)?.size ?? 0;
    this.#kept.delete(id);
  }
}
