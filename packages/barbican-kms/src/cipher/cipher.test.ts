import { createCipheriv, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasCode } from "@causeway/foundation";
import { CHECK } from "./plan-check.ts";
import { ALGORITHM, decrypt, encrypt } from "./cipher.ts";
import { decryptUpstream } from "./plan-upstream.ts";

const ID = "0b9a2f1e-5c7d-4a3b-9e8f-112233445566";
const OTHER = "1b9a2f1e-5c7d-4a3b-9e8f-112233445566";

/** As the upstream plugin writes it: a random vector, AES-CBC, padding of one block at least. */
function upstream(key: Buffer, plain: Buffer): Buffer {
  const vector = randomBytes(16);
  const cipher = createCipheriv(`aes-${key.length * 8}-cbc`, key, vector);
  return Buffer.concat([vector, cipher.update(plain), cipher.final()]);
}

function isRefused(act: () => unknown, code = "KMS_DATA_INVALID"): boolean {
  try {
    act();
    return false;
  } catch (error) {
    return hasCode(error, code);
  }
}

describe("encrypted data", () => {
  it("is decrypted with its key and key id alone, and with no changed byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 896 }), fc.constantFrom(16, 24, 32), fc.nat(), (plain, length, at) => {
        const key = randomBytes(length);
        const sealed = encrypt(key, ID, plain);
        expect(Buffer.from(decrypt(key, sealed))).toEqual(Buffer.from(plain));
        expect(sealed.ciphertext.length).toBeLessThan(1_024);
        expect(isRefused(() => decrypt(randomBytes(length), sealed), "KMS_KEY_CHANGED")).toBe(true);
        const unchecked = { ...sealed, annotations: { [ALGORITHM]: sealed.annotations[ALGORITHM] ?? plain } };
        expect(Buffer.from(decrypt(key, unchecked))).toEqual(Buffer.from(plain));
        expect(isRefused(() => decrypt(randomBytes(length), unchecked))).toBe(true);
        expect(isRefused(() => decrypt(key, { ...sealed, keyId: OTHER }))).toBe(true);
        const changed = Uint8Array.from(sealed.ciphertext);
        changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ 1;
        expect(isRefused(() => decrypt(key, { ...sealed, ciphertext: changed }))).toBe(true);
        expect(isRefused(() => decrypt(key, { ...sealed, ciphertext: sealed.ciphertext.slice(0, at % 60) }))).toBe(
          true,
        );
      }),
      { numRuns: 50 },
    );
  });

  it("is never encrypted to the same twice", () => {
    const key = randomBytes(32);
    expect(encrypt(key, ID, Buffer.from("a")).ciphertext).not.toEqual(encrypt(key, ID, Buffer.from("a")).ciphertext);
  });

  it("is never read as another cipher when its annotation is lost, whatever its length", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 96 }), (plain) => {
        const key = randomBytes(32);
        const bare = { ...encrypt(key, ID, plain), annotations: {} };
        expect(Buffer.from(decrypt(key, bare))).toEqual(Buffer.from(plain));
        expect(isRefused(() => decrypt(randomBytes(32), bare))).toBe(true);
      }),
      { numRuns: 50 },
    );
    // One in 256 of this length has the padding of AES-CBC.
    const key = randomBytes(32);
    const plain = Buffer.alloc(36, 1);
    for (let i = 0; i < 1_000; i++)
      expect(Buffer.from(decrypt(key, { ...encrypt(key, ID, plain), annotations: {} }))).toEqual(plain);
  });

  it("of the upstream plugin is read by its own function alone, whatever its length and key length", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(16, 24, 32), (plain, length) => {
        const key = randomBytes(length);
        const data = { ciphertext: upstream(key, Buffer.from(plain)), keyId: ID, annotations: {} };
        expect(Buffer.from(decryptUpstream(key, data) ?? "none")).toEqual(Buffer.from(plain));
        expect(isRefused(() => decrypt(key, data))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it.each<[string, Uint8Array]>([
    ["is empty", new Uint8Array()],
    ["is shorter than a vector", new Uint8Array(5)],
    ["has a vector alone", new Uint8Array(16)],
    ["is not a whole number of blocks", new Uint8Array(40)],
    ["has wrong padding", new Uint8Array(64)],
  ])("of the upstream plugin that %s is refused", (_what, ciphertext) => {
    expect(decryptUpstream(Buffer.alloc(32, 7), { ciphertext, keyId: ID, annotations: {} })).toBeUndefined();
  });

  it("with a check value is refused with the reason, and shows nothing of the key", () => {
    const key = randomBytes(32);
    const sealed = encrypt(key, ID, Buffer.from("a"));
    expect(sealed.annotations[CHECK]).toHaveLength(16);
    expect(key.includes(Buffer.from(sealed.annotations[CHECK] ?? []))).toBe(false);
    expect(encrypt(key, OTHER, Buffer.from("b")).annotations[CHECK]).toEqual(sealed.annotations[CHECK]);
    expect(() => decrypt(randomBytes(32), sealed)).toThrow("another key than the data was encrypted with");
    const bare = { [CHECK]: sealed.annotations[CHECK] ?? new Uint8Array() };
    const data = { ciphertext: upstream(key, Buffer.from("a")), keyId: ID, annotations: bare };
    expect(decryptUpstream(key, data)).toBeUndefined();
  });

  it("with our annotation is never read as the upstream plugin's", () => {
    const key = randomBytes(32);
    const { annotations } = encrypt(key, ID, Buffer.from("a"));
    expect(
      decryptUpstream(key, { ciphertext: upstream(key, Buffer.from("a")), keyId: ID, annotations }),
    ).toBeUndefined();
  });

  it("with an unknown algorithm, or larger than the protocol takes, is refused", () => {
    const key = randomBytes(32);
    const annotations = { "algorithm.kms.causeway.dev": Buffer.from("rot13") };
    expect(isRefused(() => decrypt(key, { ...encrypt(key, ID, Buffer.from("a")), annotations }))).toBe(true);
    expect(() => encrypt(key, ID, new Uint8Array(897))).toThrow("896 is the limit");
  });
});
