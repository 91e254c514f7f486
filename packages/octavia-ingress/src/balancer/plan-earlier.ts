/** A create of a process before this one may be under way for this long (ms) without being listed. */
export const LOST_FOR = 10_000;

/** When this process began, and whether no earlier one can have created anything for the owner. */
export interface EarlierProcess {
  /** Milliseconds since the epoch. */
  readonly began: number;
  readonly isFresh: boolean;
}

/** Until when (ms since the epoch) a create of an earlier process may be under way; undefined: there can be none. */
export function earlierCreateUntil({ began, isFresh }: EarlierProcess): number | undefined {
  return isFresh ? undefined : began + LOST_FOR;
}
