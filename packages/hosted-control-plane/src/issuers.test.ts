import { createAuthority } from "@causeway/foundation";
import { beforeAll, describe, expect, test } from "vitest";
import {
  issuersConfiguration,
  issuersFile,
  issuersProblem,
  issuersText,
  issuersVersion,
  refuseIssuers,
  versionProblem,
} from "./issuers.ts";
import type { TokenIssuers } from "./runtime.ts";

const entry = (url: string, more: object = {}): TokenIssuers[number] => ({
  issuer: { url, audiences: ["web"], ...more },
  claimMappings: { username: { claim: "sub", prefix: "oidc:" }, groups: { claim: "groups", prefix: "oidc:" } },
});

/** Certificates that OpenSSL reads: `openssl req -x509` with a key of secp256k1, and with `-set_serial -5`. */
const OF_SECP256K1 = `-----BEGIN CERTIFICATE-----
MIIBbDCCARKgAwIBAgIUaWY5P3M4gK/a4e92NY1tluTDFrwwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCazEwHhcNMjYxMTI5MTczNjIzWhcNMjYxMjI5MTczNjIzWjAN
MQswCQYDVQQDDAJrMTBWMBAGByqGSM49AgEGBSuBBAAKA0IABNwKFPjINV3l+B4a
SPysm5Ho+46RmLHaUqEPnaIJQk6R49o8t+k6MoKQ8tgH/w6aKA4l4KK0WswdGJRZ
ofE9ULCjUzBRMB0GA1UdDgQWBBQwiEY52DZV4MLCLiZO1kJWIaKtMzAfBgNVHSME
GDAWgBQwiEY52DZV4MLCLiZO1kJWIaKtMzAPBgNVHRMBAf8EBTADAQH/MAoGCCqG
SM49BAMCA0gAMEUCIBDoINy0IcmMXzBY/1bzbM92xfJCASrFWL+NIDZHOt4AAiEA
jxbMJukKomUhz1i4Ew6wCws93yBGMv/nCq+FoM2eMVk=
-----END CERTIFICATE-----
`;
const WITH_NEGATIVE_SERIAL = `-----BEGIN CERTIFICATE-----
MIIBXDCCAQKgAwIBAgIB+zAKBggqhkjOPQQDAjANMQswCQYDVQQDDAJvazAeFw0y
NjExMjkxNzM2MjRaFw0yNjEyMjkxNzM2MjRaMA0xCzAJBgNVBAMMAm9rMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEo1QQ+oNuZwlNyUNHwTycWpTRt7DhzhqdKw3S
yZg1bEW13Y64I46IRrxGLfdCbD2nnlLgiPA8VbFdLU8WCB/jzaNTMFEwHQYDVR0O
BBYEFF1m1Ub6rxNJTGthICPuuUGnciuXMB8GA1UdIwQYMBaAFF1m1Ub6rxNJTGth
ICPuuUGnciuXMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgNc4/
I8VUwOiUaLqZmDq6uw9lJfAgDIPrF4kotRuQ+hUCIQDcJYAWLHtLTa5kpoYFgRRr
/XFkbLFFdtOyvSmElWh8NQ==
-----END CERTIFICATE-----
`;

let authority: string;
beforeAll(async () => {
  authority = (await createAuthority({ commonName: "issuer", lifetime: 3600_000 })).certificate;
});

test.for([
  ["v1.30.2", "v1beta1"],
  ["v1.33.13", "v1beta1"],
  ["v1.34.0", "v1"],
  ["v1.35.0-rc.1", "v1"],
] as const)("kube-apiserver %s reads %s", ([version, expected]) => {
  expect(issuersVersion(version)).toBe(expected);
  expect(issuersFile(issuersVersion(version))).toBe(`authentication-${expected}.json`);
});

test("an issuer keeps names and shapes, and gives no name of Kubernetes itself", () => {
  const [first] = issuersConfiguration([entry("https://one.test")], "v1").jwt;
  expect(first).toMatchObject({ ...entry("https://one.test") });
  expect(first?.issuer).not.toHaveProperty("audienceMatchPolicy");
  expect(first?.userValidationRules.map(({ expression }) => expression)).toEqual([
    "!user.username.startsWith('system:')",
    "user.groups.all(group, !group.startsWith('system:') && !group.startsWith('kubeadm:'))",
  ]);
});

