import type { Expected } from "./durations.ts";

/** How long the pauses between polls are, fast and slow. */
export interface WatchIntervals {
  /** Milliseconds between polls while something is in transition or a caller hurries. Default 1000. */
  readonly fast?: number;
  /** In place of `fast` where a list takes less than 20 ms. Default 250. */
  readonly fastest?: number;
  /** While all is still. Default 60 000. */
  readonly slow?: number;
  /** For types that hardly ever change. Default 300 000. */
  readonly rare?: number;
  /**
   * Between the begins of two polls at least: what ends meanwhile is seen by one list, and callers that request one
   * meanwhile share it. Default 0.
   */
  readonly apart?: number;
}

/** What decides the pause after a poll. */
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

/** A list whose objects are in transition is read a third of the time at most; one that takes long, half of it. */
const RESTS = 2;
const LONGEST_REST = 5_000;

/** Milliseconds from the begin of a poll that took so long to the next one at least: long lists cost both sides. */
export function restAfter(took: number): number {
  return took + Math.min(took * RESTS, Math.max(LONGEST_REST, took));
}

/**
 * Others of its family do not delay the first poll of a transition beyond this (ms): a create may take a hundred times
 * as long as an update.
 */
const HINTED = 1_000;

/** An object in a transition of which nothing is known. */
export interface FirstLook extends Omit<Look, "expected"> {
  /** Milliseconds that the quickest of its family take, where that is known. */
  readonly hint?: number | undefined;
}

/**
 * A caller that waits for a transition of at most two minutes waits no longer (ms) than this after its end, unless a
 * list takes longer.
 */
const IN_VAIN = 5_000;
const SOON = 120_000;

/**
 * When to poll next (ms since epoch) for an object in a transition of which nothing is known: whenever it has become a
 * fifth older, after 5 s each second and after 8 s whenever an eighth older; and at the end of the quickest of its
 * family.
 */
export function closePoll({ since, polledAt, took, hint = 0 }: FirstLook, intervals: WatchIntervals = {}): number {
  const age = Math.round(polledAt - since);
  const first = Math.min(hint, HINTED);
  if (age < first) return since + first;
  const older = Math.min(age / 5, Math.max(1_000, age / 8), age < SOON ? IN_VAIN : age);
  const wait = Math.min(intervals.slow ?? 60_000, Math.max(quickest({ took }, intervals) / 2.5, older));
  return age < hint && (age + wait) * 1.1 > hint ? since + hint : polledAt + wait;
}

/** The first poll is never later (ms) than this, whatever is expected. */
const LONGEST = 20_000;

/** An object in a transition, and what is known of how long such ones take. */
export interface Look {
  /** When the object was first seen as it is (ms since epoch). */
  readonly since: number;
  /** How long this is likely to last. */
  readonly expected: Expected;
  /** When the last poll began. */
  readonly polledAt: number;
  /** Milliseconds that it took. */
  readonly took: number;
}

/**
 * When to poll next (ms since epoch) for an object in a transition of which something is known: when it is likely to be
 * over, and if it was not, soon and then ever later. The list that shows it costs the cloud the same whether it was
 * worth it or not. What was expected may be wrong: a long one is polled after 20 s, and whenever its age has doubled.
 */
export function nextPoll({ since, expected, polledAt, took }: Look, intervals: WatchIntervals = {}): number {
  const { atLeast, atMost } = expected;
  // Whole milliseconds: what is due now must not be a fraction of one away.
  const age = Math.round(polledAt - since);
  if (age < atLeast) return since + Math.min(atLeast, Math.max(LONGEST, age * 2));
  // A long one that has just become due is at an end soon.
  const close = age > LONGEST && age >= atMost && age < atMost * 1.05;
  const soon = Math.max(quickest({ took }, intervals) / 5, age / (close ? 32 : 16));
  if (age >= atMost) return polledAt + Math.min(intervals.slow ?? 60_000, soon);
  const least = quickest({ took }, intervals) / 5;
  const near = atMost - age < 2 * soon;
  const step = near ? Math.max(least, age / 32) : soon;
  // Not as short as it may be: it is at an end soon, or grows with its size.
  const next = age + (age < atLeast * 1.05 ? step : Math.max(soon, age < LONGEST ? age / 4 : age * 0.75));
  // Polling at the longest likely duration is better than polling just before it.
  const isClose = near ? next + step / 2 > atMost : next * 1.1 > atMost;
  return since + (isClose ? Math.max(atMost, age + least) : next);
}
