/** Ms by which clocks may differ. */
export const LIMIT = 60_000;
/** Ms between two reads of the nodes' Leases. A kubelet renews its own every ten seconds. */
export const EVERY = 60_000;
/** Reads in a row by which a clock is wrong, before it is reported. */
export const READS = 2;
/** Of fewer nodes it cannot be said whether all their clocks are wrong, or that of this program. */
const ENOUGH = 3;

/** When a node renewed its Lease last (ms since epoch), by its own clock. */
export interface Renewal {
  readonly node: string;
  readonly at: number;
}

/** Of each node: its last renewal, and for how many reads its clock was wrong. */
export type ClockMemory = ReadonlyMap<string, { readonly at: number; readonly reads: number }>;

/** Which clocks are wrong. Ms are positive for clocks that are ahead. */
export interface ClockFindings {
  readonly memory: ClockMemory;
  /** Nodes whose clocks are wrong. */
  readonly off: ReadonlyMap<string, number>;
  /** By which most nodes differ from this program: its own clock is wrong. */
  readonly own: number | undefined;
}

/**
 * Compares what nodes wrote with the time at which it was read. Only a node that renewed its Lease since the read
 * before is judged: the Lease of a node that is lost is old, whatever its clock is.
 */
export function judgeClocks(before: ClockMemory, renewals: readonly Renewal[], now: number): ClockFindings {
  const offsets = new Map<string, number>();
  for (const { node, at } of renewals) {
    const known = before.get(node);
    if (known !== undefined && known.at !== at) offsets.set(node, at - now);
  }
  const common = commonOffset([...offsets.values()]);
  const memory = new Map<string, { at: number; reads: number }>();
  const off = new Map<string, number>();
  for (const { node, at } of renewals) {
    const offset = offsets.get(node);
    const difference = offset === undefined ? 0 : offset - (common ?? 0);
    const reads = isWrong(difference) ? (before.get(node)?.reads ?? 0) + 1 : 0;
    memory.set(node, { at, reads });
    if (reads >= READS) off.set(node, difference);
  }
  return { memory, off, own: common === undefined ? undefined : -common };
}

/** The Lease of a right clock may be as old as the time between two reads. */
function isWrong(difference: number): boolean {
  return difference > LIMIT || difference < -(LIMIT + EVERY);
}

/** The median, where it is a wrong one. */
function commonOffset(offsets: readonly number[]): number | undefined {
  if (offsets.length < ENOUGH) return undefined;
  const median = offsets.toSorted((a, b) => a - b)[Math.floor(offsets.length / 2)] ?? 0;
  return isWrong(median) ? median : undefined;
}
