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
 * Milliseconds from the begin of one poll to the next. What has been in transition for long is polled less often (an
 * eighth of its age): a load balancer that is stuck must not cost a call a second for ever.
 */
export function pace(situation: Situation, intervals: WatchIntervals = {}): number {
  const { slow = 60_000, rare = 300_000 } = intervals;
  const still = situation.hardlyChanges ? rare : slow;
  const quick = Math.min(still, quickest(situation, intervals));
  if (situation.hurried) return quick;
  if (situation.age === undefined) return still;
  return Math.min(still, Math.max(quick, situation.age / 8));
}

function quickest({ took }: Pick<Situation, "took">, { fast = 1_000, fastest = 250 }: WatchIntervals): number {
  return took < 20 ? Math.min(fast, fastest) : fast;
}

export interface Transition {
  /** When the object was first seen as it is (ms since epoch). */
  readonly since: number;
  /** How long it is likely to stay so (ms). */
  readonly expected: number;
  /** When the last poll began. */
  readonly polledAt: number;
  /** Milliseconds that it took. */
  readonly took: number;
}

/**
 * When to poll next (ms since epoch) for an object in a transition of known length: when it is likely to be over, and if it
 * was not, soon and then ever later. The list that shows it costs the cloud the same whether it was worth it or not.
 */
export function nextLook(transition: Transition, intervals: WatchIntervals = {}): number {
  const { since, expected, polledAt } = transition;
  const quick = quickest(transition, intervals);
  const over = since + expected;
  if (polledAt < over) return over;
  return polledAt + Math.min(intervals.slow ?? 60_000, Math.max(quick / 5, (polledAt - since) / 16));
}
