import { generateKeyPairSync } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { VirtualClock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { jose } from "../lazy-imports.ts";
import type { Json } from "../json/json.ts";
import type { Call } from "../contract/call.ts";
import { clusterWith, NOW } from "../testing/objects.ts";
import { accountKeys } from "./account-keys.ts";
import type { AccountKeys } from "../contract/identity.ts";
import { accountTokens } from "./account-tokens.ts";
import { issueLegacyToken } from "./legacy-token.ts";
import { issueToken } from "./token-request.ts";

const ISSUER = "https://kubernetes.default.svc";
const SECOND = 1000;

function pemOf(curve: string): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: curve });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
let keys: AccountKeys;
beforeAll(() => {
  keys = accountKeys(pemOf("P-256"), []);
});

const object = (name: string, more: Json = {}, namespace = "ns"): Json => ({
  metadata: { name, uid: `uid-${name}`, ...(namespace ? { namespace } : {}) },
  ...more,
});

/** A cluster with an account, and what tokens of it may be bound to. */
async function world(own: AccountKeys = keys): Promise<Cluster> {
  const cluster = await clusterWith({
    "/serviceaccounts": [object("robot"), object("other")],
    "/pods": [
      object("pod", { spec: { serviceAccountName: "robot", nodeName: "node" } }),
      object("lost", { spec: { serviceAccountName: "robot", nodeName: "gone" } }),
      object("waiting", { spec: { serviceAccountName: "robot" } }),
      object("another", { spec: { serviceAccountName: "other" } }),
    ],
    "/secrets": [object("secret")],
    "/nodes": [object("node", {}, "")],
  });
  return { ...cluster, issuer: ISSUER, accountKeys: own } as Cluster;
}

function ask(cluster: Cluster, spec: Json, metadata?: Json, notes: string[] = []): Promise<Json> {
  const call = {
    cluster,
    resource: { storage: "/serviceaccounts", group: "", plural: "serviceaccounts" },
    namespace: "ns",
    name: "robot",
    annotate: (key: string, value: string) => void notes.push(`${key} ${value}`),
  } as unknown as Call;
  return issueToken(call, {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    ...(metadata ? { metadata } : {}),
    spec,
  });
}

const tokenOf = (body: Json): string => String((body["status"] as Json)["token"]);
const claimsOf = (token: string): Json => jose().decodeJwt(token);
const ref = (kind: string, name: string, more: Json = {}): Json => ({
  boundObjectRef: { apiVersion: "v1", kind, name, ...more },
});

test("a token is for an hour, for this server, and names its account", async () => {
  const cluster = await world();
  const notes: string[] = [];
  const body = await ask(cluster, {}, { labels: { a: "b" } }, notes);
  const token = tokenOf(body);
  const claims = claimsOf(token);
  const at = NOW / SECOND;
  expect(claims).toEqual({
    iss: ISSUER,
    aud: [ISSUER],
    sub: "system:serviceaccount:ns:robot",
    iat: at,
    nbf: at,
    exp: at + 3600,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    "kubernetes.io": { namespace: "ns", serviceaccount: { name: "robot", uid: "uid-robot" } },
  });
  expect(notes).toEqual([`authentication.kubernetes.io/issued-credential-id JTI=${String(claims["jti"])}`]);
  expect(jose().decodeProtectedHeader(token)).toEqual({ alg: "ES256", kid: keys.signing.id });
  expect(body).toEqual({
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: {
      labels: { a: "b" },
      name: "robot",
      namespace: "ns",
      uid: "uid-robot",
      creationTimestamp: "2026-06-01T00:00:00Z",
    },
    spec: { audiences: [ISSUER], expirationSeconds: 3600, boundObjectRef: null },
    status: { token, expirationTimestamp: "2026-06-01T01:00:00Z" },
  });
  expect(await accountTokens(cluster).verify(token, [ISSUER, "x"])).toEqual({
    audiences: [ISSUER],
    user: {
      name: "system:serviceaccount:ns:robot",
      uid: "uid-robot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": [`JTI=${String(claims["jti"])}`] },
    },
  });
});

