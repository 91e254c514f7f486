import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { CausewayError } from "@causeway/foundation";
import type { Encrypted } from "@causeway/kms";
import { CHECK, checkOf, isSameCheck } from "./plan-check.ts";

/** The annotation that has the algorithm of a ciphertext. Data of the upstream plugin has none. */
export const ALGORITHM = "algorithm.kms.causeway.dev";
const GCM = "aes-256-gcm";
const SALT = 32;
const NONCE = 12;
const TAG = 16;
/** A ciphertext may have 1,023 bytes, and an API server encrypts seeds of 32. */
const LARGEST_PLAIN = 896;

/**
 * AES-256-GCM under a key of its own for each ciphertext, derived from the key in Barbican and a random salt: "salt
 * nonce ciphertext tag". The id of the key is bound to it. The derivation also keeps the key apart from what the
 * upstream plugin does with the same one.
 */
export function encrypt(key: Uint8Array, keyId: string, plaintext: Uint8Array): Encrypted {
  if (plaintext.length > LARGEST_PLAIN)
    throw new CausewayError(
      "KMS_REQUEST_INVALID",
      `The data to encrypt has ${plaintext.length} bytes; ${LARGEST_PLAIN} is the limit.`,
    );
  const salt = randomBytes(SALT);
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(GCM, derived(key, salt), nonce, { authTagLength: TAG });
  cipher.setAAD(Buffer.from(keyId));
  const ciphertext = Buffer.concat([salt, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return { ciphertext, keyId, annotations: { [ALGORITHM]: Buffer.from(GCM), [CHECK]: checkOf(key) } };
}

/**
 * The plain text of `encrypt`, proved by its tag. Whether the annotation says so does not matter: one that was lost
 * makes no other cipher of it.
 * @throws KMS_KEY_CHANGED where the data has the check value of another key; KMS_DATA_INVALID for whatever was changed
 */
export function decrypt(key: Uint8Array, { ciphertext, keyId, annotations }: Encrypted): Uint8Array {
  const algorithm = annotations[ALGORITHM];
  const check = annotations[CHECK];
  if (check !== undefined && !isSameCheck(check, checkOf(key)))
    throw new CausewayError(
      "KMS_KEY_CHANGED",
      `What Barbican has as the secret ${keyId} is another key than the data was encrypted with.`,
      {
        hint: "Check that Barbican itself responds at its address, restore the secret of that id, and restart the plugin.",
      },
    );
  try {
    if (algorithm === undefined || Buffer.from(algorithm).toString() === GCM)
      return authenticated(key, keyId, Buffer.from(ciphertext));
  } catch {
    // The reason would help an attacker who changes data and reads the error.
  }
  const wasOurs = algorithm !== undefined;
  throw new CausewayError(
    "KMS_DATA_INVALID",
    `Data that was encrypted with key ${keyId} cannot be decrypted: it was changed, or encrypted with another key${wasOurs ? "" : " or plugin"}.`,
    {
      hint: wasOurs
        ? "Restore the data from a backup, or the secret of that id in Barbican."
        : "If barbican-kms-plugin wrote it, start with --read-upstream-data until all records are rewritten; else restore it from a backup.",
    },
  );
}

function derived(key: Uint8Array, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, "causeway barbican-kms aes-256-gcm", 32));
}

function authenticated(key: Uint8Array, keyId: string, sealed: Buffer): Buffer {
  const [salt, nonce] = [sealed.subarray(0, SALT), sealed.subarray(SALT, SALT + NONCE)];
  const decipher = createDecipheriv(GCM, derived(key, salt), nonce, { authTagLength: TAG });
  decipher.setAAD(Buffer.from(keyId));
  decipher.setAuthTag(sealed.subarray(-TAG));
  return Buffer.concat([decipher.update(sealed.subarray(SALT + NONCE, -TAG)), decipher.final()]);
}
