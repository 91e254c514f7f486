import type { Clock } from "@causeway/foundation";

/** Milliseconds: how long no other change may follow, and how long the first one waits at most. */
interface Pace {
  readonly quiet: number;
  readonly most: number;
}

const first: Pace = { quiet: 500, most: 5_000 };
/** For what follows soon upon changes that have just been passed on: the burst continues. */
const following: Pace = { quiet: 2_000, most: 10_000 };
const soon = 5_000;
/** What waited has this long to be sent, though another change comes at the same moment. */
const grace = 100;

interface Burst {
  readonly from: number;
  readonly pace: Pace;
  readonly began: number;
  readonly last: number;
}

/**
 * Nodes come and go in bursts, and each change of members makes a load balancer immutable for a while: changes are
 * passed on together, when none has followed for half a second, or after five seconds; while a burst continues, after
 * two quiet ones, or ten.
 */
export class NodeBursts {
  readonly #clock: Clock;
  #burst: Burst | undefined;
  #passedOn = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A node became a member, or ceased to be one. */
  changed(): void {
    const now = this.#clock.now();
    this.heldUntil();
    const pace = now - this.#passedOn < soon ? following : first;
    this.#burst = { from: this.#passedOn + grace, pace, began: now, ...this.#burst, last: now };
  }

  /** Until when (ms since epoch) members are left as they are; undefined: they are not. */
  heldUntil(): number | undefined {
    if (!this.#burst) return undefined;
    const { began, last, pace, from } = this.#burst;
    const until = Math.min(began + pace.most, last + pace.quiet);
    const now = this.#clock.now();
    if (until > now) return now < from ? undefined : until;
    this.#passedOn = until;
    this.#burst = undefined;
    return undefined;
  }
}
