import type { Clock } from "@causeway/foundation";

/** How many requests a project may send: `perSecond` in the long run, `burst` at once. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

const MOST_PROJECTS = 10_000;

/**
 * A token bucket for each project. What is remembered is bounded: the project that was quiet for the longest time
 * leaves first.
 */
export class ProjectRates {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { level: number; at: number }>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Undefined: go ahead. Else the seconds to wait. */
  take(project: string): number | undefined {
    const now = this.#clock.now();
    const { perSecond, burst } = this.#limit;
    const before = this.#buckets.get(project) ?? { level: burst, at: now };
    const level = Math.min(burst, before.level + (Math.max(0, now - before.at) / 1000) * perSecond);
    const isLimited = level < 1;
    this.#buckets.delete(project);
    this.#buckets.set(project, { level: isLimited ? level : level - 1, at: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_PROJECTS && oldest !== undefined) this.#buckets.delete(oldest);
    return isLimited ? Math.max(1, Math.ceil((1 - level) / perSecond)) : undefined;
  }
}
