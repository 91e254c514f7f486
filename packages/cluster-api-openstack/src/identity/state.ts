/** Whether there is a cloud to talk to; `cloud` is what the informers of its project hold. */
export type IdentityState<Cloud> =
  | { readonly ok: true; readonly cloud: Cloud }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** OpenStack refused for a reason that an immediate retry does not change: a quota, a policy, an invalid value. */
export interface Hold {
  /** The condition that says so. */
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}
