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
