import { messageOf, type Clock } from "@causeway/foundation";
import { array, record, type Json } from "../../json/json.ts";
import { authenticated, type User } from "../../contract/user.ts";
import type { JwtIssuer, Mapping, Rule } from "./configuration.ts";
import { issuerKeys, type Keys } from "./provider.ts";
import { jose } from "../../lazy-imports.ts";

/** Whose token it is; "foreign" when another may know it. Throws why it is not believed. */
export type VerifyJwt = (token: string) => Promise<User | "foreign">;

const NOT_BEFORE_LEEWAY = 300;

/**
 * Verifies JSON Web Tokens of one issuer, and reads users from them, as OpenID Connect Core 1.0 and its configuration
 * say. `keys`: those of the issuer. Default: they are fetched from wherever it is.
 */
export function jwtAuthenticator(issuer: JwtIssuer, clock: Clock, keys: Keys = issuerKeys(issuer, clock)): VerifyJwt {
  return async (token) => {
    if (issuerOf(token) !== issuer.url) return "foreign";
    const options = { algorithms: [...issuer.algorithms] };
    const { payload } = await jose()
      .compactVerify(token, keys.find, options)
      .catch((error: unknown) => {
        throw new Error(`oidc: verify token: ${messageOf(error)}`);
      });
    const claims = record(JSON.parse(Buffer.from(payload).toString()));
    checkClaims(issuer, claims, clock.now() / 1000);
    const user = userOf(issuer, claims);
    checkRules(issuer.claimRules, claims, "claim validation expression");
    const about: Json = { username: user.name, uid: user.uid ?? "", groups: user.groups, extra: user.extra ?? {} };
    checkRules(issuer.userRules, about, "user info validation rule");
    return authenticated(user);
  };
}

/** What a token says of its issuer, before it was verified. */
function issuerOf(token: string): string | undefined {
  try {
    const { iss } = jose().decodeJwt(token);
    return iss === "accounts.google.com" ? "https://accounts.google.com" : iss;
  } catch {
    return undefined;
  }
}

function checkClaims(issuer: JwtIssuer, claims: Json, now: number): void {
  const { exp, nbf, aud } = claims;
  if (typeof exp !== "number" || now >= exp) throw new Error("oidc: verify token: oidc: token is expired");
  if (typeof nbf === "number" && now + NOT_BEFORE_LEEWAY < nbf) {
    throw new Error("oidc: verify token: oidc: current time before the nbf (not before) time");
  }
  const audiences = typeof aud === "string" ? [aud] : array(aud);
  if (!audiences.some((a) => issuer.audiences.includes(String(a)))) {
    throw new Error("oidc: verify token: oidc: the token is for another audience");
  }
  for (const [claim, value] of Object.entries(issuer.requiredClaims)) {
    if (!(claim in claims)) throw new Error(`oidc: required claim ${claim} not present in ID token`);
    if (claims[claim] !== value) throw new Error(`oidc: required claim ${claim} value does not match`);
  }
}

function userOf(issuer: JwtIssuer, claims: Json): User {
  const extra: Record<string, readonly string[]> = {};
  const { jti } = claims;
  if (typeof jti === "string" && jti !== "") extra["authentication.kubernetes.io/credential-id"] = [`JTI=${jti}`];
  for (const { key, expression } of issuer.extra) {
    const values = listOf(
      evaluated("extra claim expression", () => expression(claims)),
      "extra claim expression",
    );
    if (values.length > 0) extra[key] = values;
  }
  const uid = issuer.uid && single(issuer.uid, claims, "uid");
  return {
    name: nameOf(issuer.username, claims),
    ...(uid ? { uid } : {}),
    groups: issuer.groups ? groupsOf(issuer.groups, claims) : [],
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

function nameOf(mapping: Mapping, claims: Json): string {
  const name = single(mapping, claims, "username");
  if (mapping.claim === undefined) {
    if (name === "") throw new Error("oidc: empty username via CEL expression is not allowed");
    return name;
  }
  if (mapping.claim === "email" && "email_verified" in claims && claims["email_verified"] !== true) {
    throw new Error("oidc: email not verified");
  }
  return `${mapping.prefix}${name}`;
}

function single(mapping: Mapping, claims: Json, what: string): string {
  if (mapping.claim !== undefined) {
    const value = claims[mapping.claim];
    if (typeof value === "string") return value;
    throw new Error(`oidc: parse ${what} claim "${mapping.claim}": it is not there, or no text`);
  }
  const value = evaluated(`${what} claim expression`, () => mapping.expression(claims));
  if (typeof value === "string") return value;
  throw new Error(`oidc: error evaluating ${what} claim expression: ${what} claim expression must return a string`);
}

function groupsOf(mapping: Mapping, claims: Json): readonly string[] {
  if (mapping.claim === undefined) {
    return listOf(
      evaluated("group claim expression", () => mapping.expression(claims)),
      "group claim expression",
    );
  }
  const value = claims[mapping.claim];
  if (value === undefined) return [];
  const given = typeof value === "string" ? [value] : array(value);
  if (given.some((g) => typeof g !== "string") || (typeof value !== "string" && !Array.isArray(value))) {
    throw new Error(`oidc: parse groups claim "${mapping.claim}": it is neither a text nor a list of texts`);
  }
  return given.map((group) => `${mapping.prefix}${String(group)}`);
}

function listOf(value: unknown, what: string): readonly string[] {
  const given = value === null || value === undefined ? [] : Array.isArray(value) ? array(value) : [value];
  if (given.every((v) => typeof v === "string")) return given.filter((v) => v !== "");
  throw new Error(`oidc: error evaluating ${what}: expression must return a string or a list of strings`);
}

function evaluated(what: string, run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    throw new Error(`oidc: error evaluating ${what}: ${messageOf(error).split("\n")[0] ?? ""}`, { cause: error });
  }
}

function checkRules(rules: readonly Rule[], value: Json, what: string): void {
  for (const { holds, message } of rules) {
    const result = evaluated(what, () => holds(value));
    if (result !== true) throw new Error(`oidc: error evaluating ${what}: ${message}`);
  }
}
