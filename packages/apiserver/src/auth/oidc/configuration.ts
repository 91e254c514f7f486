import { X509Certificate } from "node:crypto";
import { CausewayError, messageOf } from "@causeway/foundation";
import { isRecord, record, records, text, texts, type Json } from "../../json/json.ts";
import type { OidcOptions } from "../../contract/authentication.ts";
import { compileExpression, type Expression } from "./expressions.ts";

/** Where a part of a user comes from: a claim, with something before it, or an expression. */
export type Mapping =
  | { readonly claim: string; readonly prefix: string }
  | { readonly expression: Expression; readonly claim?: never };

/** A CEL expression that must be true of a token's claims, or of the user that they make. */
export interface Rule {
  readonly holds: Expression;
  readonly message: string;
}

/** How tokens of one issuer are verified, and what they say. */
export interface JwtIssuer {
  readonly url: string;
  readonly discoveryUrl: string;
  readonly certificateAuthority: string | undefined;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly username: Mapping;
  readonly groups: Mapping | undefined;
  readonly uid: Mapping | undefined;
  readonly extra: readonly { readonly key: string; readonly expression: Expression }[];
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly claimRules: readonly Rule[];
  readonly userRules: readonly Rule[];
}

const API_VERSION = "apiserver.config.k8s.io/v1";
const ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"];

/** A fault of a configuration, with its path. */
export function invalidAuthentication(where: string, why: string): CausewayError {
  return new CausewayError("AUTHENTICATION_CONFIG_INVALID", `the authentication configuration: ${where}: ${why}`, {
    hint: "Correct it as kubernetes.io, Authenticating, describes AuthenticationConfiguration.",
  });
}

/** Reads the issuers of an AuthenticationConfiguration. Throws AUTHENTICATION_CONFIG_INVALID. */
export function readIssuers(configuration: Json, own: readonly string[]): readonly JwtIssuer[] {
  if (configuration["apiVersion"] !== API_VERSION || configuration["kind"] !== "AuthenticationConfiguration") {
    throw invalidAuthentication("kind", `it is not an ${API_VERSION} AuthenticationConfiguration`);
  }
  const entries = records(configuration["jwt"]);
  if (entries.length > 64) throw invalidAuthentication("jwt", "there may be 64 at most");
  const issuers = entries.map((entry, i) => issuerOf(entry, `jwt[${i}]`));
  for (const [i, { url, discoveryUrl }] of issuers.entries()) {
    const before = issuers.slice(0, i);
    if (own.includes(url)) throw invalidAuthentication(`jwt[${i}].issuer.url`, "it is the issuer of service accounts");
    if (before.some((b) => b.url === url)) throw invalidAuthentication(`jwt[${i}].issuer.url`, `${url} is there twice`);
    if (before.some((b) => b.discoveryUrl === discoveryUrl))
      throw invalidAuthentication(`jwt[${i}].issuer.discoveryURL`, `${discoveryUrl} is there twice`);
  }
  return issuers;
}

/** What kube-apiserver makes of its --oidc flags. */
export function issuerOfOptions(options: OidcOptions): JwtIssuer {
  const { issuerUrl: url, usernameClaim = "sub", usernamePrefix, groupsClaim, groupsPrefix = "" } = options;
  const prefix = usernamePrefix ?? (usernameClaim === "email" ? "-" : `${url}#`);
  const { requiredClaims = {}, signingAlgorithms = ["RS256"], certificateAuthority = "" } = options;
  const unknown = signingAlgorithms.find((a) => !ALGORITHMS.includes(a));
  if (unknown !== undefined) throw invalidAuthentication("signingAlgorithms", `${unknown} is not known`);
  const issuer = issuerOf(
    {
      issuer: { url, audiences: [options.clientId], certificateAuthority },
      claimMappings: {
        username: { claim: usernameClaim, prefix: prefix === "-" ? "" : prefix },
        ...(groupsClaim ? { groups: { claim: groupsClaim, prefix: groupsPrefix } } : {}),
      },
      claimValidationRules: Object.entries(requiredClaims).map(([claim, requiredValue]) => ({ claim, requiredValue })),
    },
    "oidc",
  );
  return { ...issuer, algorithms: signingAlgorithms };
}

function issuerOf(entry: Json, path: string): JwtIssuer {
  const { url, discoveryURL, certificateAuthority, audiences, audienceMatchPolicy } = record(entry["issuer"]);
  checkUrl(text(url), `${path}.issuer.url`);
  if (text(discoveryURL)) {
    checkUrl(text(discoveryURL), `${path}.issuer.discoveryURL`);
    if (text(discoveryURL).replace(/\/+$/, "") === text(url).replace(/\/+$/, ""))
      throw invalidAuthentication(`${path}.issuer.discoveryURL`, "it must be another than the issuer's URL");
  }
  if (texts(audiences).length === 0 || texts(audiences).includes(""))
    throw invalidAuthentication(`${path}.issuer.audiences`, "at least one is required, and none may be empty");
  const policies = texts(audiences).length > 1 ? ["MatchAny"] : ["MatchAny", "", undefined];
  if (!policies.includes(audienceMatchPolicy as string | undefined))
    throw invalidAuthentication(`${path}.issuer.audienceMatchPolicy`, "it must be MatchAny");
  checkAuthority(text(certificateAuthority), `${path}.issuer.certificateAuthority`);
  const mappings = record(entry["claimMappings"]);
  const rules = records(entry["claimValidationRules"]);
  const issuer: JwtIssuer = {
    url: text(url),
    discoveryUrl: text(discoveryURL) || `${text(url).replace(/\/+$/, "")}/.well-known/openid-configuration`,
    certificateAuthority: text(certificateAuthority) || undefined,
    audiences: texts(audiences),
    algorithms: ALGORITHMS,
    username: mappingOf(mappings["username"], `${path}.claimMappings.username`) ?? missing(path),
    groups: mappingOf(mappings["groups"], `${path}.claimMappings.groups`),
    uid: mappingOf(mappings["uid"], `${path}.claimMappings.uid`, false),
    extra: extraOf(records(mappings["extra"]), `${path}.claimMappings.extra`),
    requiredClaims: Object.fromEntries(
      rules.filter((r) => text(r["claim"])).map((r) => [text(r["claim"]), text(r["requiredValue"])]),
    ),
    claimRules: rulesOf(rules, "claims", `${path}.claimValidationRules`),
    userRules: rulesOf(records(entry["userValidationRules"]), "user", `${path}.userValidationRules`),
  };
  checkEmail(mappings, rules, path);
  return issuer;
}

