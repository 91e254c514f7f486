import type { Clock } from "@causeway/foundation";

interface Hold {
  readonly count: number;
  readonly until: number;
  /** What was requested when it was held. */
  readonly about?: string | undefined;
}

/** How long a hold lasts at first and at most. */
export interface HoldPace {
  /** Milliseconds of the first hold; each that follows is twice as long as the one before. */
  readonly base: number;
  readonly cap: number;
}

/** A load balancer answered that it cannot be changed now. */
export const whenBusy: HoldPace = { base: 500, cap: 30_000 };
/** What a provider refused once, it will refuse again. */
export const whenRefused: HoldPace = { base: 3_600_000, cap: 3_600_000 };
/** A load balancer that went to ERROR while it was made is about to be made again. */
export const whenBroken: HoldPace = { base: 5_000, cap: 300_000 };

/** A floating IP that is named by its address is not there, or another port has it. */
export const whenSought: HoldPace = { base: 5_000, cap: 60_000 };
/** Octavia answered a create with an error of its own: what it refused twice it may refuse for long. */
export const whenCreateFails: HoldPace = { base: 2_000, cap: 300_000 };

/**
 * What must not be tried again before some time has passed, by key. Kept in memory only: a new process starts with
 * a fresh look at everything.
 */
export class Holds {
  readonly #held = new Map<string, Hold>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `about`: what was requested. Another request is not held, and begins to count again. */
  hold(key: string, pace: HoldPace, about?: string): void {
    const count = this.count(key, about);
    const until = this.#clock.now() + Math.min(pace.cap, pace.base * 2 ** count);
    this.#held.set(key, { count: count + 1, until, about });
  }

  /** Milliseconds since the epoch; undefined when nothing was held. It may be past. */
  until(key: string, about?: string): number | undefined {
    return this.#of(key, about)?.until;
  }

  /** How often in a row it was held. */
  count(key: string, about?: string): number {
    return this.#of(key, about)?.count ?? 0;
  }

  #of(key: string, about: string | undefined): Hold | undefined {
    const held = this.#held.get(key);
    return held?.about === about ? held : undefined;
  }

  has(key: string): boolean {
    return this.#held.has(key);
  }

  release(key: string): void {
    this.#held.delete(key);
  }
}

/** A create of this load balancer was sent and its outcome is not known. */
export const uncertainKey = (lbName: string): string => `uncertain ${lbName}`;
/** A create of this load balancer failed, so often in a row, for what the Service requests (`wishesOf`). */
export const failedCreateKey = (lbName: string): string => `failed create ${lbName}`;
/** A floating IP that a Service names by its address is not in the cache. */
export const soughtKey = (address: string): string => `sought ${address}`;
/** The hold of a load balancer that is immutable. */
export const busyKey = (loadBalancerId: string): string => `busy ${loadBalancerId}`;
/** The hold of a pool's method that the cloud refused. */
export const methodKey = (poolId: string, method: string): string => `method ${poolId} ${method}`;
/** The hold of a failover. */
export const failoverKey = (loadBalancerId: string): string => `failover ${loadBalancerId}`;
/** The hold of a load balancer that broke while it was created. */
export const brokenKey = (lbName: string): string => `broken ${lbName}`;
