import { describe, expect, it } from "vitest";
import type { Json } from "../../json/json.ts";
import { issuerOfOptions, readIssuers } from "./configuration.ts";

describe("an AuthenticationConfiguration", () => {
  const issuer = { url: "https://a.example", audiences: ["me"] };
  const username = { claim: "sub", prefix: "" };
  const whole = (jwt: Json): Json => ({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [{ issuer, claimMappings: { username }, ...jwt }],
  });

  it.each<[string, Json]>([
    ["of another kind", { ...whole({}), kind: "Other" }],
    ["with an issuer that is no URL", whole({ issuer: { ...issuer, url: "a.example" } })],
    ["with an issuer without TLS", whole({ issuer: { ...issuer, url: "http://a.example" } })],
    ["with an issuer with a query", whole({ issuer: { ...issuer, url: "https://a.example?b" } })],
    ["with a password in a URL", whole({ issuer: { ...issuer, url: "https://a:b@a.example" } })],
    ["with the discovery URL of the issuer", whole({ issuer: { ...issuer, discoveryURL: "https://a.example/" } })],
    ["without audiences", whole({ issuer: { url: issuer.url } })],
    ["with two audiences and no policy", whole({ issuer: { ...issuer, audiences: ["a", "b"] } })],
    ["with an authority that is none", whole({ issuer: { ...issuer, certificateAuthority: "none" } })],
    ["without a name", whole({ claimMappings: {} })],
    ["with a claim and no prefix", whole({ claimMappings: { username: { claim: "sub" } } })],
    ["with a claim and an expression", whole({ claimMappings: { username: { ...username, expression: "'a'" } } })],
    ["with an expression that is none", whole({ claimMappings: { username: { expression: "claims.(" } } })],
    ["with an expression about what there is not", whole({ claimMappings: { username: { expression: "user.a" } } })],
    ["with an address nobody verified", whole({ claimMappings: { username: { expression: "claims.email" } } })],
    ["with extra of no domain", whole({ claimMappings: { username, extra: [{ key: "a", valueExpression: "'a'" }] } })],
    [
      "with extra of Kubernetes' own",
      whole({ claimMappings: { username, extra: [{ key: "k8s.io/a", valueExpression: "'a'" }] } }),
    ],
    ["with a rule about nothing", whole({ claimValidationRules: [{}] })],
    ["with a rule about two things", whole({ claimValidationRules: [{ claim: "a", expression: "true" }] })],
    ["with an issuer twice", { ...whole({}), jwt: [...(whole({})["jwt"] as Json[]), ...(whole({})["jwt"] as Json[])] }],
    ["with the issuer of service accounts", whole({ issuer: { ...issuer, url: "https://own" } })],
  ])("%s is refused", (_what, configuration) => {
    expect(() => readIssuers(configuration, ["https://own"])).toThrow(
      expect.objectContaining({ code: "AUTHENTICATION_CONFIG_INVALID" }),
    );
  });

  it("takes an address for a name where somebody asks whether it was verified", () => {
    const expression = "claims.?email_verified.orValue(true) ? claims.email : claims.sub";
    expect(readIssuers(whole({ claimMappings: { username: { expression } } }), []).length).toBe(1);
  });

  it.each([
    [{}, { claim: "sub", prefix: "https://a.example#" }],
    [{ usernameClaim: "email" }, { claim: "email", prefix: "" }],
    [{ usernamePrefix: "-" }, { claim: "sub", prefix: "" }],
    [{ usernamePrefix: "x:" }, { claim: "sub", prefix: "x:" }],
  ])("as flags with %j names users by %j", (flags, expected) => {
    const { username: found, algorithms } = issuerOfOptions({ issuerUrl: issuer.url, clientId: "me", ...flags });
    expect(found).toEqual(expected);
    expect(algorithms).toEqual(["RS256"]);
  });
});
