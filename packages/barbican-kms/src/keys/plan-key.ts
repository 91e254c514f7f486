/** A key that was read from Barbican, and when (milliseconds since the epoch). */
export interface HeldKey {
  readonly key: Uint8Array;
  readonly read: number;
}

/** Durations in milliseconds. */
export interface KeyRules {
  /** After it the key is read from Barbican again, which finds that it was deleted or withdrawn. */
  readonly lifetime: number;
  /** For this time after its last reading a key is used while Barbican is away. */
  readonly outage: number;
}

/** Whether the key is used without a read. */
export function isFresh(held: HeldKey | undefined, now: number, { lifetime }: KeyRules): boolean {
  return held !== undefined && now < held.read + lifetime;
}

/** Whether the key is used although a read of it failed. */
export function survivesOutage(held: HeldKey | undefined, now: number, { outage }: KeyRules): held is HeldKey {
  return held !== undefined && now < held.read + outage;
}

/** The id of a secret: a UUID. What an attacker writes in its place never becomes part of a URL. */
export function isKeyId(id: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id);
}
