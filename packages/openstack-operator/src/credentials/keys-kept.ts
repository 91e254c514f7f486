/**
 * The number of keys that verify every token until it expires: the staged key, the signing key, and the keys of tokens
 * that have not expired.
 */
export function keysKept(lifetimeHours: number, everyHours: number): number {
  return Math.ceil(lifetimeHours / everyHours) + 2;
}
