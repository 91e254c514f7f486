import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hasCode } from "./errors.ts";
import { readCertificate } from "./certificates.ts";
import { isCertificateFor, publicKeyHash, readValidity, verifyChain } from "./parsed-certificates.ts";
import { createAuthority, createRequest, issueCertificate, readRequest, signRequest } from "./pki.ts";

const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;
const subject = {
  commonName: "system:node:a",
  organizations: ["system:nodes", "other"],
  dnsNames: ["a", "a.example"],
  ipAddresses: ["10.0.0.1", "fd00::1"],
};

describe("the authority", () => {
  test("signs itself, and is marked as an authority", async () => {
    const authority = await createAuthority({ commonName: "kubernetes", lifetime: 10 * DAY, now: NOW });
    const facts = readCertificate(authority.certificate);
    expect(facts).toMatchObject({ commonName: "kubernetes", isAuthority: true, notAfter: NOW + 10 * DAY });
    expect(verifyChain(authority.certificate, authority.certificate)).toBe(true);
    expect(publicKeyHash(authority.certificate)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test("issues certificates with every requested name, valid from five minutes before", async () => {
    const authority = await createAuthority({ commonName: "kubernetes", lifetime: 10 * DAY, now: NOW });
    const issued = await issueCertificate(authority, { ...subject, usages: ["server"], lifetime: DAY, now: NOW });
    const facts = readCertificate(issued.certificate);
    expect(facts).toMatchObject({ ...subject, isAuthority: false, notBefore: NOW - 300_000, notAfter: NOW + DAY });
    expect(readValidity(issued.certificate)).toEqual({ notBefore: NOW - 300_000, notAfter: NOW + DAY });
    expect(verifyChain(issued.certificate, authority.certificate)).toBe(true);
    const stranger = await createAuthority({ commonName: "kubernetes", lifetime: 10 * DAY, now: NOW });
    expect(verifyChain(issued.certificate, stranger.certificate)).toBe(false);
  });

  test("may have a key in the older PEM forms", async () => {
    const authority = await createAuthority({ commonName: "kubernetes", lifetime: DAY });
    const sec1 = createPrivateKey(authority.key).export({ type: "sec1", format: "pem" }).toString();
    const issued = await issueCertificate(
      { ...authority, key: sec1 },
      { ...subject, usages: ["client"], lifetime: DAY },
    );
    expect(verifyChain(issued.certificate, authority.certificate)).toBe(true);
  });

  test("is refused with a code when its key cannot sign", async () => {
    const authority = await createAuthority({ commonName: "kubernetes", lifetime: DAY });
    const ed = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    for (const key of ["nonsense", ed]) {
      const failed = issueCertificate({ ...authority, key }, { ...subject, usages: ["client"], lifetime: DAY });
      await expect(failed).rejects.toSatisfy((e) => hasCode(e, "PKI_AUTHORITY_INVALID"));
    }
  });
});

describe("a certificate request", () => {
  test("is read back as it was created, and signed unchanged", async () => {
    const authority = await createAuthority({ commonName: "kubernetes", lifetime: 10 * DAY, now: NOW });
    const { request } = await createRequest(subject);
    expect(await readRequest(request)).toEqual(subject);
    const certificate = await signRequest(authority, request, { usages: ["client"], lifetime: DAY, now: NOW });
    expect(readCertificate(certificate)).toMatchObject(subject);
    expect(verifyChain(certificate, authority.certificate)).toBe(true);
  });

  test("that was changed after signing is refused", async () => {
    const { request } = await createRequest({ commonName: "system:node:a" });
    const der = Buffer.from(request.replace(/-----[^-]+-----|\s/g, ""), "base64");
    const at = der.indexOf("system:node:a");
    der.write("system:node:b", at);
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    await expect(readRequest(forged)).rejects.toSatisfy((e) => hasCode(e, "PKI_REQUEST_INVALID"));
    await expect(readRequest("nonsense")).rejects.toSatisfy((e) => hasCode(e, "PKI_REQUEST_INVALID"));
  });
});

test.each<[string, string, string[], boolean]>([
  ["all of its names", "a", ["10.0.0.1", "fd00::1"], true],
  ["an address in another spelling", "a.example", ["FD00:0::1"], true],
  ["another address", "a", ["10.0.0.1", "10.0.0.2"], false],
  ["another name", "b", ["10.0.0.1"], false],
  ["its common name alone", "system:node:a", [], false],
  ["a name that its wildcard would match", "x.wild.example", [], false],
])("a certificate is judged by exact names: %s", async (_, host, addresses, answer) => {
  const authority = await createAuthority({ commonName: "kubernetes", lifetime: DAY });
  const dnsNames = [...subject.dnsNames, "*.wild.example"];
  const wanted = { ...subject, dnsNames, usages: ["server"], lifetime: DAY } as const;
  const { certificate } = await issueCertificate(authority, wanted);
  expect(isCertificateFor(certificate, host, addresses)).toBe(answer);
});

test("text that is not a certificate is refused with a code", () => {
  for (const read of [readCertificate, readValidity, (text: string) => isCertificateFor(text, "a", [])])
    expect(() => read("nonsense")).toThrow(expect.objectContaining({ code: "PKI_CERTIFICATE_INVALID" }));
});
