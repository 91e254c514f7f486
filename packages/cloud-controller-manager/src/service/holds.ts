import type { Clock } from "@causeway/foundation";

interface Hold {
  readonly count: number;
  readonly until: number;
}

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

  hold(key: string, pace: HoldPace): void {
    const count = this.#held.get(key)?.count ?? 0;
    this.#held.set(key, { count: count + 1, until: this.#clock.now() + Math.min(pace.cap, pace.base * 2 ** count) });
  }

  holdUntil(key: string, until: number): void {
    this.#held.set(key, { count: (this.#held.get(key)?.count ?? 0) + 1, until });
  }

  /** Milliseconds since the epoch; undefined when nothing was held. It may be past. */
  until(key: string): number | undefined {
    return this.#held.get(key)?.until;
  }

  /** How often in a row it was held. */
  count(key: string): number {
    return this.#held.get(key)?.count ?? 0;
  }

  release(key: string): void {
    this.#held.delete(key);
  }
}

/** A create of this load balancer was sent and its outcome is not known. */
export const uncertainKey = (lbName: string): string => `uncertain ${lbName}`;
/** A create of this load balancer was answered with an error, so often in a row. */
export const failedCreateKey = (lbName: string): string => `failed create ${lbName}`;
/** A floating IP that a Service names by its address is not in the cache. */
export const soughtKey = (address: string): string => `sought ${address}`;
export const busyKey = (loadBalancerId: string): string => `busy ${loadBalancerId}`;
export const methodKey = (poolId: string, method: string): string => `method ${poolId} ${method}`;
export const failoverKey = (loadBalancerId: string): string => `failover ${loadBalancerId}`;
export const brokenKey = (lbName: string): string => `broken ${lbName}`;