const WITH_NODE = { node: { name: "node", uid: "uid-node" } };
test.each<[string, Json, Json, Json]>([
  [
    "a pod",
    ref("Pod", "pod"),
    { pod: { name: "pod", uid: "uid-pod" }, ...WITH_NODE },
    { "pod-name": "pod", "pod-uid": "uid-pod", "node-name": "node", "node-uid": "uid-node" },
  ],
  [
    "a pod on a node that is gone",
    ref("Pod", "lost"),
    { pod: { name: "lost", uid: "uid-lost" }, node: { name: "gone" } },
    { "pod-name": "lost", "pod-uid": "uid-lost", "node-name": "gone" },
  ],
  [
    "a pod on no node",
    ref("Pod", "waiting", { uid: "uid-waiting" }),
    { pod: { name: "waiting", uid: "uid-waiting" } },
    { "pod-name": "waiting", "pod-uid": "uid-waiting" },
  ],
  ["a secret", ref("Secret", "secret"), { secret: { name: "secret", uid: "uid-secret" } }, {}],
  ["a node", ref("Node", "node"), WITH_NODE, { "node-name": "node", "node-uid": "uid-node" }],
])("a token bound to %s says so", async (_what, spec, bound, extra) => {
  const cluster = await world();
  const body = await ask(cluster, spec);
  const claims = claimsOf(tokenOf(body))["kubernetes.io"];
  expect(claims).toEqual({ namespace: "ns", serviceaccount: { name: "robot", uid: "uid-robot" }, ...bound });
  expect((body["spec"] as Json)["boundObjectRef"]).toEqual(spec["boundObjectRef"]);
  const { user } = (await accountTokens(cluster).verify(tokenOf(body), [ISSUER])) ?? {};
  const prefixed = Object.fromEntries(
    Object.entries(extra).map(([key, value]) => [`authentication.kubernetes.io/${key}`, [value]]),
  );
  expect(user?.extra).toEqual({ ...prefixed, "authentication.kubernetes.io/credential-id": [expect.any(String)] });
});

test.each<[string, Json, Json | undefined, string]>([
  [
    "too short a time",
    { expirationSeconds: 599 },
    undefined,
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  ],
  [
    "a time that is not a number",
    { expirationSeconds: "900" },
    undefined,
    "may not specify a duration less than 10 minutes",
  ],
  [
    "too long a time",
    { expirationSeconds: 2 ** 32 + 1 },
    undefined,
    "may not specify a duration larger than 2^32 seconds",
  ],
  [
    "another namespace",
    {},
    { namespace: "other" },
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "another name",
    {},
    { name: "other" },
    'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
  ],
  [
    "another id",
    {},
    { uid: "other" },
    "the UID in the token request (other) does not match the UID of the service account (uid-robot)",
  ],
  ["a missing pod", ref("Pod", "none"), undefined, 'pods "none" not found'],
  ["a missing secret", ref("Secret", "none"), undefined, 'secrets "none" not found'],
  ["a missing node", ref("Node", "none"), undefined, 'nodes "none" not found'],
  [
    "another's pod",
    ref("Pod", "another"),
    undefined,
    'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
  ],
  [
    "an earlier secret",
    ref("Secret", "secret", { uid: "old" }),
    undefined,
    "the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated",
  ],
  ["another kind", ref("ConfigMap", "x"), undefined, "cannot bind token to object of type /v1, Kind=ConfigMap"],
  [
    "another group",
    ref("Pod", "pod", { apiVersion: "apps/v1" }),
    undefined,
    "cannot bind token to object of type apps/v1, Kind=Pod",
  ],
])("a token request with %s is refused", async (_what, spec, metadata, why) => {
  await expect(ask(await world(), spec, metadata)).rejects.toThrow(why);
});

test.each<[Json, number, number, boolean]>([
  [{ expirationSeconds: 600 }, 600, 600, false],
  [{ expirationSeconds: 2 ** 32 }, 2 ** 32, 2 ** 32, false],
  [{ expirationSeconds: null }, 3600, 3600, false],
  [{ expirationSeconds: 3607 }, 3607, 3607, false],
  [{ expirationSeconds: 3607, ...ref("Secret", "secret") }, 3607, 3607, false],
  [{ expirationSeconds: 3606, ...ref("Pod", "pod") }, 3606, 3606, false],
  [{ expirationSeconds: 3607, ...ref("Pod", "pod") }, 3607, 31_536_000, true],
  [{ expirationSeconds: 3607, audiences: ["x"], ...ref("Pod", "pod") }, 3607, 3607, false],
])("a token request %j returns %i seconds, and lives %i; it warns: %s", async (spec, reported, lives, warns) => {
  const body = await ask(await world(), spec);
  const claims = claimsOf(tokenOf(body));
  expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(lives);
  expect((body["spec"] as Json)["expirationSeconds"]).toBe(reported);
  const facts = claims["kubernetes.io"] as Json;
  expect(facts["warnafter"]).toBe(warns ? NOW / SECOND + reported : undefined);
});

