import { backoff, type Backoff, type Clock } from "@causeway/foundation";

/** Why the cloud refused something, and until when (ms since epoch) it is not queried again. */
export interface Refusal {
  readonly message: string;
  readonly until: number;
}

/** A refusal that was not repeated for this long (ms) is forgotten. */
const memory = 600_000;

/** What the cloud refused of one route must not hold up the others: it is remembered, and tried again ever later. */
export class Refusals {
  readonly #clock: Clock;
  readonly #delayAfter: Backoff = backoff({ base: 5_000, cap: 300_000 });
  readonly #refused = new Map<string, Refusal & { readonly times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  refuse(key: string, message: string): void {
    const times = (this.#refused.get(key)?.times ?? 0) + 1;
    this.#refused.set(key, { message, times, until: this.#clock.now() + this.#delayAfter(times) });
  }

  accept(key: string): void {
    this.#refused.delete(key);
  }

  /** Those in force; one whose time is over is tried again, and remains in memory for its next delay. */
  standing(): ReadonlyMap<string, Refusal> {
    const now = this.#clock.now();
    for (const [key, { until }] of this.#refused) if (until + memory < now) this.#refused.delete(key);
    return new Map([...this.#refused].filter(([, refusal]) => refusal.until > now));
  }
}
