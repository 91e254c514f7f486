/**
 * How many keys must be kept so that every token verifies until it ends: staged, signing, and those of living tokens.
 */
export function keysKept(lifetimeHours: number, everyHours: number): number {
  return Math.ceil(lifetimeHours / everyHours) + 2;
}
