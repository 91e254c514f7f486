import { describe, expect, it } from "vitest";
import { hasCode } from "@causeway/foundation";
import type { Json } from "../../json/json.ts";
import { issuerOfOptions, readIssuers } from "./configuration.ts";

const issuer = { url: "https://a.example", audiences: ["me"] };
const username = { claim: "sub", prefix: "" };
const file = (...jwt: Json[]): Json => ({
  apiVersion: "apiserver.config.k8s.io/v1",
  kind: "AuthenticationConfiguration",
  jwt,
});
const whole = (jwt: Json): Json => file({ issuer, claimMappings: { username }, ...jwt });
const from = (more: Json): Json => whole({ issuer: { ...issuer, ...more } });
const mapped = (more: Json): Json => whole({ claimMappings: { username, ...more } });
const named = (given: unknown): Json => whole({ claimMappings: { username: given } });

/** Why a configuration is refused, or undefined. */
function refusal(configuration: Json): string | undefined {
  try {
    readIssuers(configuration, ["https://own"]);
    return undefined;
  } catch (error) {
    expect(hasCode(error, "AUTHENTICATION_CONFIG_INVALID")).toBe(true);
    expect(error).toMatchObject({
      hint: "Correct it as kubernetes.io, Authenticating, describes AuthenticationConfiguration.",
    });
    return error instanceof Error ? error.message.replace("the authentication configuration: ", "") : "";
  }
}

const NO_URL = "a URL is required";
const NO_KIND = "kind: it is not an apiserver.config.k8s.io/v1 AuthenticationConfiguration";
const POLICY = "jwt[0].issuer.audienceMatchPolicy: it must be MatchAny";
const AUDIENCES = "jwt[0].issuer.audiences: at least one is required, and none may be empty";
const NAMELESS = "jwt[0].claimMappings.username: a claim or an expression is required";
const SAME = "jwt[0].issuer.discoveryURL: it must be another than the issuer's URL";
const DOMAIN = "jwt[0].claimMappings.extra[0].key: it must be a lower-case domain name, a slash and a path";
const OWN = "jwt[0].claimMappings.extra[0].key: k8s.io, kubernetes.io and what is below them are Kubernetes' own";
const EMAIL =
  "jwt[0].claimMappings.username.expression: claims.email_verified must be checked where claims.email is the name, here, in claimMappings.extra or in claimValidationRules";
const extra = (key: unknown): Json => mapped({ extra: [{ key, valueExpression: "'a'" }] });
const rule = (given: Json): Json => whole({ claimValidationRules: [given] });
const userRule = (given: Json): Json => whole({ userValidationRules: [given] });
const EXACTLY = ": exactly one of claim and expression is required";

