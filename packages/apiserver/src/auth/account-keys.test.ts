import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Cluster } from "../contract/cluster.ts";
import { accountDiscovery } from "./account-discovery.ts";
import { accountKeys } from "./account-keys.ts";

interface Pair {
  readonly secret: string;
  readonly open: string;
}

const pemOf = ({ privateKey, publicKey }: Record<"privateKey" | "publicKey", KeyObject>): Pair => ({
  secret: String(privateKey.export({ type: "pkcs8", format: "pem" })),
  open: String(publicKey.export({ type: "spki", format: "pem" })),
});
const ec = (namedCurve: string): Pair => pemOf(generateKeyPairSync("ec", { namedCurve }));
const RSA = pemOf(generateKeyPairSync("rsa", { modulusLength: 2048 }));
const P256 = ec("P-256");
const P384 = ec("P-384");
const P521 = ec("P-521");
const ED25519 = pemOf(generateKeyPairSync("ed25519"));

function digestOf(open: string): string {
  const der = createPublicKey(open).export({ type: "spki", format: "der" });
  return createHash("sha256").update(der).digest("base64url");
}

describe("keys of service-account tokens", () => {
  test.each([
    ["RSA", RSA, "RS256"],
    ["P-256", P256, "ES256"],
    ["P-384", P384, "ES384"],
    ["P-521", P521, "ES512"],
  ] as const)("of %s sign by the algorithm of their kind", (_what, { secret, open }, algorithm) => {
    const { signing, verifying, keySet } = accountKeys(secret, []);
    const id = digestOf(open);
    expect(signing).toMatchObject({ algorithm, id });
    expect(signing.key.type).toBe("private");
    expect(verifying.map((k) => [k.algorithm, k.id, k.key.type])).toEqual([[algorithm, id, "public"]]);
    const jwk = createPublicKey(open).export({ format: "jwk" });
    expect(keySet).toEqual({ keys: [{ ...jwk, use: "sig", kid: id, alg: algorithm }] });
  });

  test("that signed before verify too, each once", () => {
    const { verifying, keySet } = accountKeys(P256.secret, [RSA.open, P256.open, RSA.secret, P384.open]);
    const ids = [P256, RSA, P384].map(({ open }) => digestOf(open));
    expect(verifying.map((k) => k.id)).toEqual(ids);
    expect((keySet["keys"] as { kid: string }[]).map((k) => k.kid)).toEqual(ids);
  });

  test.each<[string, () => unknown, string]>([
    ["nonsense signs", () => accountKeys("nonsense", []), "a service-account key cannot be used: "],
    ["nonsense verifies", () => accountKeys(P256.secret, ["nonsense"]), "a service-account key cannot be used: "],
    [
      "a key of another kind signs",
      () => accountKeys(ED25519.secret, []),
      "a service-account key cannot be used: it is of type ed25519",
    ],
    [
      "a key of another kind verifies",
      () => accountKeys(P256.secret, [ED25519.open]),
      "a service-account key cannot be used: it is of type ed25519",
    ],
  ])("are refused when %s", (_what, make, message) => {
    expect(make).toThrow(
      expect.objectContaining({
        code: "SERVICE_ACCOUNT_KEY_INVALID",
        message: expect.stringContaining(message) as unknown,
        hint: "Specify unencrypted PEM keys: RSA, or ECDSA on P-256, P-384 or P-521.",
      }),
    );
  });
});

describe("the document that others verify service-account tokens by", () => {
  const cluster = {
    issuer: "https://issuer",
    url: () => "https://server:6443",
    accountKeys: accountKeys(RSA.secret, [P384.open, P256.open, ec("P-256").open]),
  } as unknown as Cluster;

  test("is a document of discovery", () => {
    const found = accountDiscovery(cluster, "/.well-known/openid-configuration");
    expect(found?.type).toBe("application/json");
    expect(JSON.parse(found?.body ?? "")).toEqual({
      issuer: "https://issuer",
      jwks_uri: "https://server:6443/openid/v1/jwks",
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256", "ES384", "RS256"],
    });
  });

  test("has the keys at its own path", () => {
    const found = accountDiscovery(cluster, "/openid/v1/jwks");
    expect(found?.type).toBe("application/jwk-set+json");
    expect(JSON.parse(found?.body ?? "")).toEqual(cluster.accountKeys.keySet);
  });

  test("is nothing at other paths", () => {
    expect(accountDiscovery(cluster, "/openid/v1")).toBeUndefined();
    expect(accountDiscovery(cluster, "/.well-known")).toBeUndefined();
  });
});
