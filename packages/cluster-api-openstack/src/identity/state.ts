/** Whether there is a cloud to talk to; `cloud` is what the informers of its project hold. */
export type IdentityState<Cloud> = { readonly ok: true; readonly cloud: Cloud } | Unopened;

/** The reason of what waits because the cloud limits the rate of requests: nothing has failed. */
export const RATE_LIMITED = "RateLimited";

/** The reason of what waits because the cloud does not respond and says for how long (503 with Retry-After). */
export const UNAVAILABLE = "CloudUnavailable";

/** Why there is no cloud to talk to. */
export interface Unopened {
  readonly ok: false;
  readonly reason: string;
  readonly message: string;
  /** The cloud wants to be left alone until then (ms since the epoch): nothing has failed. */
  readonly until?: number | undefined;
  /** Since when (ms since the epoch) it wants so again and again, without a call that succeeded. */
  readonly since?: number | undefined;
}

/** OpenStack refused for a reason that an immediate retry does not change: a quota, a policy, an invalid value. */
export interface Hold {
  /** The condition that says so. */
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}
