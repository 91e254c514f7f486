import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VirtualClock } from "@causeway/foundation";
import type { Json } from "../../json/json.ts";
import type { User } from "../../contract/user.ts";
import { startListener, type TestListener } from "../../testing/https.ts";
import { jwtAuthenticator } from "./authenticator.ts";
import { issuerOfOptions, readIssuers } from "./configuration.ts";

const NOW = Date.UTC(2026, 5, 1);
const SECONDS = NOW / 1000;
const CREDENTIAL = "authentication.kubernetes.io/credential-id";
let listener: TestListener;
let key: CryptoKey;
let otherKey: CryptoKey;
beforeAll(async () => {
  listener = await startListener();
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  key = privateKey;
  otherKey = (await generateKeyPair("RS256")).privateKey;
  const keys = [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256", use: "sig" }];
  const { url } = listener;
  listener.answer = ({ path }) => [
    200,
    JSON.stringify(path === "/keys" ? { keys } : { issuer: url, jwks_uri: `${url}/keys` }),
  ];
});
afterAll(() => listener.close());

const USERNAME = { claim: "sub", prefix: "" };

/**
 * What the issuer of this configuration makes of a token with these claims: a user, "foreign" or why it is not
 * believed.
 */
async function judged(jwt: Json, claims: Json, by = key): Promise<unknown> {
  const issuer = { url: listener.url, audiences: ["me"], certificateAuthority: listener.ca };
  const entry = { issuer, claimMappings: { username: USERNAME }, ...jwt };
  const configuration = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration", jwt: [entry] };
  const [read] = readIssuers(configuration, []);
  if (!read) throw new Error("there is no issuer");
  return outcome(jwtAuthenticator(read, new VirtualClock(NOW))(await tokenOf(claims, by)));
}

async function tokenOf(claims: Json, by = key): Promise<string> {
  const all = { iss: listener.url, aud: "me", sub: "jane", exp: SECONDS + 60, ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given as JWTPayload).setProtectedHeader({ alg: "RS256", kid: "k" }).sign(by);
}

async function outcome(work: Promise<User | "foreign">): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

const user = (more: Json = {}): Json => ({ name: "jane", groups: ["system:authenticated"], ...more });
const named = (username: Json): Json => ({ claimMappings: { username } });
const mapped = (more: Json): Json => ({ claimMappings: { username: USERNAME, ...more } });

describe("a token of an OpenID Connect issuer", () => {
  test.each<[string, Json, Json, unknown]>([
    ["names a user", {}, {}, user()],
    ["with an id names itself", {}, { jti: "7" }, user({ extra: { [CREDENTIAL]: ["JTI=7"] } })],
    ["with an empty id does not", {}, { jti: "" }, user()],
    ["with an id that is no text does not", {}, { jti: 7 }, user()],
    ["of another issuer is left to others", {}, { iss: "https://other" }, "foreign"],
    ["without an issuer is left to others", {}, { iss: undefined }, "foreign"],
    ["at its end is too old", {}, { exp: SECONDS }, "oidc: verify token: oidc: token is expired"],
    ["a moment before its end is not", {}, { exp: SECONDS + 1 }, user()],
    ["without an end is too old", {}, { exp: undefined }, "oidc: verify token: oidc: token is expired"],
    ["may begin five minutes later", {}, { nbf: SECONDS + 300 }, user()],
    [
      "may not begin more than five minutes later",
      {},
      { nbf: SECONDS + 301 },
      "oidc: verify token: oidc: current time before the nbf (not before) time",
    ],
    ["for several is for each of them", {}, { aud: ["other", "me"] }, user()],
    [
      "for others is not believed",
      {},
      { aud: ["other"] },
      "oidc: verify token: oidc: the token is for another audience",
    ],
    [
      "for another is not believed",
      {},
      { aud: "other" },
      "oidc: verify token: oidc: the token is for another audience",
    ],
    ["for none is not believed", {}, { aud: undefined }, "oidc: verify token: oidc: the token is for another audience"],
  ])("%s", async (_what, jwt, claims, expected) => {
    expect(await judged(jwt, claims)).toEqual(expected);
  });

  test.each([
    ["extra claim", mapped({ extra: [{ key: "a.b/c", valueExpression: "claims.absent" }] })],
    ["group claim", mapped({ groups: { expression: "claims.absent" } })],
  ])("for which an expression cannot be evaluated is not believed (%s)", async (what, jwt) => {
    expect(await judged(jwt, {})).toMatch(new RegExp(`^oidc: error evaluating ${what} expression: .*absent[^\\n]*$`));
  });

  test("that another key has signed is not believed", async () => {
    expect(await judged({}, {}, otherKey)).toMatch(/^oidc: verify token: signature verification failed/);
  });

  test("that is none is left to others", async () => {
    const issuer = issuerOfOptions({ issuerUrl: listener.url, clientId: "me", certificateAuthority: listener.ca });
    expect(await jwtAuthenticator(issuer, new VirtualClock(NOW))("nonsense")).toBe("foreign");
  });

  test("signed otherwise than the flags allow is not believed", async () => {
    const flags = { issuerUrl: listener.url, clientId: "me", certificateAuthority: listener.ca };
    const issuer = issuerOfOptions({ ...flags, signingAlgorithms: ["ES256"] });
    const result = await outcome(jwtAuthenticator(issuer, new VirtualClock(NOW))(await tokenOf({})));
    expect(result).toMatch(/^oidc: verify token: /);
  });

  test("of Google may name it without a scheme", async () => {
    const issuer = issuerOfOptions({ issuerUrl: "https://accounts.google.com", clientId: "me" });
    const verify = jwtAuthenticator({ ...issuer, discoveryUrl: "https://127.0.0.1:1/" }, new VirtualClock(NOW));
    expect(await outcome(verify(await tokenOf({ iss: "accounts.google.com" })))).toMatch(/^oidc: verify token: /);
    expect(await outcome(verify(await tokenOf({ iss: "accounts.example.com" })))).toBe("foreign");
  });
});

describe("the name of an issuer's user", () => {
  test.each<[string, Json, Json, unknown]>([
    ["has a prefix before a claim", named({ claim: "sub", prefix: "x:" }), {}, user({ name: "x:jane" })],
    [
      "cannot come from a claim that is not there",
      named({ claim: "n", prefix: "" }),
      {},
      'oidc: parse username claim "n": it is not there, or no text',
    ],
    [
      "cannot be a number",
      named({ claim: "sub", prefix: "" }),
      { sub: 7 },
      'oidc: parse username claim "sub": it is not there, or no text',
    ],
    ["may be an address", named({ claim: "email", prefix: "" }), { email: "a@b" }, user({ name: "a@b" })],
    [
      "may be an address that was verified",
      named({ claim: "email", prefix: "" }),
      { email: "a@b", email_verified: true },
      user({ name: "a@b" }),
    ],
    [
      "may not be an address that was not verified",
      named({ claim: "email", prefix: "" }),
      { email: "a@b", email_verified: false },
      "oidc: email not verified",
    ],
    ["does not ask about addresses where it is none", {}, { email_verified: false }, user()],
    ["may come from an expression", named({ expression: "'x-' + claims.sub" }), {}, user({ name: "x-jane" })],
    [
      "may not be empty by an expression",
      named({ expression: "''" }),
      {},
      "oidc: empty username via CEL expression is not allowed",
    ],
    [
      "may be no number by an expression",
      named({ expression: "claims.n" }),
      { n: 7 },
      "oidc: error evaluating username claim expression: username claim expression must return a string",
    ],
    [
      "may come from a claim with an odd name",
      named({ expression: "claims.a__dash__b" }),
      { "a-b": "odd" },
      user({ name: "odd" }),
    ],
  ])("%s", async (_what, jwt, claims, expected) => {
    expect(await judged(jwt, claims)).toEqual(expected);
  });

  test("by an expression about what is not there is an error of one line", async () => {
    const result = await judged(named({ expression: "claims.absent" }), {});
    expect(result).toMatch(/^oidc: error evaluating username claim expression: .*absent[^\n]*$/);
  });
});

describe("the groups, uid and extra of an issuer's user", () => {
  const groups = (mapping: Json): Json => mapped({ groups: mapping });
  const CLAIM = { claim: "groups", prefix: "" };
  const neither = 'oidc: parse groups claim "groups": it is neither a text nor a list of texts';
  const in_ = (...given: string[]): Json => user({ groups: [...given, "system:authenticated"] });
  const list = "oidc: error evaluating group claim expression: expression must return a string or a list of strings";
  test.each<[string, Json, Json, unknown]>([
    ["come from a list", groups(CLAIM), { groups: ["a", "b"] }, in_("a", "b")],
    ["come from a text", groups(CLAIM), { groups: "a" }, in_("a")],
    ["have a prefix", groups({ claim: "groups", prefix: "p:" }), { groups: ["a", "b"] }, in_("p:a", "p:b")],
    ["may be absent", groups(CLAIM), {}, in_()],
    ["are not read without a mapping", {}, { groups: ["a"] }, in_()],
    ["cannot be numbers", groups(CLAIM), { groups: ["a", 7] }, neither],
    ["cannot be an object", groups(CLAIM), { groups: { a: "b" } }, neither],
    ["cannot be null", groups(CLAIM), { groups: null }, neither],
    ["come from an expression", groups({ expression: "claims.roles" }), { roles: ["a", "", "b"] }, in_("a", "b")],
    ["come from an expression of a text", groups({ expression: "claims.roles" }), { roles: "a" }, in_("a")],
    ["come from an expression of nothing", groups({ expression: "claims.roles" }), { roles: null }, in_()],
    ["cannot come from an expression of numbers", groups({ expression: "claims.roles" }), { roles: [1] }, list],
    ["have a uid from a claim", mapped({ uid: { claim: "id" } }), { id: "u" }, user({ uid: "u" })],
    ["have no empty uid", mapped({ uid: { claim: "id" } }), { id: "" }, user()],
    [
      "have a uid that is text",
      mapped({ uid: { claim: "id" } }),
      { id: 7 },
      'oidc: parse uid claim "id": it is not there, or no text',
    ],
    [
      "have extra values",
      mapped({
        extra: [
          { key: "a.b/c", valueExpression: "claims.x" },
          { key: "a.b/d", valueExpression: "claims.y" },
          { key: "a.b/e", valueExpression: "claims.z" },
        ],
      }),
      { x: "one", y: ["", "two"], z: "", jti: "7" },
      user({ extra: { [CREDENTIAL]: ["JTI=7"], "a.b/c": ["one"], "a.b/d": ["two"] } }),
    ],
    [
      "have no extra numbers",
      mapped({ extra: [{ key: "a.b/c", valueExpression: "claims.x" }] }),
      { x: 7 },
      "oidc: error evaluating extra claim expression: expression must return a string or a list of strings",
    ],
  ])("%s", async (_what, jwt, claims, expected) => {
    expect(await judged(jwt, claims)).toEqual(expected);
  });
});

describe("the rules of an issuer", () => {
  const claim = (requiredValue: string): Json => ({ claimValidationRules: [{ claim: "hd", requiredValue }] });
  const rule = (expression: string, message?: string): Json => ({
    claimValidationRules: [{ expression, ...(message === undefined ? {} : { message }) }],
  });
  const users = (expression: string): Json => ({ userValidationRules: [{ expression, message: "not this one" }] });
  const whole = mapped({
    uid: { claim: "id" },
    groups: { claim: "groups", prefix: "" },
    extra: [{ key: "a.b/c", valueExpression: "claims.x" }],
  });
  test.each<[string, Json, Json, unknown]>([
    ["require a claim", claim("a"), {}, "oidc: required claim hd not present in ID token"],
    ["require the value of a claim", claim("a"), { hd: "b" }, "oidc: required claim hd value does not match"],
    ["take the value that is required", claim("a"), { hd: "a" }, user()],
    ["about claims hold", rule("claims.n == 7"), { n: 7 }, user()],
    [
      "about claims do not hold",
      rule("claims.n == 7", "not seven"),
      { n: 8 },
      "oidc: error evaluating claim validation expression: not seven",
    ],
    [
      "without a message show the expression",
      rule("claims.n == 7"),
      { n: 8 },
      "oidc: error evaluating claim validation expression: validation expression 'claims.n == 7' failed",
    ],
    ["about the user hold", users("user.username == 'jane'"), {}, user()],
    [
      "about the user do not hold",
      users("user.username == 'eve'"),
      {},
      "oidc: error evaluating user info validation rule: not this one",
    ],
    [
      "about all of the user hold",
      { ...whole, ...users("user.uid == 'u' && user.groups == ['g'] && user.extra['a.b/c'] == ['v']") },
      { id: "u", groups: ["g"], x: "v" },
      user({ uid: "u", groups: ["g", "system:authenticated"], extra: { "a.b/c": ["v"] } }),
    ],
    ["about a user of nothing more hold", users("user.uid == '' && user.groups == [] && user.extra == {}"), {}, user()],
  ])("%s", async (_what, jwt, claims, expected) => {
    expect(await judged(jwt, claims)).toEqual(expected);
  });
});