async function reason(cluster: Cluster, token: string, audiences: readonly string[] = [ISSUER]): Promise<string> {
  try {
    return (await accountTokens(cluster).verify(token, audiences)) ? "believed" : "foreign";
  } catch (error) {
    return (error as Error).message;
  }
}

test("a token is believed until it ends, with a minute for clocks that differ", async () => {
  const cluster = await world();
  const clock = cluster.clock as VirtualClock;
  const token = tokenOf(await ask(cluster, { expirationSeconds: 600 }));
  for (const [seconds, expected] of [
    [0, "believed"],
    [660, "believed"],
    [1, "service account token has expired"],
  ] as const) {
    await clock.advance(seconds * SECOND);
    expect(await reason(cluster, token)).toBe(expected);
  }
});

test.each<[string, Json, string]>([
  ["without an end", { exp: undefined }, "service account token has expired"],
  ["from a minute hence", { nbf: NOW / SECOND + 60, iat: NOW / SECOND + 60 }, "believed"],
  ["from later on", { nbf: NOW / SECOND + 61 }, "service account token is not valid yet"],
  ["issued later on", { iat: NOW / SECOND + 61 }, "service account token is issued in the future"],
  ["without audiences", { aud: undefined }, "believed"],
  ["for one other audience", { aud: "x" }, `token audiences ["x"] is invalid for the target audiences ["${ISSUER}"]`],
  ["for this audience alone", { aud: ISSUER }, "believed"],
  ["of another issuer", { iss: "https://other" }, "foreign"],
  [
    "of an earlier account",
    { "kubernetes.io": { namespace: "ns", serviceaccount: { name: "robot", uid: "old" } } },
    'serviceaccounts "robot" not found',
  ],
  [
    "of no account",
    { "kubernetes.io": { namespace: "ns", serviceaccount: { name: "none", uid: "uid-none" } } },
    'serviceaccounts "none" not found',
  ],
  [
    "of another namespace",
    { "kubernetes.io": { namespace: "other", serviceaccount: { name: "robot", uid: "uid-robot" } } },
    'serviceaccounts "robot" not found',
  ],
  ...(["pod", "secret", "node"] as const).map(
    (kind) =>
      [
        `of an earlier ${kind}`,
        {
          "kubernetes.io": {
            namespace: "ns",
            serviceaccount: { name: "robot", uid: "uid-robot" },
            [kind]: { name: kind, uid: "old" },
          },
        },
        "service account token has been invalidated",
      ] as [string, Json, string],
  ),
  [
    "of a pod whose node is gone",
    {
      "kubernetes.io": {
        namespace: "ns",
        serviceaccount: { name: "robot", uid: "uid-robot" },
        pod: { name: "pod", uid: "uid-pod" },
        node: { name: "gone", uid: "x" },
      },
    },
    "believed",
  ],
])("a service-account token %s is accepted or refused", async (_what, claims, expected) => {
  const cluster = await world();
  const at = NOW / SECOND;
  const facts = {
    iss: ISSUER,
    aud: [ISSUER],
    exp: at + 600,
    nbf: at,
    iat: at,
    "kubernetes.io": { namespace: "ns", serviceaccount: { name: "robot", uid: "uid-robot" } },
  };
  const { key, algorithm, id } = keys.signing;
  const whole = JSON.parse(JSON.stringify({ ...facts, ...claims })) as Json;
  const token = await new (jose().SignJWT)(whole).setProtectedHeader({ alg: algorithm, kid: id }).sign(key);
  expect(await reason(cluster, token)).toBe(expected);
});

test("a text that is no token, and a token of another key, are not believed", async () => {
  const cluster = await world();
  expect(await reason(cluster, "nonsense")).toBe("foreign");
  const stranger = await world(accountKeys(pemOf("P-256"), []));
  const token = tokenOf(await ask(stranger, {}));
  expect(await reason(cluster, token)).toBe("invalid signature");
  expect(await reason(cluster, tokenOf(await ask(cluster, {})), ["a", "b"])).toBe(
    `token audiences ["${ISSUER}"] is invalid for the target audiences ["a" "b"]`,
  );
});

test.each<[number, string]>([
  [60_000, "believed"],
  [60_001, 'serviceaccounts "robot" not found'],
])("an account that is being deleted since %i ms counts: %s", async (ago, expected) => {
  const cluster = await world();
  const token = tokenOf(await ask(cluster, {}));
  const key = { cluster: "", resource: "/serviceaccounts", namespace: "ns", name: "robot" };
  const stored = cluster.store.get(key);
  if (!stored) throw new Error("no account");
  const deletionTimestamp = new Date(NOW - ago).toISOString();
  const metadata = { ...stored.object.metadata, deletionTimestamp };
  await cluster.store.update(key, { ...stored.object, metadata } as KubeObject, stored.revision);
  expect(await reason(cluster, token)).toBe(expected);
});

