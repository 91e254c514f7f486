/** The CA's key of `--ca-key`: what is read, and what is refused of the file. */
import { createPrivateKey } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, type KeyPair } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { caKeyOf, readCaKey } from "./ca-key.ts";

const dir = mkdtempSync(join(tmpdir(), "ca-key-"));
let authority: KeyPair;
let other: KeyPair;
beforeAll(async () => {
  const of = (commonName: string) => createAuthority({ commonName, lifetime: 86_400_000 });
  [authority, other] = [await of("web"), await of("other")];
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function fileOf(text: string, mode = 0o600): string {
  const path = join(dir, "ca.key");
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe("the file of --ca-key", () => {
  test("is read where it has a private key for its owner alone", () => {
    expect(readCaKey(fileOf(authority.key))).toBe(authority.key);
  });
  test.for<[string, () => string, RegExp]>([
    ["that does not exist", () => join(dir, "none"), /cannot be read: ENOENT/],
    ["that is a folder", () => dir, /is not a file/],
    ["that others can read", () => fileOf(authority.key, 0o640), /other users/],
    ["of more than any key has", () => fileOf(authority.key + "\n".repeat(64 * 1024)), /at most 65536 bytes/],
    ["with a certificate", () => fileOf(authority.certificate), /is not a private key/],
    [
      "that is encrypted, as Magnum stores it",
      () =>
        fileOf(
          createPrivateKey(authority.key)
            .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
            .toString(),
        ),
      /is encrypted/,
    ],
  ])("is refused: one %s", ([, path, message]) => {
    expect(() => readCaKey(path())).toThrow(
      expect.objectContaining({ code: "MIGRATE_CA_KEY_INVALID", message: expect.stringMatching(message) as string }),
    );
  });
});

describe("the key of the cluster's CA", () => {
  test("is the given one, else the master's, else none", () => {
    const ca = authority.certificate;
    expect(caKeyOf(authority.key, { ca })).toBe(authority.key);
    expect(caKeyOf(undefined, { ca, caKey: authority.key })).toBe(authority.key);
    expect(caKeyOf(undefined, { ca })).toBeUndefined();
  });
  test("is refused where it is that of another certificate, also when a master has the right one", () => {
    expect(() => caKeyOf(other.key, { ca: authority.certificate, caKey: authority.key })).toThrow(
      expect.objectContaining({ code: "MIGRATE_KEY_MISMATCH" }),
    );
  });
});
