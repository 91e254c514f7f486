import { describe, expect, it } from "vitest";
import { hasCode } from "@causeway/foundation";
import fc from "fast-check";
import { decide } from "./plan-decide.ts";
import { matchesPattern, readPattern } from "./plan-pattern.ts";
import { readPolicy } from "./plan-read.ts";

const spec = { verbs: ["get"], resources: ["pods"], version: "", namespace: "*" };

describe("a policy", () => {
  it.each<[string, string, string]>([
    ["that is not JSON", "[{", "it is not JSON"],
    ["that is not a list", "{}", "it is not a list of rules"],
    ["that is nested too deeply", "[".repeat(40) + "]".repeat(40), "nested more than 16 deep"],
    ["with a rule that is not an object", '["x"]', "rule 0 is not an object"],
    ["with users as a list", '[{"users": []}]', "rule 0.users is not an object"],
    ["with a role that is no text", '[{"users": {"roles": [1]}}]', "rule 0.users.roles[0] is not a text"],
    [
      "without the version of a resource",
      JSON.stringify([{ resource: { ...spec, version: undefined } }]),
      "rule 0.resource.version",
    ],
    [
      "without the namespace of a resource",
      JSON.stringify([{ resource: { ...spec, namespace: 1 } }]),
      "rule 0.resource.namespace",
    ],
    ["with verbs that are a text", '[{"resource_permissions": {"*/*": "get"}}]', "is not a list"],
    ["with a match that is not a list", '[{"match": {}}]', "rule 0.match is not a list"],
  ])("%s is refused with the place of the mistake", (_what, text, message) => {
    try {
      readPolicy(text);
      expect.unreachable();
    } catch (error) {
      expect(hasCode(error, "KEYSTONE_POLICY_INVALID")).toBe(true);
      expect(String((error as Error).message)).toContain(message);
    }
  });

  it.each<[string, unknown, string]>([
    ["a match of an unknown type", { resource: spec, match: [{ type: "planet", values: ["*"] }] }, "match[0]"],
    ["no resources", { resource: { ...spec, resources: [] } }, "names no resources"],
    ["no path", { nonresource: { verbs: ["get"] } }, "has no path"],
    ["users without projects", { users: { roles: ["a"] }, resource_permissions: { "*/*": ["*"] } }, "has no projects"],
    ["a permission without a slash", { resource_permissions: { pods: ["get"] } }, '"pods"'],
    ["a permission for a subresource", { resource_permissions: { "*/pods/log": ["get"] } }, '"*/pods/log"'],
    ["an open bracket", { resource_permissions: { "['a'/pods": ["get"] } }, "['a'/pods"],
    ["nothing to allow", { match: [] }, "has none of"],
  ])("with %s is accepted with a warning", (_what, rule, warning) => {
    const { warnings } = readPolicy(JSON.stringify([rule]));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(warning);
  });

  it("with everything that a rule may have is read without a warning", () => {
    const users = { roles: ["member"], projects: ["p"], domains: ["d"] };
    const rule = {
      users,
      match: [
        { type: "user", values: ["anna"], domains: ["d"] },
        { type: "project", values: ["p"], domains: ["d"] },
        { type: "role", values: ["member"] },
        { type: "group", values: ["g"] },
      ],
      resource: spec,
      nonresource: { path: "/x", verbs: ["get"] },
      resource_permissions: { "*/Pods": ["GET"] },
      nonresource_permissions: { "/y": ["get"] },
    };
    const { policy, warnings } = readPolicy(JSON.stringify([rule]));
    expect(warnings).toEqual([]);
    expect(policy).toEqual([
      {
        users,
        match: rule.match.map((match) => ({ domains: undefined, ...match })),
        resource: { resources: ["pods"], verbs: ["get"], apiGroup: "", namespace: "*" },
        nonResource: { path: "/x", verbs: ["get"] },
        resourcePermissions: [
          { namespaces: { type: "any" }, resources: { type: "these", names: ["pods"] }, verbs: ["get"] },
        ],
        nonResourcePermissions: [{ path: "/y", verbs: ["get"] }],
      },
    ]);
    expect(
      readPolicy(JSON.stringify([{ users: null, resource: null, nonresource: { path: "/", verbs: [] } }])),
    ).toEqual({
      policy: [{ match: [], nonResource: { path: "/", verbs: [] } }],
      warnings: [],
    });
  });

  it("of nothing has no rules, and there is a most of them", () => {
    expect(readPolicy("null")).toEqual({ policy: [], warnings: [] });
    const rules = (count: number) => `[${Array.from({ length: count }, () => "{}").join(",")}]`;
    expect(readPolicy(rules(10_000)).policy).toHaveLength(10_000);
    expect(() => readPolicy(rules(10_001))).toThrow("it has more than 10000 rules");
  });

  it.each<[string, unknown, readonly string[]]>([
    ["no path", { nonresource: {} }, ["rule 0.nonresource has no path: it allows nothing"]],
    [
      "no projects",
      { users: {}, nonresource: { path: "/" } },
      ["rule 0.users has no projects, so it is for no user: it allows nothing"],
    ],
    [
      "empty domains",
      { users: { projects: ["p"], domains: [] }, match: [{ type: "user", domains: [] }], nonresource: { path: "/" } },
      ["rule 0.match[0].domains is empty: it allows nothing", "rule 0.users.domains is empty: it allows nothing"],
    ],
    [
      "an unknown type",
      { match: [{ type: "planet" }], nonresource: { path: "/" } },
      ["rule 0.match[0] has a type other than group, project, role, user: it allows nothing"],
    ],
    [
      "a permission that cannot be read",
      { resource_permissions: { pods: [] } },
      [
        `rule 0.resource_permissions has the key "pods", which is not NAMESPACE/RESOURCE with *, NAME, !NAME, ['A', 'B'] or !['A', 'B']: it allows nothing`,
      ],
    ],
  ])("with %s is named with its place", (_what, rule, warnings) => {
    const found = [...readPolicy(JSON.stringify([rule])).warnings].toSorted();
    expect(found).toEqual([...warnings].toSorted());
  });

  it.each([
    ['[{"nonresource_permissions": []}]', "rule 0.nonresource_permissions is not an object"],
    ['[{"nonresource_permissions": {"/x": [1]}}]', 'rule 0.nonresource_permissions["/x"][0] is not a text'],
    ['[{"nonresource": {"path": null}}]', "rule 0.nonresource.path is not a text"],
    ['[{"match": [{"type": "role", "domains": ["d"]}]}]', "rule 0.match[0] has domains, which only"],
    ['[{"match": [{"type": "role", "values": "x"}]}]', "rule 0.match[0].values is not a list"],
  ])("%s is refused: %s", (text, message) => {
    expect(() => readPolicy(text)).toThrow(message);
    try {
      readPolicy(text);
    } catch (error) {
      expect(error).toMatchObject({
        hint: "Fix the policy; docs/reference/keystone-auth.md has both versions of its format.",
      });
    }
  });

  it("reads what is no policy without failing otherwise", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        try {
          const { policy } = readPolicy(text);
          const who = { user: "u", uid: "", groups: [], extra: undefined, verb: "get" };
          return !decide(policy, { ...who, path: "/" }).allowed;
        } catch (error) {
          return hasCode(error, "KEYSTONE_POLICY_INVALID");
        }
      }),
    );
  });
});

describe("a pattern", () => {
  it.each<[string, string, boolean | undefined]>([
    ["*", "a", true],
    ["a", "a", true],
    ["a", "b", false],
    ["!a", "a", false],
    ["!a", "b", true],
    ["!*", "b", false],
    ["['a', 'b']", "b", true],
    ["['a', 'b']", "c", false],
    ["['*']", "c", true],
    ["!['a', 'b']", "b", false],
    ["!['a', 'b']", "c", true],
    ["!['*']", "c", false],
    ["['a'", "a", undefined],
    ["!['a'", "b", undefined],
    ["['a'] ", "a", undefined],
    ["[a]", "a", undefined],
    ["[1]", "1", undefined],
  ])("%s matches %s: %s", (text, name, expected) => {
    const pattern = readPattern(text);
    expect(pattern && matchesPattern(pattern, name)).toBe(expected);
  });
});