describe("an AuthenticationConfiguration", () => {
  it.each<[string, Json, string | undefined]>([
    ["of another kind", { ...whole({}), kind: "Other" }, NO_KIND],
    ["of another version", { ...whole({}), apiVersion: "apiserver.config.k8s.io/v0" }, NO_KIND],
    ["without issuers", file(), undefined],
    ["with an issuer", whole({}), undefined],
    ["with an issuer that is not a URL", from({ url: "a.example" }), `jwt[0].issuer.url: ${NO_URL}`],
    ["with an issuer without TLS", from({ url: "http://a.example" }), "jwt[0].issuer.url: it must begin with https://"],
    [
      "with an issuer with a query",
      from({ url: "https://a.example?b" }),
      "jwt[0].issuer.url: it must not contain a query or a fragment",
    ],
    [
      "with an issuer with a fragment",
      from({ url: "https://a.example#b" }),
      "jwt[0].issuer.url: it must not contain a query or a fragment",
    ],
    [
      "with a password in a URL",
      from({ url: "https://:b@a.example" }),
      "jwt[0].issuer.url: it must not contain a name or a password",
    ],
    [
      "with a name in a URL",
      from({ url: "https://a@a.example" }),
      "jwt[0].issuer.url: it must not contain a name or a password",
    ],
    ["with the discovery URL of the issuer", from({ discoveryURL: "https://a.example/" }), SAME],
    [
      "with the issuer's URL and slashes",
      from({ url: "https://a.example//", discoveryURL: "https://a.example" }),
      SAME,
    ],
    ["with another discovery URL", from({ discoveryURL: "https://b.example" }), undefined],
    ["with a discovery URL that is none", from({ discoveryURL: "b" }), `jwt[0].issuer.discoveryURL: ${NO_URL}`],
    ["without audiences", whole({ issuer: { url: issuer.url } }), AUDIENCES],
    ["with an empty audience", from({ audiences: ["a", ""], audienceMatchPolicy: "MatchAny" }), AUDIENCES],
    ["with two audiences and no policy", from({ audiences: ["a", "b"] }), POLICY],
    ["with two audiences and an empty policy", from({ audiences: ["a", "b"], audienceMatchPolicy: "" }), POLICY],
    ["with two audiences and a policy", from({ audiences: ["a", "b"], audienceMatchPolicy: "MatchAny" }), undefined],
    ["with one audience and an empty policy", from({ audienceMatchPolicy: "" }), undefined],
    ["with one audience and a policy", from({ audienceMatchPolicy: "MatchAny" }), undefined],
    ["with one audience and another policy", from({ audienceMatchPolicy: "All" }), POLICY],
    [
      "with an authority that is none",
      from({ certificateAuthority: "none" }),
      "jwt[0].issuer.certificateAuthority: it is no PEM certificate",
    ],
    ["without a name", whole({ claimMappings: {} }), NAMELESS],
    ["with a name of nothing", named({ claim: "", expression: "" }), NAMELESS],
    ["with a name that is not an object", named("sub"), NAMELESS],
    [
      "with a claim and no prefix",
      named({ claim: "sub" }),
      'jwt[0].claimMappings.username.prefix: it is required with a claim; it can be ""',
    ],
    [
      "with a claim and an expression",
      named({ ...username, expression: "'a'" }),
      "jwt[0].claimMappings.username: a claim and an expression cannot both be set",
    ],
    [
      "with an expression and a prefix",
      named({ expression: "'a'", prefix: "" }),
      "jwt[0].claimMappings.username.prefix: it cannot be set with an expression",
    ],
    ["with an expression", named({ expression: "'a'" }), undefined],
    [
      "with groups of a claim without a prefix",
      mapped({ groups: { claim: "g" } }),
      'jwt[0].claimMappings.groups.prefix: it is required with a claim; it can be ""',
    ],
    ["with a uid of a claim without a prefix", mapped({ uid: { claim: "u" } }), undefined],
    [
      "with a uid of two things",
      mapped({ uid: { claim: "u", expression: "'u'" } }),
      "jwt[0].claimMappings.uid: a claim and an expression cannot both be set",
    ],
    ["with an unverified address", named({ expression: "claims.email" }), EMAIL],
    ["with an optional, unverified address", named({ expression: "claims . ?email.orValue('a')" }), EMAIL],
    ["with a name like an address", named({ expression: "claims.emails" }), undefined],
    [
      "with an address that the name asks about",
      named({ expression: "claims.?email_verified.orValue(true) ? claims.email : claims.sub" }),
      undefined,
    ],
    [
      "with an address that a rule asks about",
      whole({
        claimMappings: { username: { expression: "claims.email" } },
        claimValidationRules: [{ expression: "claims.email_verified" }],
      }),
      undefined,
    ],
    [
      "with an address that an extra value asks about",
      whole({
        claimMappings: {
          username: { expression: "claims.email" },
          extra: [{ key: "a.b/c", valueExpression: "string(claims.email_verified)" }],
        },
      }),
      undefined,
    ],
    ["with extra of a domain", extra("a.b/c"), undefined],
    ["with extra of no domain", extra("a"), DOMAIN],
    ["with extra of no path", extra("a.b/"), DOMAIN],
    ["with extra of capitals", extra("a.b/C"), DOMAIN],
    ["with extra without a key", extra(undefined), DOMAIN],
    ["with extra of Kubernetes' own", extra("k8s.io/a"), OWN],
    ["with extra of a domain below Kubernetes' own", extra("x.kubernetes.io/a"), OWN],
    ["with extra of a domain like Kubernetes' own", extra("xkubernetes.io/a"), undefined],
    [
      "with extra without an expression",
      mapped({ extra: [{ key: "a.b/c" }] }),
      "jwt[0].claimMappings.extra[0].valueExpression: an expression is required",
    ],
    [
      "with extra twice",
      mapped({
        extra: [
          { key: "a.b/c", valueExpression: "'a'" },
          { key: "a.b/d", valueExpression: "'a'" },
          { key: "a.b/c", valueExpression: "'a'" },
        ],
      }),
      "jwt[0].claimMappings.extra[2].key: a.b/c is there twice",
    ],
    ["with a rule about nothing", rule({}), `jwt[0].claimValidationRules[0]${EXACTLY}`],
    [
      "with a rule about two things",
      rule({ claim: "a", expression: "true" }),
      `jwt[0].claimValidationRules[0]${EXACTLY}`,
    ],
    ["with a rule about a claim", rule({ claim: "a", requiredValue: "b" }), undefined],
    [
      "with a rule about a claim and a message",
      rule({ claim: "a", message: "b" }),
      "jwt[0].claimValidationRules[0].message: it cannot be set with a claim",
    ],
    ["with a rule by an expression", rule({ expression: "true", message: "b" }), undefined],
    [
      "with a rule by an expression and a value",
      rule({ expression: "true", requiredValue: "b" }),
      "jwt[0].claimValidationRules[0].requiredValue: it cannot be set with an expression",
    ],
    ["with a rule about users", userRule({ expression: "user.username == 'a'" }), undefined],
    [
      "with a rule about users by a claim",
      userRule({ claim: "a" }),
      "jwt[0].userValidationRules[0].claim: users have none",
    ],
    ["with a rule about users and nothing", userRule({}), `jwt[0].userValidationRules[0]${EXACTLY}`],
    [
      "with two issuers",
      file(
        { issuer, claimMappings: { username } },
        { issuer: { ...issuer, url: "https://b" }, claimMappings: { username } },
      ),
      undefined,
    ],
    [
      "with an issuer twice",
      file({ issuer, claimMappings: { username } }, { issuer, claimMappings: { username } }),
      "jwt[1].issuer.url: https://a.example is there twice",
    ],
    [
      "with a discovery URL twice",
      file(
        { issuer: { ...issuer, discoveryURL: "https://d" }, claimMappings: { username } },
        { issuer: { ...issuer, url: "https://b", discoveryURL: "https://d" }, claimMappings: { username } },
      ),
      "jwt[1].issuer.discoveryURL: https://d is there twice",
    ],
    [
      "with the issuer of service accounts",
      from({ url: "https://own" }),
      "jwt[0].issuer.url: it is the issuer of service accounts",
    ],
    ["with 64 issuers", file(...many(64)), undefined],
    ["with 65 issuers", file(...many(65)), "jwt: there may be 64 at most"],
  ])("%s is accepted or refused", (_what, configuration, expected) => {
    expect(refusal(configuration)).toBe(expected);
  });

  it.each([
    ["that is none", named({ expression: "claims.(" }), /^jwt\[0\]\.claimMappings\.username\.expression: [^\n]+$/],
    [
      "about what there is not",
      named({ expression: "user.a" }),
      /^jwt\[0\]\.claimMappings\.username\.expression: .*user[^\n]*$/,
    ],
    [
      "about claims in a rule about users",
      userRule({ expression: "claims.a" }),
      /^jwt\[0\]\.userValidationRules\[0\]\.expression: .*claims[^\n]*$/,
    ],
    [
      "about users in a rule about claims",
      rule({ expression: "user.a" }),
      /^jwt\[0\]\.claimValidationRules\[0\]\.expression: .*user[^\n]*$/,
    ],
    [
      "in extra that is none",
      mapped({ extra: [{ key: "a.b/c", valueExpression: "(" }] }),
      /^jwt\[0\]\.claimMappings\.extra\[0\]\.valueExpression: [^\n]+$/,
    ],
    [
      "of groups that is none",
      mapped({ groups: { expression: "(" } }),
      /^jwt\[0\]\.claimMappings\.groups\.expression: [^\n]+$/,
    ],
    [
      "of a uid that is none",
      mapped({ uid: { expression: "(" } }),
      /^jwt\[0\]\.claimMappings\.uid\.expression: [^\n]+$/,
    ],
  ])("with an expression %s is refused", (_what, configuration, expected) => {
    expect(refusal(configuration)).toMatch(expected);
  });

  it("is read as it says", () => {
    const rules = [
      { claim: "hd", requiredValue: "x" },
      { claim: "none" },
      { expression: "true" },
      { expression: "false", message: "no" },
    ];
    const [read] = readIssuers(
      whole({
        issuer: { ...issuer, url: "https://a.example/b//" },
        claimMappings: { username, groups: { claim: "g", prefix: "p" }, uid: { claim: "u" } },
        claimValidationRules: rules,
      }),
      [],
    );
    expect(read).toMatchObject({
      url: "https://a.example/b//",
      discoveryUrl: "https://a.example/b/.well-known/openid-configuration",
      certificateAuthority: undefined,
      audiences: ["me"],
      algorithms: ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"],
      username: { claim: "sub", prefix: "" },
      groups: { claim: "g", prefix: "p" },
      uid: { claim: "u", prefix: "" },
      requiredClaims: { hd: "x", none: "" },
    });
    expect(Object.keys(read?.requiredClaims ?? {})).toEqual(["hd", "none"]);
    expect(read?.claimRules.map((r) => r.message)).toEqual(["validation expression 'true' failed", "no"]);
    const [other] = readIssuers(from({ discoveryURL: "https://d/x" }), []);
    expect(other).toMatchObject({
      discoveryUrl: "https://d/x",
      groups: undefined,
      uid: undefined,
      extra: [],
      userRules: [],
    });
  });
});

