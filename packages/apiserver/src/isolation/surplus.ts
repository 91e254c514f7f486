/** What a check of an idle process found, in bytes. */
export interface MemorySample {
  /** Milliseconds. */
  readonly now: number;
  readonly idle: boolean;
  /** Memory of the process as the system counts it. */
  readonly resident: number;
  /** What JavaScript objects and their buffers take. */
  readonly used: number;
}

const MIB = 1024 * 1024;
/** Idle for so long, so that garbage was collected, and what V8 returns is returned: milliseconds. */
const SETTLED = 20_000;
/** A surplus is worth a new process from this part of the memory on, and from so many bytes. */
const PART = 0.25;
const LEAST = 64 * MIB;

/**
 * Decides when a process has memory that it neither uses nor returns: pieces that were freed between others, after a
 * busy time. A new process on the same state would not have it. What one needs next to its objects (program, caches,
 * threads) is the least that it had while it was idle.
 */
export class Surplus {
  #idleSince: number | undefined;
  #overhead = Infinity;

  /** The surplus in bytes, when it is worth a new process; otherwise undefined. */
  sample({ now, idle, resident, used }: MemorySample): number | undefined {
    if (!idle) this.#idleSince = undefined;
    else this.#idleSince ??= now;
    if (this.#idleSince === undefined) return undefined;
    const overhead = resident - used;
    this.#overhead = Math.min(this.#overhead, overhead);
    if (now - this.#idleSince < SETTLED) return undefined;
    const surplus = overhead - this.#overhead;
    return surplus >= Math.max(LEAST, PART * resident) ? surplus : undefined;
  }
}

/**
 * A worker with more clusters is not replaced to return memory: to open each of them again takes a tenth of a second.
 */
const MOST_CLUSTERS = 10;
/** Nor is one while clusters come and go, and machines join them: milliseconds since the last one. */
const QUIET = 600_000;

/** Whether a worker with so many clusters may be replaced, so long after one was last added or removed. */
export function isRenewable(clusters: number, quiet: number): boolean {
  return clusters <= MOST_CLUSTERS && quiet >= QUIET;
}