test("tokens of keys that signed before are believed", async () => {
  const [old, fresh] = [pemOf("P-384"), pemOf("P-521")];
  const before = accountKeys(old, []);
  const now = accountKeys(fresh, [old, fresh, String(RSA)]);
  const token = tokenOf(await ask(await world(before), {}));
  expect(await reason(await world(now), token)).toBe("believed");
});

test("a token in a Secret counts as long as the Secret and its account do", async () => {
  const cluster = await world();
  const account = { metadata: { name: "robot", namespace: "ns", uid: "uid-robot" } } as unknown as KubeObject;
  const token = await issueLegacyToken(cluster, account, "kept");
  expect(claimsOf(token)["iss"]).toBe("kubernetes/serviceaccount");
  const put = async (name: string, more: Json, data = Buffer.from(token).toString("base64")): Promise<Cluster> => {
    const fresh = await world();
    const secret = { metadata: { name, namespace: "ns", ...more }, data: { token: data } } as unknown as KubeObject;
    await fresh.store.create({ cluster: "", resource: "/secrets", namespace: "ns", name }, secret);
    return fresh;
  };
  const facts = await accountTokens(await put("kept", {})).verify(token, [ISSUER]);
  expect(facts).toEqual({
    audiences: [ISSUER],
    user: {
      name: "system:serviceaccount:ns:robot",
      uid: "uid-robot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    },
  });
  expect(await reason(cluster, token)).toBe("Token has been invalidated");
  expect(await reason(await put("kept", { deletionTimestamp: "2026-01-01T00:00:00Z" }), token)).toBe(
    "Token has been invalidated",
  );
  expect(await reason(await put("kept", {}, "eA=="), token)).toBe("Token does not match server's copy");
  const other = Buffer.from(token.replace(/.$/, (c) => (c === "A" ? "B" : "A"))).toString("base64");
  expect(await reason(await put("kept", {}, other), token)).toBe("Token does not match server's copy");
  const invalid = { labels: { "kubernetes.io/legacy-token-invalid-since": "2026-01-01" } };
  expect(await reason(await put("kept", invalid), token)).toBe("the token in secret ns/kept has been marked invalid");
  const earlier = await issueLegacyToken(
    cluster,
    { metadata: { ...account.metadata, uid: "old" } } as KubeObject,
    "kept",
  );
  const kept = await put("kept", {}, Buffer.from(earlier).toString("base64"));
  expect(await reason(kept, earlier)).toBe("ServiceAccount ns/robot has been deleted");
});

test("a token in a Secret must name its account, and an account that is not being deleted", async () => {
  const cluster = await world();
  const account = { metadata: { name: "robot", namespace: "ns", uid: "uid-robot" } } as unknown as KubeObject;
  const token = await issueLegacyToken(cluster, account, "kept");
  const claims = { ...jose().decodeJwt(token), sub: "system:serviceaccount:ns:other" };
  const { key, algorithm } = keys.signing;
  const forged = await new (jose().SignJWT)(claims).setProtectedHeader({ alg: algorithm }).sign(key);
  expect(await reason(cluster, forged)).toBe("sub claim is invalid");
  const data = { token: Buffer.from(token).toString("base64") };
  const secret = { metadata: { name: "kept", namespace: "ns" }, data } as unknown as KubeObject;
  await cluster.store.create({ cluster: "", resource: "/secrets", namespace: "ns", name: "kept" }, secret);
  expect(await reason(cluster, token)).toBe("believed");
  const place = { cluster: "", resource: "/serviceaccounts", namespace: "ns", name: "robot" };
  const stored = cluster.store.get(place);
  if (!stored) throw new Error("no account");
  const metadata = { ...stored.object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  await cluster.store.update(place, { ...stored.object, metadata } as KubeObject, stored.revision);
  expect(await reason(cluster, token)).toBe("ServiceAccount ns/robot has been deleted");
});

test("a token that names no key, or one that is unknown, is verified by each key", async () => {
  const cluster = await world();
  const claims = jose().decodeJwt(tokenOf(await ask(cluster, {})));
  const { key, algorithm } = keys.signing;
  for (const header of [{ alg: algorithm }, { alg: algorithm, kid: "unknown" }]) {
    const token = await new (jose().SignJWT)(claims).setProtectedHeader(header).sign(key);
    expect(await reason(cluster, token)).toBe("believed");
  }
});
