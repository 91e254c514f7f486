import "reflect-metadata";
import { X509Certificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { beforeAll, describe, expect, test } from "vitest";
import { verifyChain } from "./parsed-certificates.ts";
import { hasCode } from "./errors.ts";
import type { KeyPair } from "./pki-interface.ts";
import { signAsRequested } from "./pki-requested.ts";
import { createAuthority, requestsAuthority } from "./pki.ts";

const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;

/** Of "openssl req -new", with the subjects and extensions that the cases name. */
const requests = {
  terraform: `-----BEGIN CERTIFICATE REQUEST-----
MIH4MIGfAgEAMD0xFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMRIwEAYDVQQLDAl0
ZXJyYWZvcm0xDjAMBgNVBAMMBWFkbWluMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAE/m9oGKWbcmvOxmN9wM2hS+1Js/ryr34JxamImlEf2SP2fjHcx1JnFMdqqctI
G50c6UPHSb9mmbibqXHytfl5X6AAMAoGCCqGSM49BAMCA0gAMEUCIGRpCJuHjzyC
swNAa2FF0ZCH0P/4+NOofZVzLvEevxsoAiEAuY7wd2SbO/xfIe5WzR41XLvi7Bjm
AYEThg2H/r1UrRg=
-----END CERTIFICATE REQUEST-----`,
  whole: `-----BEGIN CERTIFICATE REQUEST-----
MIIBQTCB6AIBADCBhTELMAkGA1UEBhMCREUxDzANBgNVBAgMBkJlcmxpbjEPMA0G
A1UEBwwGQmVybGluMQowCAYDVQQKDAFhMQowCAYDVQQKDAFiMRIwEAYDVQQLDAl0
ZXJyYWZvcm0xCjAIBgNVBAMMAXgxHDAaBgkqhkiG9w0BCQEWDXhAZXhhbXBsZS5v
cmcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT+KAS5O1EC80xMA0pCazFjE+GM
WbKqV8ZApNJV8vchkRmNM7NQLZ6X6/s6Ij/RfDEpNJknKb2p8GXYQrZ5VkTooAAw
CgYIKoZIzj0EAwIDSAAwRQIhAKJ+V/NcIr65GuLgmnHU86TqvqrF2WGhlflKJkCv
MhEvAiBefYGhf8nELIzSQ3PQ8e8/7B/wsOUhQGZ5tedgM04yng==
-----END CERTIFICATE REQUEST-----`,
  nameless: `-----BEGIN CERTIFICATE REQUEST-----
MIHTMHsCAQAwGTEXMBUGA1UECgwOc3lzdGVtOm1hc3RlcnMwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAT3345mpZO7ed3LpLs4D9FeV+21UK77KwdCxKSXOmusI7Y3
LMuAsF2wkwhsmcAQ68MwtHcAR7uS4fCIBRgkuHUVoAAwCgYIKoZIzj0EAwIDSAAw
RQIhAMzu6Gdba0qQF6ODJUJSk4XTToR8GcBShUnQyZjm+0MnAiAie7vE5g1gnaiz
pxGc/uIYfmOm1vwJKGrEOZ5lCUf58A==
-----END CERTIFICATE REQUEST-----`,
  client: `-----BEGIN CERTIFICATE REQUEST-----
MIIBIDCByAIBADAMMQowCAYDVQQDDAF4MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEfiXhBjvdKKfJ78L5RE80jVCFAfPU1Wjn7sT83et58pR/aw5NpkVf/hQxlkXP
Sq/KjAoS7luur2rsyKN2134gr6BaMFgGCSqGSIb3DQEJDjFLMEkwEwYDVR0lBAww
CgYIKwYBBQUHAwIwDgYDVR0PAQH/BAQDAgeAMCIGA1UdEQQbMBmBDXhAZXhhbXBs
ZS5vcmeGBXVybjp4ggF4MAoGCCqGSM49BAMCA0cAMEQCIBawUH7gKxrPm/CRg6in
6IlNzUaL3Lk6UhQuGfOhG0SSAiAFgNoc4V/IpJIAwhQO6SeXpYE/NqvxC5Cp4grX
+3OtxQ==
-----END CERTIFICATE REQUEST-----`,
  foreign: `-----BEGIN CERTIFICATE REQUEST-----
MIHqMIGRAgEAMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATvo91+3c4t16nkK4Jr9Qy9qHt8MrSzZARqeGI6VCgO6+isviKZrYiTGoJYZfwU
Rl6FYGIsWBPK8qUKGeCmupXRoCMwIQYJKoZIhvcNAQkOMRQwEjAQBgNVHR4ECTAH
oAUwA4IBeDAKBggqhkjOPQQDAgNIADBFAiEA77IGsk4yBF92ujZzU1r0Gl6N10TM
MQoAOb0s/zO/Z68CICiIpBke0wCfOxr7G2rZuHpvI43fE/S3+k8lYLEmYO5D
-----END CERTIFICATE REQUEST-----`,
  foreignCritical: `-----BEGIN CERTIFICATE REQUEST-----
MIHsMIGUAgEAMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATuZhhYMU98LXYWrb6dbZh0fNE3451E/w8iN2WGCzTnrIoT3b+aN2uZxFK1LKSe
gwRK6QOIXZWIuHfhHc0b2yS1oCYwJAYJKoZIhvcNAQkOMRcwFTATBgNVHR4BAf8E
CTAHoAUwA4IBeDAKBggqhkjOPQQDAgNHADBEAiADmUJAMnHxrHKswdZtaRHAWAo+
FxG292WRocmvHVeA9gIgMbzoUpPYxk0orpR0roXw7/Pgd1j9ygN5LTTMrXGFDaU=
-----END CERTIFICATE REQUEST-----`,
  agreement: `-----BEGIN CERTIFICATE REQUEST-----
MIHlMIGMAgEAMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQsF2NREd+7reO9R8CJB/ThoNnl2w91YRG+9Fa4TBZ07zIUoEoG8ClXkKMsHWNt
WaLwFBBIz2vg3Al2PFZiGcgaoB4wHAYJKoZIhvcNAQkOMQ8wDTALBgNVHQ8EBAMC
A4gwCgYIKoZIzj0EAwIDSAAwRQIhAJhpy/NcS8QnvU8i50sfHLLq7Jr4a9lEWgvJ
g2M4OzO8AiBwvMwbdzQ69ALvrhedNZ3SLFWXAHgueQrrLkFfEBVMzw==
-----END CERTIFICATE REQUEST-----`,
  agreementCritical: `-----BEGIN CERTIFICATE REQUEST-----
MIHpMIGPAgEAMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AARoyU8Wv3TpUuvoDekMFkhp0vnbRGzZnx4/S2YNyooVUeuXFnwdcc3Cbi85i0mC
lBFOyL7q+0cZewVbAUq4PWdhoCEwHwYJKoZIhvcNAQkOMRIwEDAOBgNVHQ8BAf8E
BAMCAwgwCgYIKoZIzj0EAwIDSQAwRgIhAIXmxq64dR9ZQmmMQusVQrnMGQP98i+Q
YY5OokcE/C15AiEAqnvQED3aLP+swd9CgxACrXoUh5zRGFSZbV0NCpSsUis=
-----END CERTIFICATE REQUEST-----`,
  rsa1024: `-----BEGIN CERTIFICATE REQUEST-----
MIIBXDCBxgIBADAdMQswCQYDVQQGEwJVUzEOMAwGA1UEAwwFc21hbGwwgZ8wDQYJ
KoZIhvcNAQEBBQADgY0AMIGJAoGBAOEkzVPAV68Vqf7ZlOwCvDRll533ok97tPL4
IlBQxrcNgr1H7ZagfYlzlOV4wvwRaAzSg+DHzoi2OBaLdYUOccMOmr3/fdz4rHCA
R/kTb11icYjrjl83LlSQNKLffzXN1td6FezSUXKo54BGqMRfmI1fs4JyidqFHk1g
ScDBCssBAgMBAAGgADANBgkqhkiG9w0BAQsFAAOBgQA/8/fTOxZXT9Y+5B91lP+g
k5bFu6EuH2fnY9j8aGxMkPZGnCx8UyLvX2477k2nXTpETQF9bVf5JgMTHilPvumT
corkfPqmtaNVo6lQDW4PVP1+PvvJu9tJEbWuOx+3kktsNMvOEt52ZmXXK1sFh4U8
bAqWOzWNj/d1FFBlIYnvfQ==
-----END CERTIFICATE REQUEST-----`,
} as const;

let authority: KeyPair;
beforeAll(async () => {
  authority = await createAuthority({ commonName: "kubernetes", lifetime: 10 * DAY, now: NOW });
});

async function signed(of: keyof typeof requests): Promise<X509Certificate> {
  const pem = await signAsRequested(authority, requests[of], { lifetime: DAY, now: NOW });
  expect(verifyChain(pem, authority.certificate)).toBe(true);
  return new X509Certificate(pem);
}

const [CLIENT, SERVER] = ["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"];

describe("a certificate that is signed as requested", () => {
  test.each<[keyof typeof requests, string]>([
    ["terraform", "O=system:masters\nOU=terraform\nCN=admin"],
    ["whole", "C=DE\nST=Berlin\nL=Berlin\nO=a\nO=b\nOU=terraform\nCN=x\nemailAddress=x@example.org"],
    ["nameless", "O=system:masters"],
    ["rsa1024", "C=US\nCN=small"],
  ])("has the whole subject of request %s in its order, and nothing more", async (of, subject) => {
    expect((await signed(of)).subject).toBe(subject);
  });

  test("is valid from a day before, and is none of an authority", async () => {
    const { validFrom, validTo, ca } = await signed("terraform");
    expect([Date.parse(validFrom), Date.parse(validTo), ca]).toEqual([NOW - DAY, NOW + DAY, false]);
  });

  test("has the purposes that the request names, and those of clients and servers otherwise", async () => {
    expect((await signed("client")).keyUsage).toEqual([CLIENT]);
    expect((await signed("terraform")).keyUsage).toEqual([CLIENT, SERVER]);
  });

  test("has every alternative name", async () => {
    expect((await signed("client")).subjectAltName).toBe("email:x@example.org, URI:urn:x, DNS:x");
    expect((await signed("terraform")).subjectAltName).toBeUndefined();
  });

  test("leaves out what is neither supported nor critical: name constraints, and usages of the key", async () => {
    const { extensions } = new x509.X509Certificate((await signed("foreign")).raw);
    // keyUsage, extendedKeyUsage, basicConstraints and authorityKeyIdentifier.
    expect(extensions.map(({ type }) => type)).toEqual(["2.5.29.15", "2.5.29.37", "2.5.29.19", "2.5.29.35"]);
    const agreement = new x509.X509Certificate((await signed("agreement")).raw);
    const { usages, critical } = agreement.getExtension(x509.KeyUsagesExtension) ?? {};
    expect([usages, critical]).toEqual([x509.KeyUsageFlags.digitalSignature, false]);
  });

  test.each<[keyof typeof requests, RegExp]>([
    ["foreignCritical", /the critical extension 2\.5\.29\.30 is not supported/],
    ["agreementCritical", /digitalSignature, keyEncipherment and contentCommitment only/],
  ])("is refused for request %s, whose extension is critical", async (of, why) => {
    const error: unknown = await signed(of).catch((cause: unknown) => cause);
    expect(hasCode(error, "PKI_REQUEST_INVALID")).toBe(true);
    expect(String(error)).toMatch(why);
  });
});

test("a request with an extension that cannot be read is invalid, not a failure", async () => {
  const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const broken = new x509.Extension("2.5.29.17", false, new Uint8Array([0x30, 0x50]));
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: "CN=x",
    keys,
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    extensions: [broken],
  });
  await expect(requestsAuthority(request.toString("pem"))).rejects.toMatchObject({ code: "PKI_REQUEST_INVALID" });
});
