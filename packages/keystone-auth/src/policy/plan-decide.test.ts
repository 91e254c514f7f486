import { describe, expect, it } from "vitest";
import {
  DOMAIN_ID,
  DOMAIN_NAME,
  PROJECT_DOMAIN_ID,
  PROJECT_DOMAIN_NAME,
  PROJECT_ID,
  PROJECT_NAME,
  ROLES,
} from "../user.ts";
import { decide } from "./plan-decide.ts";
import { rulesByName } from "./plan-names.ts";
import { readPolicy } from "./plan-read.ts";
import type { AccessRequest, Policy } from "./policy.ts";

function policyOf(rules: unknown): Policy {
  return readPolicy(JSON.stringify(rules)).policy;
}

interface Person {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly roles?: readonly string[];
  readonly project?: string;
  readonly projectId?: string;
}

function person({ name, groups = [], roles, project, projectId }: Person): Omit<AccessRequest, "verb"> {
  const extra = {
    ...(roles && { [ROLES]: roles }),
    ...(project && { [PROJECT_NAME]: [project] }),
    ...(projectId && { [PROJECT_ID]: [projectId] }),
  };
  return { user: name, uid: `id-of-${name}`, groups, extra: roles || project ? extra : undefined };
}

/** "get pods", "get pods in default", "get pods/log", "create deployments.apps", "get /healthz". */
function request(who: Person, words: string): AccessRequest {
  const [verb = "", what = "", , namespace = ""] = words.split(" ");
  if (what.startsWith("/")) return { ...person(who), verb, path: what };
  const [full = "", subresource = ""] = what.split("/");
  const [resource = "", ...group] = full.split(".");
  return { ...person(who), verb, resource: { namespace, apiGroup: group.join("."), resource, subresource } };
}

describe("policies of version 1", () => {
  const anna = { name: "anna", groups: ["ops"], project: "shop", roles: ["editor"] };
  const bert = { name: "bert", groups: ["guests"], project: "forum", roles: ["reader"] };
  const resource = (resources: string[], match: unknown[], more: object = {}) => ({
    resource: { verbs: ["get", "list"], resources, version: "*", namespace: "*", ...more },
    match,
  });
  const path = (value: string | undefined, match: unknown[], verbs = ["get"]) => ({
    nonresource: { verbs, ...(value && { path: value }) },
    match,
  });
  const match = (type: string, ...values: string[]) => ({ type, values });
  const policy = policyOf([
    resource(["books", "pages"], [match("user", "anna"), match("role", "editor")]),
    resource(["byid"], [match("user", "id-of-anna")]),
    resource(["tools"], [match("group", "ops")]),
    resource(["secrets"], [match("group", "ops"), match("role", "owner")]),
    resource(["carts"], [match("project", "shop")]),
    resource(["drafts"], [match("role", "editor")]),
    resource(["plain"], [match("role", "editor")], { version: "" }),
    resource(["local"], [match("role", "editor")], { namespace: "here" }),
    resource(["shared"], [match("role", "*")]),
    resource(["mystery"], [match("planet", "*")]),
    resource(["books/cover"], [match("user", "anna")]),
    resource(["shelves/*"], [match("user", "anna")]),
    path("/user", [match("user", "anna")]),
    path("/group", [match("group", "ops")]),
    path("/project", [match("project", "shop")]),
    path("/role", [match("role", "editor")]),
    path("/tree", [match("user", "anna")]),
    path("/tree/*", [match("user", "anna")]),
    path(undefined, [match("user", "anna")]),
    path("/empty", [match("user", "anna")], ["get", ""]),
    { ...resource(["both"], [match("user", "anna")]), ...path("/both", [match("user", "anna")]) },
  ]);

  it.each<[Person, string, boolean]>([
    [anna, "get books", true],
    [anna, "list pages", true],
    [anna, "patch books", false],
    [bert, "get books", false],
    [anna, "get byid", true],
    [bert, "get byid", false],
    [anna, "get tools", true],
    [anna, "patch tools", false],
    [bert, "get tools", false],
    [anna, "get secrets", false],
    [anna, "get carts", true],
    [anna, "patch carts", false],
    [bert, "get carts", false],
    [anna, "get drafts", true],
    [anna, "patch drafts", false],
    [bert, "get drafts", false],
    [anna, "get plain", true],
    [anna, "get plain.example.com", false],
    [anna, "get local in here", true],
    [anna, "get local in there", false],
    [bert, "get shared", true],
    [anna, "get mystery", false],
    [anna, "get books/cover", true],
    [anna, "get books/price", false],
    [anna, "get shelves/label", true],
    [anna, "get shelves", false],
    [anna, "get /user", true],
    [anna, "patch /user", false],
    [bert, "get /user", false],
    [anna, "get /group", true],
    [bert, "get /group", false],
    [anna, "get /project", true],
    [bert, "get /project", false],
    [anna, "get /role", true],
    [bert, "get /role", false],
    [anna, "get /tree", true],
    [anna, "get /tree/with/leaves", true],
    [anna, "get /forest", false],
    [anna, "get /empty", false],
    [anna, "get both", true],
    [anna, "get /both", true],
  ])("%o: %s is allowed: %s", (who, words, allowed) => {
    expect(decide(policy, request(who, words)).allowed).toBe(allowed);
  });
});

