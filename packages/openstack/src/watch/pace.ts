export interface WatchIntervals {
  /** Milliseconds between polls while something is in transition or somebody hurries. Default 1000. */
  readonly fast?: number;
  /** In place of `fast` where a list takes less than 20 ms. Default 250. */
  readonly fastest?: number;
  /** While all is still. Default 60 000. */
  readonly slow?: number;
  /** For types that hardly ever change. Default 300 000. */
  readonly rare?: number;
}

export interface Situation {
  /** Milliseconds that the last poll took. */
  readonly took: number;
  readonly hurried: boolean;
  /** Milliseconds since the youngest object in transition was seen to change; undefined if all are settled. */
  readonly age: number | undefined;
  readonly hardlyChanges: boolean;
}

/**
 * Milliseconds from the begin of one poll to the next. What has been in transition for long is polled less often (a
 * twentieth of its age): a load balancer that is stuck must not cost a call a second for ever.
 */
export function pace(situation: Situation, intervals: WatchIntervals = {}): number {
  const { fast = 1_000, fastest = 250, slow = 60_000, rare = 300_000 } = intervals;
  const still = situation.hardlyChanges ? rare : slow;
  const quick = Math.min(still, situation.took < 20 ? Math.min(fast, fastest) : fast);
  if (situation.hurried) return quick;
  if (situation.age === undefined) return still;
  return Math.min(still, Math.max(quick, situation.age / 20));
}
