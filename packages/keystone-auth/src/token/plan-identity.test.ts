import { describe, expect, it } from "vitest";
import type { Identity } from "@causeway/openstack";
import { ROLES } from "../user.ts";
import { notKeystoneToken } from "./plan-form.ts";
import { duringOutage, freshness, type KnownToken } from "./plan-cache.ts";
import { identityOf, mapRoles } from "./plan-identity.ts";

const domain = { id: "default", name: "Default" };
const facts: Identity.TokenFacts = {
  expires_at: "2030-01-01T00:00:00.000000Z",
  issued_at: "2026-01-01T00:00:00.000000Z",
  methods: ["password"],
  user: { id: "u1", name: "anna", domain },
  project: { id: "p1", name: "shop", domain },
  roles: [
    { id: "r1", name: "member" },
    { id: "r2", name: "reader" },
  ],
};

function userOf(verdict: ReturnType<typeof identityOf>) {
  if ("refused" in verdict) throw new Error(verdict.refused);
  return verdict.user;
}

describe("the identity of a token", () => {
  it("is the user with the groups of Keystone and the project, and the facts of upstream under extra", () => {
    expect(identityOf(facts, ["ops", "dev"])).toEqual({
      user: {
        username: "anna",
        uid: "u1",
        groups: ["ops", "dev", "p1"],
        extra: {
          "alpha.kubernetes.io/identity/roles": ["member", "reader"],
          "alpha.kubernetes.io/identity/project/id": ["p1"],
          "alpha.kubernetes.io/identity/project/name": ["shop"],
          "alpha.kubernetes.io/identity/user/domain/id": ["default"],
          "alpha.kubernetes.io/identity/user/domain/name": ["Default"],
        },
      },
      dropped: [],
    });
  });

  it("is refused for a token without a project", () => {
    const { project: _, ...unscoped } = facts;
    expect(identityOf(unscoped, [])).toEqual({ refused: expect.stringContaining("no project") });
  });

  it("is refused for a project without access", () => {
    expect(identityOf(facts, [], { projects: ["p2"] })).toEqual({ refused: expect.stringContaining("p1") });
    expect("user" in identityOf(facts, [], { projects: ["p1"] })).toBe(true);
  });

  it("never makes an administrator of a user or group whose name begins with system:", () => {
    const named = { ...facts, user: { ...facts.user, name: "system:admin" } };
    expect(identityOf(named, [])).toEqual({ refused: expect.stringContaining("system:") });
    const verdict = identityOf(facts, ["system:masters", "ops"]);
    expect(verdict).toMatchObject({ user: { groups: ["ops", "p1"] }, dropped: ["system:masters"] });
  });

  it("takes the name and groups of the roles that are mapped", () => {
    const user = userOf(identityOf(facts, []));
    const mapped = mapRoles(user, [
      { keystoneRole: "member", username: "shared", groups: ["editors"] },
      { keystoneRole: "admin", username: "root", groups: ["system:masters"] },
      { keystoneRole: "reader", groups: ["readers"] },
    ]);
    expect(mapped).toMatchObject({ username: "shared", uid: "u1", groups: ["p1", "editors", "readers"] });
    expect(mapped.extra[ROLES]).toEqual(["member", "reader"]);
    expect(mapRoles(user, [])).toBe(user);
  });
});

describe("what is remembered of a token", () => {
  const user = userOf(identityOf(facts, []));
  const rules = { recheck: 60, outage: 600, refusal: 10 };
  const valid: KnownToken = { user, expires: 1_000, checked: 100 };
  const refused: KnownToken = { refused: "no", checked: 100 };
  it.each<[string, KnownToken | undefined, number, string, boolean]>([
    ["nothing", undefined, 100, "ask", false],
    ["a valid token just checked", valid, 100, "use", true],
    ["a valid token before its next check", valid, 159, "use", true],
    ["a valid token at its next check", valid, 160, "ask", true],
    ["a valid token at the end of an outage", valid, 700, "ask", false],
    ["an expired token", { ...valid, checked: 990 }, 1_000, "ask", false],
    ["a refused token just checked", refused, 109, "use", false],
    ["a refused token later", refused, 110, "ask", false],
  ])("%s", (_what, known, now, expected, survives) => {
    expect(freshness(known, now, rules)).toBe(expected);
    expect(duringOutage(known, now, rules) !== undefined).toBe(survives);
  });
});

describe("a text that is sent to Keystone", () => {
  const jwt = (claims: object) => `aGVhZGVy.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2lnbmF0dXJl`;
  it.each<[string, string, boolean]>([
    ["a Fernet token", `gAAAAAB${"x".repeat(180)}==`, true],
    ["a UUID token", "0123456789abcdef0123456789abcdef", true],
    ["a JWS token of Keystone", jwt({ sub: "u", openstack_methods: ["password"] }), true],
    [
      "a service account's token",
      jwt({ iss: "https://kubernetes.default.svc", sub: "system:serviceaccount:a:b" }),
      false,
    ],
    ["a token of three parts that are no JSON", "aaaaaaaa.bbbbbbbb.cccccccc", false],
    ["a short text", "abc", false],
    ["a text of 9,000 characters", "x".repeat(9_000), false],
    ["a text with a line break", "gAAAAAB0123456789\r\nX-Evil: 1", false],
    ["a text with spaces", "not a token at all, sorry", false],
  ])("%s: %s", (_what, token, sent) => {
    expect(notKeystoneToken(token) === undefined).toBe(sent);
  });
});
