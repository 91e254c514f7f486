import type { OpenStackDeploymentSpec } from "@causeway/api";

/** Life of a token and time between rotations, unless the deployment says otherwise. */
const TOKEN_HOURS = 12;
/** After so long every pod has a Secret as it was written: the kubelet checks once in a minute and a half at most. */
export const SPREAD_MINUTES = 3;

/** How tokens live and their keys rotate. */
export interface TokenTimes {
  readonly everyMinutes: number;
  readonly lifetimeHours: number;
}

/** What a deployment says of its tokens. */
export function tokenTimes({ rotation }: Pick<OpenStackDeploymentSpec, "rotation">): TokenTimes {
  const { everyMinutes, everyHours = TOKEN_HOURS, lifetimeHours = TOKEN_HOURS } = rotation?.tokenKeys ?? {};
  return { everyMinutes: everyMinutes ?? everyHours * 60, lifetimeHours };
}

/** Keys that wait for their turn: when one begins to sign, every Keystone has had it for as long as Secrets take. */
export const stagedKeys = ({ everyMinutes }: TokenTimes): number =>
  Math.max(1, Math.ceil(SPREAD_MINUTES / everyMinutes));

/**
 * How long a key verifies after it has signed: as long as tokens live. A Keystone that has not seen the rotation yet
 * still signs with it.
 */
export const verifyingMinutes = ({ lifetimeHours }: TokenTimes): number => lifetimeHours * 60 + SPREAD_MINUTES;

/** The number of keys that there are then: those that wait, the one that signs, and those that verify. */
export const keysKept = (times: TokenTimes): number =>
  Math.ceil(verifyingMinutes(times) / times.everyMinutes) + 1 + stagedKeys(times);
