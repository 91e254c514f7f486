import { hkdfSync } from "node:crypto";

/** The annotation that has the check value of the key that a ciphertext was encrypted with. */
export const CHECK = "key-check.kms.causeway.dev";
const LENGTH = 16;

/**
 * A value by which two readings of a secret are compared, and a ciphertext with the key that a process has. It is
 * derived from the key apart from every key of a cipher, so that it can be stored in the clear.
 */
export function checkOf(key: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, new Uint8Array(), "causeway barbican-kms key check", LENGTH));
}

/** Whether two check values are of the same key. */
export function isSameCheck(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(one).equals(other);
}