test("several audiences are alternatives", () => {
  const { jwt } = issuersConfiguration([entry("https://one.test", { audiences: ["web", "cli"] })], "v1beta1");
  expect(jwt[0]?.issuer).toEqual({
    url: "https://one.test",
    audiences: ["web", "cli"],
    audienceMatchPolicy: "MatchAny",
  });
});

test("an authority is written without what is between its certificates", () => {
  const given = entry("https://one.test", { certificateAuthority: `# mine\n${authority}\u0001\n${authority}end` });
  const [first] = issuersConfiguration([given], "v1").jwt;
  expect(first?.issuer.certificateAuthority).toBe(`${authority.trim()}\n${authority.trim()}\n`);
});

test.for([
  ["v1.29.15", [], "kube-apiserver v1.29.15 has no spec.authentication.jwt: it needs v1.30"],
  ["v1.29.15", undefined, undefined],
  ["v1.30.0", [], undefined],
] as const)("kube-apiserver %s with issuers %j: %s", ([version, jwt, why]) => {
  expect(versionProblem(jwt && [...jwt], version)).toBe(why);
});

test("no issuer is a configuration, too", () => {
  expect(JSON.parse(issuersText([], "v1beta1"))).toEqual({
    apiVersion: "apiserver.config.k8s.io/v1beta1",
    kind: "AuthenticationConfiguration",
    jwt: [],
  });
});

describe("issuers", () => {
  const networks = ["192.0.2.0/24"];
  test("without networks of the operator are the operator's to permit, unless there is none", () => {
    const refused = { code: "ISSUERS_NOT_PERMITTED", actor: "operator" };
    expect(issuersProblem([entry("https://one.test")], [])).toMatchObject(refused);
    expect(issuersProblem([entry("https://one.test")])).toMatchObject(refused);
    expect(issuersProblem([], [])).toBeUndefined();
    expect(issuersProblem(undefined)).toBeUndefined();
    expect(() => refuseIssuers([entry("https://one.test")], undefined)).toThrow("--oidc-networks");
  });

  test.for([
    ["a name", "https://one.test/realms/web", undefined],
    ["an address in the network", "https://192.0.2.9:8443", undefined],
    ["an address outside", "https://10.0.0.9", "10.0.0.9 is in no allowed network; the operator's option"],
    ["an address of this machine, written in hexadecimal", "https://0x7f000001", "127.0.0.1 is a loopback address"],
    ["a metadata service", "https://169.254.169.254", "169.254.169.254 is a link-local address"],
    ["a name of this machine", "https://localhost:6443", '"localhost" is a name of this machine'],
  ] as const)("at %s: %s", ([, url, why]) => {
    const problem = issuersProblem([entry("https://one.test"), entry(url)], networks);
    if (why === undefined) return expect(problem).toBeUndefined();
    expect(problem).toMatchObject({ code: "ISSUERS_NOT_PERMITTED", actor: "user" });
    expect(problem?.message).toContain(`spec.authentication.jwt[1].issuer.url: ${why}`);
  });

  test.for<[string, () => string, string | undefined]>([
    ["a certificate", () => authority, undefined],
    ["two certificates", () => `${authority}\n${authority}`, undefined],
    ["no certificate", () => "none", "it has no PEM certificate"],
    [
      "a certificate that is none",
      () => `${authority}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
      "cannot be read",
    ],
    ["16 certificates", () => authority.repeat(16), undefined],
    ["17 certificates", () => authority.repeat(17), "it has 17 certificates, and 16 at most are read"],
    ["a certificate of a curve that kube-apiserver does not read", () => OF_SECP256K1, "a key of curve secp256k1"],
    ["a certificate with a negative serial number", () => WITH_NEGATIVE_SERIAL, "a negative serial number"],
  ])("with %s as authority", ([, certificateAuthority, why]) => {
    const given = entry("https://one.test", { certificateAuthority: certificateAuthority() });
    const problem = issuersProblem([given], networks);
    if (why === undefined) return expect(problem).toBeUndefined();
    expect(problem).toMatchObject({ code: "ISSUERS_INVALID", actor: "user" });
    expect(problem?.message).toContain(why);
    // The verdict that is kept is the same.
    expect(issuersProblem([given], networks)).toEqual(problem);
  });
});
