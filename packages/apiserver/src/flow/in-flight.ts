/** Bytes of answers that the server holds for clients to read: of one logical cluster, and of all together. */
export interface InFlightLimits {
  readonly perCluster: number;
  readonly total: number;
}

const DEFAULTS: InFlightLimits = { perCluster: 64 * 1024 * 1024, total: 256 * 1024 * 1024 };
/** Of the total, what only the management cluster may use. */
const KEPT_BACK = 1 / 4;

/**
 * Counts the memory that answers take while clients read them. A long list or watch takes its share before it begins,
 * and is refused when there is none: clients that never read cost a bounded amount.
 */
export class BytesInFlight {
  readonly #limits: InFlightLimits;
  readonly #held = new Map<string, number>();
  /** What all clusters hold, of each as much as it may hold: what one has beyond that is no reason to refuse others. */
  #counted = 0;

  constructor(limits: InFlightLimits = DEFAULTS) {
    this.#limits = limits;
  }

  /**
   * Takes bytes for a cluster; undefined when there are not so many left. The result gives them back; once is enough.
   */
  take(cluster: string, bytes: number): (() => void) | undefined {
    const held = this.heldBy(cluster);
    const { perCluster, total } = this.#limits;
    const most = cluster === "" ? total : total * (1 - KEPT_BACK);
    if (held + bytes > perCluster || this.#counted + bytes > most) return undefined;
    return this.hold(cluster, bytes);
  }

  /** Whether a cluster holds all that it may: it may not begin what ends with `hold`. */
  isFull(cluster: string): boolean {
    return this.heldBy(cluster) >= this.#limits.perCluster;
  }

  /** Counts bytes that cannot be refused any more: the answer to a write that is done. */
  hold(cluster: string, bytes: number): () => void {
    this.#add(cluster, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(cluster, -bytes);
      isHeld = false;
    };
  }

  heldBy(cluster: string): number {
    return this.#held.get(cluster) ?? 0;
  }

  #add(cluster: string, bytes: number): void {
    const { perCluster } = this.#limits;
    const before = this.heldBy(cluster);
    const held = before + bytes;
    this.#counted += Math.min(held, perCluster) - Math.min(before, perCluster);
    if (held > 0) this.#held.set(cluster, held);
    else this.#held.delete(cluster);
  }
}