describe("policies of version 2", () => {
  const guarded = "['namespaces', 'roles', 'clusterRoles']";
  const policy = policyOf([
    {
      users: { roles: ["developer"], projects: ["shop"] },
      resource_permissions: {
        [`!kube-system/!${guarded}`]: ["*"],
        [`!kube-system/${guarded}`]: ["get", "LIST"],
        [`*/${guarded}`]: ["get", "list"],
      },
    },
    { users: { roles: ["viewer"], projects: ["shop", "0a1b"] }, resource_permissions: { "default/['*']": ["get"] } },
    {
      users: { roles: ["admin"], projects: ["shop"] },
      resource_permissions: { "*/*": ["*"] },
      nonresource_permissions: { "/healthz": ["get"] },
    },
    { users: { roles: ["a", "b"], projects: ["shop"] }, resource_permissions: { "*/pods": ["get"] } },
    { users: { roles: ["extra"] }, resource_permissions: { "*/*": ["*"] } },
    { users: { roles: ["closed"], projects: ["shop"] }, resource_permissions: { "!*/pods": ["*"], "*/!['*']": ["*"] } },
  ]);
  const developer = { name: "d", roles: ["developer"], project: "shop" };
  const viewer = { name: "v", roles: ["viewer"], project: "shop" };
  const byId = { name: "w", roles: ["viewer"], project: "other", projectId: "0a1b" };
  const admin = { name: "c", roles: ["admin"], project: "shop" };

  it.each<[Person, string, boolean]>([
    [developer, "create pods in default", true],
    [developer, "create pods in kube-system", false],
    [developer, "get clusterroles in default", true],
    [developer, "list namespaces", true],
    [developer, "create namespaces", false],
    [developer, "create roles in default", false],
    [developer, "list pods", false],
    [{ ...developer, project: "forum" }, "create pods in default", false],
    [viewer, "get deployments.apps in default", true],
    [viewer, "get services in kube-system", false],
    [viewer, "create pods in default", false],
    [byId, "get pods in default", true],
    [{ ...byId, projectId: "0a1c" }, "get pods in default", false],
    [admin, "create clusterroles", true],
    [admin, "get secrets in kube-system", true],
    [admin, "get /healthz", true],
    [admin, "get /metrics", false],
    [viewer, "get /healthz", false],
    [{ name: "e", roles: ["a", "b", "c"], project: "shop" }, "get pods", true],
    [{ name: "e", roles: ["a"], project: "shop" }, "get pods", false],
    [{ name: "s", roles: ["extra"], project: "shop" }, "get pods", false],
    [{ name: "x", roles: ["closed"], project: "shop" }, "get pods in default", false],
    [{ name: "n" }, "get pods", false],
  ])("%o: %s is allowed: %s", (who, words, allowed) => {
    expect(decide(policy, request(who, words)).allowed).toBe(allowed);
  });

  it("denies a user without the facts of Keystone, even by a rule for all users", () => {
    const everybody = policyOf([{ resource_permissions: { "*/*": ["*"] } }]);
    expect(decide(everybody, request({ name: "n" }, "get pods"))).toEqual({
      allowed: false,
      reason: "the user was not authenticated by Keystone",
    });
    expect(decide(everybody, request(viewer, "get pods")).allowed).toBe(true);
  });

  it("denies everything without a policy", () => {
    expect(decide([], request(admin, "get pods"))).toEqual({
      allowed: false,
      reason: "no authorization policy is loaded",
    });
  });

  it("ignores facts under keys of other authenticators", () => {
    const other = { ...request(admin, "get pods"), extra: { [DOMAIN_ID]: ["admin"], roles: ["admin"] } };
    expect(decide(policy, other).allowed).toBe(false);
  });
});

