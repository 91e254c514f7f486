import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * Seals one record so that it opens only as what it was sealed as. `open` throws when key, record or `about` is
 * another.
 */
export interface Cipher {
  seal(plain: Buffer, about: Buffer): Buffer;
  open(sealed: Buffer, about: Buffer): Buffer;
}

/** A provider of an EncryptionConfiguration (apiserver.config.k8s.io/v1) with keys of its own. */
export type CipherName = "aesgcm" | "secretbox" | "aescbc";

/** The lengths that keys may have, in bytes. Source: kubernetes.io, "Encrypting Confidential Data at Rest". */
export const KEY_LENGTHS: Readonly<Record<CipherName, readonly number[]>> = {
  aesgcm: [16, 24, 32],
  secretbox: [32],
  aescbc: [16, 24, 32],
};

/** A cipher whose records each have a key derived from `key` by HKDF (aesgcm, secretbox), or an HMAC (aescbc). */
export function createCipher(name: CipherName, key: Buffer): Cipher {
  if (name === "aescbc") return chained(key);
  return authenticated(name === "aesgcm" ? "aes-256-gcm" : "chacha20-poly1305", key);
}

const SEED = 32;
const NONCE = 12;
const TAG = 16;
const BLOCK = 16;
const MAC = 32;

/**
 * Every record has a key of its own, drawn from the configured one and a random seed, so that no number of records
 * brings a random nonce to repeat under one key: "seed nonce ciphertext tag".
 */
function authenticated(algorithm: "aes-256-gcm" | "chacha20-poly1305", key: Buffer): Cipher {
  const keyOf = (seed: Buffer): Buffer => Buffer.from(hkdfSync("sha256", key, seed, algorithm, 32));
  // The types of node:crypto know GCM and ChaCha20-Poly1305 apart, though both are used in the same way.
  const gcm = algorithm as "aes-256-gcm";
  return {
    seal(plain, about) {
      const seed = randomBytes(SEED);
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv(gcm, keyOf(seed), nonce, { authTagLength: TAG });
      cipher.setAAD(about, { plaintextLength: plain.length });
      return Buffer.concat([seed, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, about) {
      const [seed, nonce] = [sealed.subarray(0, SEED), sealed.subarray(SEED, SEED + NONCE)];
      const decipher = createDecipheriv(gcm, keyOf(seed), nonce, { authTagLength: TAG });
      const body = sealed.subarray(SEED + NONCE, -TAG);
      decipher.setAAD(about, { plaintextLength: body.length });
      decipher.setAuthTag(sealed.subarray(-TAG));
      return Buffer.concat([decipher.update(body), decipher.final()]);
    },
  };
}

/** AES-CBC, which does not notice changes by itself, under an HMAC: "vector ciphertext mac". */
function chained(key: Buffer): Cipher {
  const encryption = Buffer.from(hkdfSync("sha256", key, "", "aescbc encryption", 32));
  const authentication = Buffer.from(hkdfSync("sha256", key, "", "aescbc authentication", 32));
  const macOf = (sealed: Buffer, about: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(about.length);
    return createHmac("sha256", authentication).update(length).update(about).update(sealed).digest();
  };
  return {
    seal(plain, about) {
      const vector = randomBytes(BLOCK);
      const cipher = createCipheriv("aes-256-cbc", encryption, vector);
      const sealed = Buffer.concat([vector, cipher.update(plain), cipher.final()]);
      return Buffer.concat([sealed, macOf(sealed, about)]);
    },
    open(whole, about) {
      const sealed = whole.subarray(0, -MAC);
      const mac = whole.subarray(-MAC);
      if (mac.length !== MAC || !timingSafeEqual(mac, macOf(sealed, about))) throw new Error("the record was changed");
      const decipher = createDecipheriv("aes-256-cbc", encryption, sealed.subarray(0, BLOCK));
      return Buffer.concat([decipher.update(sealed.subarray(BLOCK)), decipher.final()]);
    },
  };
}