function many(count: number): Json[] {
  return Array.from({ length: count }, (_, i) => ({
    issuer: { ...issuer, url: `https://${i}.example` },
    claimMappings: { username },
  }));
}

describe("an issuer of flags", () => {
  it.each([
    [{}, { claim: "sub", prefix: "https://a.example#" }],
    [{ usernameClaim: "email" }, { claim: "email", prefix: "" }],
    [{ usernameClaim: "name" }, { claim: "name", prefix: "https://a.example#" }],
    [{ usernamePrefix: "-" }, { claim: "sub", prefix: "" }],
    [{ usernamePrefix: "x:" }, { claim: "sub", prefix: "x:" }],
  ])("with %j names users by %j", (flags, expected) => {
    const { username: found, algorithms } = issuerOfOptions({ issuerUrl: issuer.url, clientId: "me", ...flags });
    expect(found).toEqual(expected);
    expect(algorithms).toEqual(["RS256"]);
  });

  it("is for its client, and requires what they say", () => {
    const flags = { groupsClaim: "g", requiredClaims: { hd: "x" }, signingAlgorithms: ["ES256", "PS512"] };
    const found = issuerOfOptions({ issuerUrl: issuer.url, clientId: "me", ...flags });
    expect(found).toMatchObject({
      audiences: ["me"],
      groups: { claim: "g", prefix: "" },
      requiredClaims: { hd: "x" },
      algorithms: ["ES256", "PS512"],
    });
    const prefixed = issuerOfOptions({ issuerUrl: issuer.url, clientId: "me", groupsClaim: "g", groupsPrefix: "p:" });
    expect(prefixed.groups).toEqual({ claim: "g", prefix: "p:" });
    expect(issuerOfOptions({ issuerUrl: issuer.url, clientId: "me" }).groups).toBeUndefined();
  });

  it.each([
    [{ signingAlgorithms: ["RS256", "HS256"] }, "signingAlgorithms: HS256 is not known"],
    [{ issuerUrl: "http://a" }, "oidc.issuer.url: it must begin with https://"],
    [{ certificateAuthority: "none" }, "oidc.issuer.certificateAuthority: it is no PEM certificate"],
  ])("with %j is refused", (flags, expected) => {
    expect(() => issuerOfOptions({ issuerUrl: issuer.url, clientId: "me", ...flags })).toThrow(
      `the authentication configuration: ${expected}`,
    );
  });
});
