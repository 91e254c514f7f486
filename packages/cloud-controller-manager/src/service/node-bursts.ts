import type { Clock } from "@causeway/foundation";

/** Milliseconds. */
const quiet = 1_000;
const patient = 5_000;
const between = 10_000;
const recent = 30_000;
/** What waited has this long to be sent, though another node change comes at the same moment. */
const grace = 100;

/**
 * Nodes come and go in bursts, and each change of members makes a load balancer immutable for a while. A change is passed on when
 * none has followed it for a second, or after five seconds; while a burst goes on, once in ten.
 */
export class NodeBursts {
  readonly #clock: Clock;
  #burst: { readonly from: number; readonly until: number; readonly last: number } | undefined;
  #passedOn = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A node became a member, or ceased to be one. */
  changed(): void {
    const now = this.#clock.now();
    this.heldUntil();
    if (!this.#burst) {
      const follows = now - this.#passedOn < recent;
      const from = this.#passedOn + grace;
      this.#burst = { from, until: now + (follows ? between : patient), last: follows ? now + between : now };
    } else this.#burst = { ...this.#burst, last: Math.max(this.#burst.last, now) };
  }

  /** Until when (ms since epoch) members are left as they are; undefined: they are not. */
  heldUntil(): number | undefined {
    if (!this.#burst) return undefined;
    const until = Math.min(this.#burst.until, this.#burst.last + quiet);
    const now = this.#clock.now();
    if (until > now) return now < this.#burst.from ? undefined : until;
    this.#passedOn = until;
    this.#burst = undefined;
    return undefined;
  }
}
