import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allows, readRules, type RuleText } from "./access/policy.ts";
import { defaultPolicy } from "./access/default-policy.ts";
import { readPolicyFile } from "./settings/policy-file.ts";

describe("the policy of the Magnum API", () => {
  const caller = (over: object = {}) => ({
    userId: "u",
    userName: "anna",
    projectId: "p",
    projectName: "shop",
    domainId: "d",
    roles: ["member", "reader"],
    ofApplicationCredential: false,
    token: "t",
    ...over,
  });
  const rules = readRules(defaultPolicy);
  it.each<[string, string, object, object, boolean]>([
    ["lets a member create", "cluster:create", {}, { project_id: "p" }, true],
    ["does not let a reader create", "cluster:create", { roles: ["reader"] }, { project_id: "p" }, false],
    ["lets a reader list", "cluster:get_all", { roles: ["reader"] }, { project_id: "p" }, true],
    ["does not let a member of another project see", "cluster:get", {}, { project_id: "q" }, false],
    ["lets an administrator see", "cluster:get", { roles: ["admin"] }, { project_id: "q" }, true],
    [
      "gives certificates to a colleague of the creator",
      "certificate:create",
      {},
      { project_id: "p", user_id: "other" },
      true,
    ],
    [
      "does not let an administrator rotate credentials",
      "credential:rotate",
      { roles: ["admin"] },
      { project_id: "p" },
      false,
    ],
    ["refuses an action without a rule", "cluster:unknown", { roles: ["admin"] }, {}, false],
  ])("%s", (_, action, over, target, allowed) => {
    expect(allows(rules, action, caller(over), target)).toBe(allowed);
  });

  it("is written in oslo.policy's language", () => {
    const own = readRules({
      a: "not role:x and (user_id:%(user_id)s or role:y)",
      b: "!",
      c: "@",
      d: "is_admin:True",
      context_is_admin: "role:root",
    });
    expect(allows(own, "a", caller(), { user_id: "u" })).toBe(true);
    expect(allows(own, "a", caller({ roles: ["x"] }), { user_id: "u" })).toBe(false);
    expect([allows(own, "b", caller(), {}), allows(own, "c", caller(), {})]).toEqual([false, true]);
    expect(allows(own, "d", caller({ roles: ["root"] }), {})).toBe(true);
  });

  it.each<Record<string, RuleText>>([
    { a: "rule:a" },
    { a: "rule:b", b: "rule:a" },
    { a: "rule:missing", default: "rule:absent" },
    { a: ["role:x", ["rule:a"]] },
    { a: "role:x and" },
    { a: "(role:x" },
    { a: "http://x" },
  ])("refuses the rule %j when it is read", (texts) => expect(() => readRules(texts)).toThrow(/policy of/));

  it("decides who is an administrator before the attribute is_admin is there, which is false until then", () => {
    const own = readRules({ ...defaultPolicy, context_is_admin: "role:admin or is_admin:True" });
    const verdicts = [["member"], ["admin"]].map((roles) => allows(own, "cluster:get_all", caller({ roles }), {}));
    expect(verdicts).toEqual([false, true]);
    expect(allows(own, "context_is_admin", caller(), {})).toBe(false);
    const negated = readRules({ context_is_admin: "is_admin:False", a: "is_admin:True" });
    expect(allows(negated, "a", caller(), {})).toBe(true);
  });

  it("denies what refers to a rule that there is not, as oslo does, and reports it", () => {
    const said: unknown[] = [];
    const log = { warn: (_: string, facts?: object) => said.push(facts) };
    const own = readRules({ a: "rule:deny_cluster_user", b: "rule:deny_cluster_user or role:member" }, log);
    expect([allows(own, "a", caller(), {}), allows(own, "b", caller(), {})]).toEqual([false, true]);
    expect(said).toEqual(["a", "b"].map((rule) => ({ rule, missing: "deny_cluster_user" })));
    const fallback = readRules({ a: "rule:missing", default: "role:member" });
    expect([allows(fallback, "a", caller(), {}), allows(fallback, "c", caller(), {})]).toEqual([true, true]);
  });

  it.each<[RuleText, string[], boolean]>([
    [["role:a", ["role:b", "role:c"]], ["a"], true],
    [["role:a", ["role:b", "role:c"]], ["b"], false],
    [["role:a", ["role:b", "role:c"]], ["b", "c"], true],
    [["rule:b"], ["b"], true],
    [[], [], true],
    [[[]], ["a"], false],
    [["role:admin", ""], ["a"], false],
    [["role:a", ""], ["a"], true],
    [[[""]], ["a"], false],
    [[["role:a", ""]], ["a"], false],
  ])("reads the list %j: for a user with roles %j it is %s", (rule, roles, allowed) => {
    expect(allows(readRules({ a: rule, b: "role:b" }), "a", caller({ roles }), {})).toBe(allowed);
  });

  it("is read from a file in either form, and a file with anything else is refused", () => {
    const path = join(mkdtempSync(join(tmpdir(), "policy-")), "policy.yaml");
    writeFileSync(path, '"context_is_admin": "role:admin or is_admin:True"\n"a": ["rule:b", ["role:b", "role:c"]]\n');
    expect(readPolicyFile(path)).toEqual({
      context_is_admin: "role:admin or is_admin:True",
      a: ["rule:b", ["role:b", "role:c"]],
    });
    for (const rule of ["1", "{}", "[1]", "[[[]]]", ""]) {
      writeFileSync(path, `"a": ${rule}\n`);
      expect(() => readPolicyFile(path), rule).toThrow(/does not map names to rules/);
    }
  });
});
