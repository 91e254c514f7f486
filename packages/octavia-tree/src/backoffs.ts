import type { Clock } from "@causeway/foundation";

interface Backoff {
  readonly count: number;
  readonly until: number;
  /** What was requested when it failed. */
  readonly about?: string | undefined;
}

/** How long a retry is put off. */
export interface BackoffPolicy {
  /** Milliseconds after the first failure; after each that follows, twice as long as the time before. */
  readonly base: number;
  readonly cap: number;
}

/** Octavia responded 409: another change of the load balancer is being worked on, and it is immutable until then. */
export const immutableBackoff: BackoffPolicy = { base: 500, cap: 30_000 };
/** What a provider refused once, it will refuse again. */
export const refusedBackoff: BackoffPolicy = { base: 3_600_000, cap: 3_600_000 };
/** A load balancer that went to ERROR while it was created is about to be recreated. */
export const errorBackoff: BackoffPolicy = { base: 5_000, cap: 300_000 };
/** A floating IP that is named by its address does not exist, or another port has it. */
export const floatingIpBackoff: BackoffPolicy = { base: 5_000, cap: 60_000 };
/** Octavia responded to a create with an error of its own: what it refused twice it may refuse for long. */
export const failedCreateBackoff: BackoffPolicy = { base: 2_000, cap: 300_000 };

/**
 * What must not be retried before some time has passed, by key. Kept in memory only: a new process tries everything at
 * once.
 */
export class Backoffs {
  readonly #backoffs = new Map<string, Backoff>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * It failed once more: the next retry is put off, and the one after that for longer. `about`: what was requested.
   * Another request is not put off, and begins to count again.
   */
  increase(key: string, { base, cap }: BackoffPolicy, about?: string): void {
    const count = this.count(key, about);
    const until = this.#clock.now() + Math.min(cap, base * 2 ** count);
    this.#backoffs.set(key, { count: count + 1, until, about });
  }

  /** When to retry, in milliseconds since the epoch; it may be past. Undefined: it did not fail. */
  until(key: string, about?: string): number | undefined {
    return this.#of(key, about)?.until;
  }

  /** How often in a row it failed. */
  count(key: string, about?: string): number {
    return this.#of(key, about)?.count ?? 0;
  }

  #of(key: string, about: string | undefined): Backoff | undefined {
    const found = this.#backoffs.get(key);
    return found?.about === about ? found : undefined;
  }

  /** Whether it failed, whatever was requested. */
  has(key: string): boolean {
    return this.#backoffs.has(key);
  }

  /** It succeeded: the next failure counts as the first. */
  reset(key: string): void {
    this.#backoffs.delete(key);
  }
}

/** A create of this load balancer was sent and its outcome is not known. */
export const uncertainKey = (lbName: string): string => `uncertain ${lbName}`;
/** A create of this load balancer failed, so often in a row, for what the Service requests (`wishesOf`). */
export const failedCreateKey = (lbName: string): string => `failed create ${lbName}`;
/** A floating IP that a Service names by its address is not in the cache. */
export const floatingIpKey = (address: string): string => `floating IP ${address}`;
/** The load balancer is immutable. */
export const immutableKey = (loadBalancerId: string): string => `immutable ${loadBalancerId}`;
/** The cloud refused a pool's method. */
export const methodKey = (poolId: string, method: string): string => `method ${poolId} ${method}`;
/** A failover was refused. */
export const failoverKey = (loadBalancerId: string): string => `failover ${loadBalancerId}`;
/** A load balancer went to ERROR while it was created. */
export const errorKey = (lbName: string): string => `error ${lbName}`;
