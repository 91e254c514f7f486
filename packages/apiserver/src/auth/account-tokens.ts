import { createHash, timingSafeEqual } from "node:crypto";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { at, record, text, type Json } from "../json/json.ts";
import { LEGACY_ISSUER } from "./legacy-token.ts";
import type { User } from "../contract/user.ts";
import { jose } from "../lazy-imports.ts";
import type { AccountKeys, TokenFacts } from "../contract/identity.ts";

/** Clocks differ; what has just ended or gone still counts, in milliseconds. */
const LEEWAY = 60_000;
const REMEMBERED = 2048;

/** Verifies the service-account tokens of one cluster, bound ones and those kept in Secrets. */
export interface AccountTokens {
  /** undefined when it is no token of this cluster. Throws why a token of its own is not believed. */
  verify(token: string, audiences: readonly string[]): Promise<TokenFacts | undefined>;
}

/** Keeps the claims of the last 2048 tokens with a valid signature; expiry and the account are checked each time. */
export function accountTokens(cluster: Cluster): AccountTokens {
  // Whether a signature is right does not change as long as the keys remain; all else is checked each time.
  let verified = new Map<string, Json>();
  let keys: AccountKeys | undefined;

  const claimsOf = async (token: string): Promise<Json> => {
    if (keys !== cluster.accountKeys) {
      keys = cluster.accountKeys;
      verified = new Map();
    }
    const ofTheseKeys = verified;
    const digest = createHash("sha256").update(token).digest("base64");
    const known = verified.get(digest);
    if (known) return known;
    const claims = await signedClaims(cluster, token);
    ofTheseKeys.set(digest, claims);
    const [oldest] = ofTheseKeys.keys();
    if (ofTheseKeys.size > REMEMBERED && oldest !== undefined) ofTheseKeys.delete(oldest);
    return claims;
  };

  return {
    async verify(token, audiences) {
      const issuer = issuerOf(token);
      if (issuer !== cluster.issuer && issuer !== LEGACY_ISSUER) return undefined;
      const claims = await claimsOf(token);
      const given = claims["aud"] === undefined ? [cluster.issuer] : [claims["aud"]].flat().map(String);
      const matching = given.filter((a) => audiences.includes(a));
      if (matching.length === 0) {
        const shown = (all: readonly string[]): string => `[${all.map((a) => JSON.stringify(a)).join(" ")}]`;
        throw new Error(`token audiences ${shown(given)} is invalid for the target audiences ${shown(audiences)}`);
      }
      const user = issuer === LEGACY_ISSUER ? legacyUser(cluster, token, claims) : boundUser(cluster, claims);
      return { user, audiences: matching };
    },
  };
}

function issuerOf(token: string): string | undefined {
  try {
    return jose().decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

async function signedClaims({ accountKeys }: Cluster, token: string): Promise<Json> {
  const { kid } = jose().decodeProtectedHeader(token);
  const named = accountKeys.verifying.filter((k) => k.id === kid);
  for (const { key, algorithm } of named.length > 0 ? named : accountKeys.verifying) {
    const result = await jose()
      .compactVerify(token, key, { algorithms: [algorithm] })
      .catch(() => undefined);
    if (!result) continue;
    const claims: unknown = JSON.parse(Buffer.from(result.payload).toString());
    return record(claims);
  }
  throw new Error("invalid signature");
}

function boundUser(cluster: Cluster, claims: Json): User {
  const now = cluster.clock.now();
  const { exp, nbf, iat } = claims;
  if (typeof exp !== "number" || now > exp * 1000 + LEEWAY) throw new Error("service account token has expired");
  if (typeof nbf === "number" && now < nbf * 1000 - LEEWAY) throw new Error("service account token is not valid yet");
  if (typeof iat === "number" && now < iat * 1000 - LEEWAY)
    throw new Error("service account token is issued in the future");
  const facts = record(claims["kubernetes.io"]);
  const namespace = text(facts["namespace"]);
  const { serviceaccount, pod, secret, node } = facts;
  const account = record(serviceaccount);
  if (!isThere(cluster, { plural: "serviceaccounts", namespace }, account)) {
    throw new Error(`serviceaccounts "${text(account["name"])}" not found`);
  }
  for (const [plural, reference] of [
    ["pods", pod],
    ["secrets", secret],
    ["nodes", pod ? undefined : node],
  ] as const) {
    const place = { plural, namespace: plural === "nodes" ? "" : namespace };
    if (reference && !isThere(cluster, place, record(reference))) {
      throw new Error("service account token has been invalidated");
    }
  }
  return accountUser(namespace, account, extraOf(text(claims["jti"]), pod, node));
}

function accountUser(namespace: string, { name, uid }: Json, extra: Readonly<Record<string, readonly string[]>>): User {
  return {
    name: `system:serviceaccount:${namespace}:${text(name)}`,
    uid: text(uid),
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

function extraOf(id: string, pod: unknown, node: unknown): Record<string, readonly string[]> {
  const said: Record<string, string> = {
    "credential-id": id && `JTI=${id}`,
    "node-name": text(at(node, "name")),
    "node-uid": text(at(node, "uid")),
    "pod-name": text(at(pod, "name")),
    "pod-uid": text(at(pod, "uid")),
  };
  const given = Object.entries(said).filter(([, value]) => value !== "");
  return Object.fromEntries(given.map(([key, value]) => [`authentication.kubernetes.io/${key}`, [value]]));
}

function found(cluster: Cluster, plural: string, place: { namespace: string; name: string }): KubeObject | undefined {
  return cluster.store.get({ cluster: cluster.name, resource: `/${plural}`, ...place })?.object;
}

/** The very object that a token names, unless its deletion began longer ago than clocks may differ. */
function isThere(cluster: Cluster, { plural, namespace }: { plural: string; namespace: string }, named: Json): boolean {
  const object = found(cluster, plural, { namespace, name: text(named["name"]) });
  if (!object || object.metadata.uid !== named["uid"]) return false;
  const deleted = Date.parse(text(object.metadata.deletionTimestamp));
  return Number.isNaN(deleted) || deleted >= cluster.clock.now() - LEEWAY;
}

/** A token without an end, which counts as long as the Secret that has it. */
function legacyUser(cluster: Cluster, token: string, claims: Json): User {
  const said = (name: string): string => text(claims[`kubernetes.io/serviceaccount/${name}`]);
  const [namespace, secretName] = [said("namespace"), said("secret.name")];
  const account = { name: said("service-account.name"), uid: said("service-account.uid") };
  if (claims["sub"] !== `system:serviceaccount:${namespace}:${account.name}`) throw new Error("sub claim is invalid");
  const secret = found(cluster, "secrets", { namespace, name: secretName });
  if (!secret || secret.metadata.deletionTimestamp) throw new Error("Token has been invalidated");
  const kept = Buffer.from(text(at(secret, "data", "token")), "base64");
  const sent = Buffer.from(token);
  if (kept.length !== sent.length || !timingSafeEqual(kept, sent)) {
    throw new Error("Token does not match server's copy");
  }
  if (secret.metadata.labels?.["kubernetes.io/legacy-token-invalid-since"]) {
    throw new Error(`the token in secret ${namespace}/${secretName} has been marked invalid`);
  }
  const object = found(cluster, "serviceaccounts", { namespace, name: account.name });
  if (!object || object.metadata.deletionTimestamp || object.metadata.uid !== account.uid) {
    throw new Error(`ServiceAccount ${namespace}/${account.name} has been deleted`);
  }
  return accountUser(namespace, account, {});
}