describe("names are tied to domains", () => {
  const rules = [
    {
      users: { roles: ["member"], projects: ["shop"], domains: ["Default"] },
      resource_permissions: { "*/pods": ["get"] },
    },
    {
      users: { roles: ["member"], projects: ["p-1"], domains: ["d1", "d2"] },
      resource_permissions: { "*/nodes": ["get"] },
    },
    { users: { roles: [], projects: ["shop"], domains: [] }, resource_permissions: { "*/secrets": ["get"] } },
    {
      resource: { verbs: ["get"], resources: ["books"], version: "*", namespace: "*" },
      match: [{ type: "project", values: ["shop"], domains: ["d1"] }],
    },
    {
      resource: { verbs: ["get"], resources: ["diary"], version: "*", namespace: "*" },
      match: [{ type: "user", values: ["anna"], domains: ["Default"] }],
    },
    {
      nonresource: { verbs: ["get"], path: "/any" },
      match: [{ type: "user", values: ["*"], domains: ["Default"] }],
    },
  ];
  const policy = policyOf(rules);
  const from = (userDomain: string[], projectDomain: string[]) => {
    const [userId = "", userName = ""] = userDomain;
    const [projectId = "", projectName = ""] = projectDomain;
    return {
      [ROLES]: ["member"],
      [PROJECT_NAME]: ["shop"],
      [PROJECT_ID]: ["p-1"],
      [DOMAIN_ID]: [userId],
      [DOMAIN_NAME]: [userName],
      [PROJECT_DOMAIN_ID]: [projectId],
      [PROJECT_DOMAIN_NAME]: [projectName],
    };
  };
  const [own, foreign] = [
    ["d1", "Default"],
    ["d2", "Other"],
  ];
  const inBoth = from(own, own);
  const inNone = from(foreign, foreign);
  const none = { [ROLES]: ["member"], [PROJECT_NAME]: ["shop"], [PROJECT_ID]: ["p-1"] };

  it.each<[string, Record<string, string[]>, string, boolean]>([
    ["a project of the domain", inBoth, "get pods", true],
    ["a project of the same name in another domain", inNone, "get pods", false],
    ["a project of the domain, a user of another", from(foreign, own), "get pods", true],
    ["a project of another domain, a user of the domain", from(own, foreign), "get pods", false],
    ["a project in one of the domains", inNone, "get nodes", true],
    ["a project in none of the domains", from(own, ["d3", "Third"]), "get nodes", false],
    ["an empty list of domains", inBoth, "get secrets", false],
    ["a match of the project's domain by its id", inBoth, "get books", true],
    ["a match of another domain's project", inNone, "get books", false],
    ["a match of the user's domain", from(own, foreign), "get diary", true],
    ["a match of another domain's user of the same name", from(foreign, own), "get diary", false],
    ["any user of the domain", inBoth, "get /any", true],
    ["any user of another domain", inNone, "get /any", false],
    ["a user whose domains are unknown, by project", none, "get pods", false],
    ["a user whose domains are unknown, by name", none, "get diary", false],
  ])("%s: %o may %s: %s", (_, extra, words, allowed) => {
    expect(decide(policy, { ...request({ name: "anna" }, words), extra }).allowed).toBe(allowed);
  });

  it.each(["group", "role"])("a match of type %s with domains is refused: Keystone reports no domain of it", (type) => {
    const rule = {
      nonresource: { verbs: ["get"], path: "/" },
      match: [{ type, values: ["ops"], domains: ["Default"] }],
    };
    expect(() => policyOf([rule])).toThrow("rule 0.match[0] has domains");
  });

  it("rules by id are for no project, user or domain whose name is that id", () => {
    const id = "0123456789abcdef0123456789abcdef";
    const uuid = "01234567-89AB-cdef-0123-456789abcdef";
    const byProject = (projects: string[]) => ({
      users: { roles: [], projects },
      resource_permissions: { "*/pods": ["get"] },
    });
    const byMatch = (type: string, values: string[], domains?: string[]) => ({
      nonresource: { verbs: ["get"], path: `/${type}` },
      match: [{ type, values, ...(domains && { domains }) }],
    });
    for (const value of [id, id + id, uuid]) {
      const byId = policyOf([
        byProject([value]),
        byMatch("project", [value]),
        byMatch("user", [value]),
        byMatch("user", ["anna"], [value]),
      ]);
      const may = (who: object, words: string) =>
        decide(byId, { ...request({ name: "anna" }, words), extra: inBoth, ...who }).allowed;
      for (const words of ["get pods", "get /project"]) {
        expect(may({ extra: { ...inBoth, [PROJECT_NAME]: [value] } }, words)).toBe(false);
        expect(may({ extra: { ...inBoth, [PROJECT_ID]: [value] } }, words)).toBe(true);
      }
      expect(may({ user: value }, "get /user")).toBe(false);
      expect(may({ uid: value }, "get /user")).toBe(true);
      expect(may({ extra: { ...inBoth, [DOMAIN_NAME]: [value] } }, "get /user")).toBe(false);
      expect(may({ extra: { ...inBoth, [DOMAIN_ID]: [value] } }, "get /user")).toBe(true);
    }
  });

  it("rules by the names of every domain are reported, and no others", () => {
    const id = "0123456789abcdef0123456789abcdef";
    const byName = {
      users: { roles: ["member"], projects: [id, "shop"] },
      resource_permissions: { "*/pods": ["get"] },
    };
    const byId = { users: { roles: ["member"], projects: [id] }, resource_permissions: { "*/pods": ["get"] } };
    const path = { nonresource: { verbs: ["get"], path: "/" } };
    const others = [
      { ...path, match: [{ type: "user", values: ["*", id + id] }] },
      { ...path, match: [{ type: "group", values: ["ops"] }] },
      { ...path, match: [{ type: "user", values: ["anna"] }] },
    ];
    expect(rulesByName(policyOf([...rules, byName, byId, ...others]))).toEqual([6, 10]);
    expect(rulesByName(policyOf(Array.from({ length: 50 }, () => byName)))).toHaveLength(20);
  });
});

describe("the domains of a match", () => {
  const spec = { verbs: ["*"], resources: ["*"], version: "*", namespace: "*" };
  const of = (type: "user" | "project", domain: string) =>
    policyOf([{ match: [{ type, values: ["*"], domains: [domain] }], resource: spec }]);
  const who = {
    user: "anna",
    uid: "u",
    groups: [],
    verb: "get",
    resource: { namespace: "n", apiGroup: "", resource: "pods", subresource: "" },
    extra: { [DOMAIN_ID]: ["users"], [PROJECT_DOMAIN_ID]: ["projects"], [PROJECT_NAME]: ["shop"], [ROLES]: [] },
  };
  it.each([
    ["user", "users", true],
    ["user", "projects", false],
    ["project", "projects", true],
    ["project", "users", false],
  ] as const)("of type %s are those of it: %s is accepted: %s", (type, domain, allowed) => {
    expect(decide(of(type, domain), who).allowed).toBe(allowed);
  });

  it("that no rule names leave the request to others, with the reason", () => {
    expect(decide(of("user", "other"), who)).toEqual({ allowed: false, reason: "no rule of the policy allows it" });
  });
});
