import { expect, test } from "vitest";
import type { Json } from "../json/json.ts";
import { clusterWith, NOW } from "../testing/objects.ts";
import { bootstrapToken, bootstrapTokenUser } from "./bootstrap-tokens.ts";
import type { KubeObject } from "@causeway/kubernetes";

const base64 = (value: string): string => Buffer.from(value).toString("base64");
const encoded = (data: Record<string, string>): Json =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)]));

const VALID = {
  "token-id": "abcdef",
  "token-secret": "0123456789abcdef",
  "usage-bootstrap-authentication": "true",
};

function secret(data: Record<string, string>, more: Json = {}, metadata: Json = {}): Json {
  return {
    type: "bootstrap.kubernetes.io/token",
    metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system", ...metadata },
    data: encoded({ ...VALID, ...data }),
    ...more,
  };
}

const at = (offset: number): string => new Date(NOW + offset).toISOString();
const GROUPS = ["system:bootstrappers"];
const TOKEN = "abcdef.0123456789abcdef";

test.each<[string, Json, string, readonly string[] | undefined]>([
  ["a whole token is believed", secret({}), TOKEN, GROUPS],
  ["another secret is not", secret({}), "abcdef.0123456789abcdeg", undefined],
  ["a token without a dot is not", secret({}), "abcdef0123456789abcdef", undefined],
  ["a token with a longer secret is not", secret({}), `${TOKEN}0`, undefined],
  ["a token with capitals is not", secret({}), "ABCDEF.0123456789abcdef", undefined],
  ["a token of no Secret is not", secret({}), "fedcba.0123456789abcdef", undefined],
  ["a Secret of another type is not", secret({}, { type: "Opaque" }), TOKEN, undefined],
  ["a Secret of another namespace is not", secret({}, {}, { namespace: "default" }), TOKEN, undefined],
  ["a Secret that is being deleted is not", secret({}, {}, { deletionTimestamp: at(0) }), TOKEN, undefined],
  ["a Secret that names another id is not", secret({ "token-id": "fedcba" }), TOKEN, undefined],
  ["a Secret without a secret is not", secret({ "token-secret": "" }), TOKEN, undefined],
  ["a Secret without the usage is not", secret({ "usage-bootstrap-authentication": "" }), TOKEN, undefined],
  [
    "a Secret whose usage is another word is not",
    secret({ "usage-bootstrap-authentication": "True" }),
    TOKEN,
    undefined,
  ],
  [
    "a Secret for signing alone is not",
    secret({ "usage-bootstrap-authentication": "false", "usage-bootstrap-signing": "true" }),
    TOKEN,
    undefined,
  ],
  ["a token that ends in a second is believed", secret({ expiration: at(1000) }), TOKEN, GROUPS],
  ["a token that ends now is not", secret({ expiration: at(0) }), TOKEN, undefined],
  ["a token that ended is not", secret({ expiration: at(-1000) }), TOKEN, undefined],
  ["an end in another time zone counts", secret({ expiration: "2026-06-01T01:00:00+02:00" }), TOKEN, undefined],
  ["an end that is no RFC 3339 has passed", secret({ expiration: "2099" }), TOKEN, undefined],
  ["an end that is no date has passed", secret({ expiration: "2099-13-45T00:00:00Z" }), TOKEN, undefined],
  [
    "extra groups are given, once and sorted",
    secret({ "auth-extra-groups": "system:bootstrappers:b,system:bootstrappers:a,system:bootstrappers:b" }),
    TOKEN,
    [...GROUPS, "system:bootstrappers:a", "system:bootstrappers:b"],
  ],
  [
    "one group of others makes the token void",
    secret({ "auth-extra-groups": "system:bootstrappers:a,system:masters" }),
    TOKEN,
    undefined,
  ],
  ["an empty group makes the token void", secret({ "auth-extra-groups": "system:bootstrappers:a," }), TOKEN, undefined],
  [
    "a group that only begins well makes the token void",
    secret({ "auth-extra-groups": "system:bootstrappers:A" }),
    TOKEN,
    undefined,
  ],
])("bootstrap tokens: %s", async (_what, object, token, groups) => {
  const cluster = await clusterWith({ "/secrets": [object] });
  const expected = groups && { name: "system:bootstrap:abcdef", groups };
  expect(bootstrapTokenUser(cluster, token)).toEqual(expected);
  await cluster.store.close();
});

test.each<[Record<string, string>, boolean, boolean]>([
  [{}, true, false],
  [{ "usage-bootstrap-signing": "true" }, true, true],
  [{ "usage-bootstrap-signing": "yes", "usage-bootstrap-authentication": "no" }, false, false],
])("a bootstrap token with %j is for authentication: %s, for signing: %s", (data, forAuthentication, forSigning) => {
  const read = bootstrapToken(secret(data) as unknown as KubeObject);
  expect(read).toMatchObject({ id: "abcdef", secret: "0123456789abcdef", forAuthentication, forSigning });
  expect(read?.expires).toBeUndefined();
});
