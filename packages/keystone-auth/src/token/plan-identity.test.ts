import { describe, expect, it } from "vitest";
import type { Identity } from "@causeway/openstack";
import { ROLES } from "../user.ts";
import { identityOf, mapRoles } from "./plan-identity.ts";

const domain = { id: "default", name: "Default" };
const groupsOf = (...names: string[]) => names.map((name) => ({ name, domain_id: domain.id }));
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
    expect(identityOf(facts, groupsOf("ops", "dev"))).toEqual({
      user: {
        username: "anna",
        uid: "u1",
        groups: ["ops", "dev", "p1"],
        extra: {
          "alpha.kubernetes.io/identity/roles": ["member", "reader"],
          "alpha.kubernetes.io/identity/project/id": ["p1"],
          "alpha.kubernetes.io/identity/project/name": ["shop"],
          "alpha.kubernetes.io/identity/project/domain/id": ["default"],
          "alpha.kubernetes.io/identity/project/domain/name": ["Default"],
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

  const other = { id: "d2", name: "Other" };
  it.each<[string, Partial<Identity.TokenFacts>, readonly string[] | undefined, string | undefined]>([
    ["of the domain by name", {}, ["Default"], undefined],
    ["of the domain by id", {}, ["default", "d9"], undefined],
    ["of any domain without the rule", { project: { id: "p2", name: "shop", domain: other } }, undefined, undefined],
    [
      "of a project of the same name in another domain",
      { project: { id: "p2", name: "shop", domain: other } },
      ["Default"],
      "project p2",
    ],
    [
      "of a user of the same name in another domain",
      { user: { id: "u2", name: "anna", domain: other } },
      ["Default"],
      "user u2",
    ],
    [
      "of a domain whose name is the id",
      { project: { id: "p2", name: "shop", domain: { id: "x", name: "y" } } },
      ["d9"],
      "project p2",
    ],
    [
      "of both, where both are accepted",
      { user: { id: "u2", name: "anna", domain: other } },
      ["Default", "d2"],
      undefined,
    ],
  ])("is decided by its domain: %s", (_, given, domains, refused) => {
    const verdict = identityOf({ ...facts, ...given }, [], { domains });
    if (refused === undefined) expect(verdict).toHaveProperty("user");
    else expect(verdict).toEqual({ refused: expect.stringContaining(`${refused} is in domain `) });
  });

  it("has no group of another domain, whatever its name, where domains are limited", () => {
    const groups = [...groupsOf("ops"), { name: "admins", domain_id: "d2" }];
    expect(userOf(identityOf(facts, groups, { domains: ["Default"] })).groups).toEqual(["ops", "p1"]);
    expect(userOf(identityOf(facts, groups, { domains: ["Default", "d2"] })).groups).toEqual(["ops", "admins", "p1"]);
    expect(userOf(identityOf(facts, groups)).groups).toEqual(["ops", "admins", "p1"]);
  });

  it("never makes an administrator of a user or group whose name begins with system:", () => {
    const named = { ...facts, user: { ...facts.user, name: "system:admin" } };
    expect(identityOf(named, [])).toEqual({ refused: expect.stringContaining("system:") });
    const reserved = ["system:masters", "kubeadm:cluster-admins"];
    const verdict = identityOf(facts, groupsOf(...reserved, "ops"));
    expect(verdict).toMatchObject({ user: { groups: ["ops", "p1"] }, dropped: reserved });
  });

  it.each(["0123456789abcdef0123456789abcdef", "ab".repeat(32), "01234567-89ab-CDEF-0123-456789abcdef"])(
    "never has the id of another user or project as its name or group: %s",
    (id) => {
      const named = { ...facts, user: { ...facts.user, name: id } };
      expect(identityOf(named, [])).toEqual({ refused: expect.stringContaining("user u1 has the form of an id") });
      expect(userOf(identityOf({ ...facts, user: { ...facts.user, name: id, id } }, [])).username).toBe(id);
      const verdict = identityOf(facts, groupsOf(id, "ops"));
      expect(verdict).toMatchObject({ user: { groups: ["ops", "p1"] }, dropped: [id] });
      const domainOf = { ...facts, project: { id: "p2", name: "shop", domain: { id: "d2", name: id } } };
      expect(identityOf(domainOf, [], { domains: ["default", id] })).toHaveProperty("refused");
    },
  );

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
