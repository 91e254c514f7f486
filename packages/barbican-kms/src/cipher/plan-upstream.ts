import { createDecipheriv } from "node:crypto";
import type { Encrypted } from "@causeway/kms";
import { CHECK } from "./plan-check.ts";
import { ALGORITHM } from "./cipher.ts";

const BLOCK = 16;

/**
 * The plain text of the upstream plugin's data, AES-CBC: "vector ciphertext" with the padding of PKCS #7 and without an
 * annotation. Undefined for what cannot be it. It has no proof against changes: the padding alone is checked, which one
 * of 256 changed texts passes, so that it is for data that `decrypt` has refused, and only where the operator wants it.
 */
export function decryptUpstream(key: Uint8Array, { ciphertext, annotations }: Encrypted): Uint8Array | undefined {
  if (annotations[ALGORITHM] !== undefined || annotations[CHECK] !== undefined) return undefined;
  const sealed = Buffer.from(ciphertext);
  if (sealed.length < 2 * BLOCK || sealed.length % BLOCK !== 0) return undefined;
  const decipher = createDecipheriv(`aes-${key.length * 8}-cbc`, key, sealed.subarray(0, BLOCK));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(BLOCK)), decipher.final()]);
  } catch {
    return undefined;
  }
}