function missing(path: string): never {
  throw invalidAuthentication(`${path}.claimMappings.username`, "a claim or an expression is required");
}

function checkUrl(given: string, path: string): void {
  const url = URL.parse(given);
  if (!url) throw invalidAuthentication(path, "a URL is required");
  if (url.protocol !== "https:") throw invalidAuthentication(path, "it must begin with https://");
  if (url.username || url.password) throw invalidAuthentication(path, "it must not contain a name or a password");
  if (url.search || url.hash) throw invalidAuthentication(path, "it must not contain a query or a fragment");
}

function checkAuthority(pem: string, path: string): void {
  try {
    if (pem) new X509Certificate(pem);
  } catch {
    throw invalidAuthentication(path, "it is no PEM certificate");
  }
}

function mappingOf(given: unknown, path: string, prefixed = true): Mapping | undefined {
  const { claim, expression, prefix } = record(given);
  if (!isRecord(given) || (!text(claim) && !text(expression))) return undefined;
  if (text(claim) && text(expression))
    throw invalidAuthentication(path, "a claim and an expression cannot both be set");
  if (text(expression)) {
    if (prefix !== undefined) throw invalidAuthentication(`${path}.prefix`, "it cannot be set with an expression");
    return { expression: compiled("claims", text(expression), `${path}.expression`) };
  }
  if (prefixed && typeof prefix !== "string")
    throw invalidAuthentication(`${path}.prefix`, 'it is required with a claim; it can be ""');
  return { claim: text(claim), prefix: text(prefix) };
}

function extraOf(given: readonly Json[], path: string): JwtIssuer["extra"] {
  return given.map(({ key, valueExpression }, i) => {
    const name = text(key);
    const domain = /^([a-z0-9.-]+)\/.+$/.exec(name)?.[1];
    if (!domain || name !== name.toLowerCase())
      throw invalidAuthentication(`${path}[${i}].key`, "it must be a lower-case domain name, a slash and a path");
    if (/(^|\.)(kubernetes|k8s)\.io$/.test(domain))
      throw invalidAuthentication(
        `${path}[${i}].key`,
        "k8s.io, kubernetes.io and what is below them are Kubernetes' own",
      );
    if (given.findIndex((other) => other["key"] === key) !== i)
      throw invalidAuthentication(`${path}[${i}].key`, `${name} is there twice`);
    return { key: name, expression: compiled("claims", text(valueExpression), `${path}[${i}].valueExpression`) };
  });
}

function rulesOf(given: readonly Json[], variable: "claims" | "user", path: string): Rule[] {
  return given.flatMap(({ claim, requiredValue, expression, message }, i) => {
    if (Boolean(text(claim)) === Boolean(text(expression)))
      throw invalidAuthentication(`${path}[${i}]`, "exactly one of claim and expression is required");
    if (text(claim) && variable === "user") throw invalidAuthentication(`${path}[${i}].claim`, "users have none");
    if (text(claim) && text(message))
      throw invalidAuthentication(`${path}[${i}].message`, "it cannot be set with a claim");
    if (text(expression) && text(requiredValue))
      throw invalidAuthentication(`${path}[${i}].requiredValue`, "it cannot be set with an expression");
    if (text(claim)) return [];
    const holds = compiled(variable, text(expression), `${path}[${i}].expression`);
    return [{ holds, message: text(message) || `validation expression '${text(expression)}' failed` }];
  });
}

function compiled(variable: "claims" | "user", expression: string, path: string): Expression {
  if (expression === "") throw invalidAuthentication(path, "an expression is required");
  try {
    return compileExpression(variable, expression);
  } catch (error) {
    throw invalidAuthentication(path, messageOf(error).split("\n")[0] ?? "");
  }
}

/** A configuration that uses the email claim as the name must check email_verified. */
function checkEmail(mappings: Json, rules: readonly Json[], path: string): void {
  const username = text(record(mappings["username"])["expression"]);
  if (!/\bclaims\s*\.\s*\??email\b/.test(username)) return;
  const extra = records(mappings["extra"]).map((e) => text(e["valueExpression"]));
  const all = [username, ...extra, ...rules.map((r) => text(r["expression"]))];
  if (all.some((e) => /\bclaims\s*\.\s*\??email_verified\b/.test(e))) return;
  throw invalidAuthentication(
    `${path}.claimMappings.username.expression`,
    "claims.email_verified must be checked where claims.email is the name, here, in claimMappings.extra or in claimValidationRules",
  );
}
