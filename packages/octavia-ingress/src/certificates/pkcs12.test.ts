import { createSecureContext } from "node:tls";
import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { bundleOf, type Bundle } from "./pkcs12.ts";

const DAY = 86_400_000;
const authority = await createAuthority({ commonName: "ca", lifetime: DAY });
const pair = await issueCertificate(authority, {
  commonName: "a.example",
  dnsNames: ["a.example"],
  usages: ["server"],
  lifetime: DAY,
});

test("the PKCS #12 writer gives a file that OpenSSL opens with an empty password", () => {
  const chain = Buffer.from(`${pair.certificate}\n${authority.certificate}`);
  const bundle = bundleOf(chain, Buffer.from(pair.key)) as Bundle;
  expect(() => createSecureContext({ pfx: bundle.pkcs12(), passphrase: "" })).not.toThrow();
  expect(() => createSecureContext({ pfx: bundle.pkcs12(), passphrase: "wrong" })).toThrow("mac verify failure");
});

test("the PKCS #12 writer gives the same bytes for the same PEM, and others for another certificate", async () => {
  const first = bundleOf(Buffer.from(pair.certificate), Buffer.from(pair.key)) as Bundle;
  const again = bundleOf(Buffer.from(pair.certificate), Buffer.from(pair.key)) as Bundle;
  const other = await issueCertificate(authority, {
    commonName: "a.example",
    dnsNames: ["a.example"],
    usages: ["server"],
    lifetime: DAY,
  });
  const next = bundleOf(Buffer.from(other.certificate), Buffer.from(other.key)) as Bundle;
  expect(again.pkcs12().equals(first.pkcs12())).toBe(true);
  expect(next.digest).not.toBe(first.digest);
});

test.each([
  ["no certificate", "", pair.key, "has no certificate in tls.crt"],
  ["no key", pair.certificate, "", "has no private key without password in tls.key"],
  [
    "another's key",
    pair.certificate,
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    "has a key in tls.key that is not the key of its certificate",
  ],
  ["a chain without end", "x".repeat(300_000), pair.key, "is larger than 262144 bytes"],
])("the PKCS #12 writer refuses %s", (_, certificate, key, problem) => {
  expect(bundleOf(Buffer.from(certificate), Buffer.from(key))).toEqual({ problem });
});
