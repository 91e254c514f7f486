import { describe, expect, test } from "vitest";
import type { FieldProblem } from "../errors/status.ts";
import { type Json } from "../json/json.ts";
import { conditionProblems, duplicate, ruleProblems, selectorProblems } from "./problems.ts";
const REQUIRED = "Required value";

/** "field: message", without the path that all share. */
const shown = (problems: readonly FieldProblem[], path = "p"): string[] =>
  problems.map(({ field, message }) => `${field.replace(path, "")}: ${message}`);

describe("a rule of webhooks and policies", () => {
  const RULE = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
  const clash = (i: number, entry: string, pattern: string): string =>
    `.resources[${i}]: Invalid value: "${entry}": if '${pattern}' is present, must not specify ${entry}`;
  test.each<[string, Json, readonly string[]]>([
    ["is accepted when it is complete", {}, []],
    [
      "may be about everything",
      { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], scope: "*" },
      [],
    ],
    ["needs operations", { operations: [] }, [`.operations: ${REQUIRED}`]],
    ["needs groups", { apiGroups: [] }, [`.apiGroups: ${REQUIRED}`]],
    ["needs versions", { apiVersions: [] }, [`.apiVersions: ${REQUIRED}`]],
    ["needs resources", { resources: [] }, [`.resources: ${REQUIRED}`]],
    ["has no empty version", { apiVersions: ["v1", ""] }, [`.apiVersions[1]: ${REQUIRED}`]],
    ["has no empty resource", { resources: ["pods", ""] }, [`.resources[1]: ${REQUIRED}`]],
    ["may be about each operation", { operations: ["CONNECT", "CREATE", "DELETE", "UPDATE"] }, []],
    [
      "is about no other operation",
      { operations: ["CREATE", "PATCH"] },
      ['.operations[1]: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"'],
    ],
    [
      "has nothing next to a star",
      { operations: ["*", "CREATE"], apiGroups: ["*", ""], apiVersions: ["*", "v1"] },
      [
        `.operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
        `.apiGroups: Invalid value: ["*",""]: if '*' is present, must not specify other API groups`,
        `.apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
      ],
    ],
    ["may be about one scope", { scope: "Namespaced" }, []],
    ["may be about the other scope", { scope: "Cluster" }, []],
    [
      "is about no other scope",
      { scope: "Other" },
      ['.scope: Unsupported value: "Other": supported values: "*", "Cluster", "Namespaced"'],
    ],
    [
      "has no subresource next to all of a resource",
      { resources: ["pods/*", "pods/log"] },
      [clash(1, "pods/log", "pods/*")],
    ],
    [
      "has no subresource that is listed for every resource already",
      { resources: ["*/log", "pods/log"] },
      [clash(1, "pods/log", "*/log")],
    ],
    ["may have subresources", { resources: ["pods", "pods/log", "pods/*"] }, []],
    ["may have a subresource of several resources", { resources: ["pods/log", "nodes/log"] }, []],
    ["may have a subresource of no resource next to a star", { resources: ["*", "/log"] }, []],
    ["may have subresources next to a star", { resources: ["*", "pods/log"] }, []],
    [
      "has nothing next to everything",
      { resources: ["*/*", "pods"] },
      [`.resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`],
    ],
    [
      "has no resource next to a star",
      { resources: ["*", "pods"] },
      [
        `.resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
      ],
    ],
  ])("%s", (_what, more, expected) => {
    expect(shown(ruleProblems({ ...RULE, ...more }, "p"))).toEqual(expected);
  });
});

describe("a label selector", () => {
  const expression = (more: Json): Json => ({ matchExpressions: [{ key: "a", operator: "Exists", ...more }] });
  const AT = ".matchExpressions[0]";
  const name = /must consist of alphanumeric characters/;
  test.each<[string, unknown, readonly (string | RegExp)[]]>([
    ["may be absent", undefined, []],
    ["may be null", null, []],
    ["may be empty", {}, []],
    ["may have labels", { matchLabels: { "a.b/c": "d" } }, []],
    ["has no odd label", { matchLabels: { "a b": "d" } }, [name]],
    ["may ask whether a label exists", expression({}), []],
    ["may ask whether a label does not exist", expression({ operator: "DoesNotExist", values: [] }), []],
    ["may ask for values", expression({ operator: "In", values: ["x"] }), []],
    ["may ask for other values", expression({ operator: "NotIn", values: ["x"] }), []],
    [
      "needs values",
      expression({ operator: "In" }),
      [`${AT}.values: ${REQUIRED}: must be specified when \`operator\` is 'In' or 'NotIn'`],
    ],
    [
      "needs other values",
      expression({ operator: "NotIn", values: [] }),
      [`${AT}.values: ${REQUIRED}: must be specified when \`operator\` is 'In' or 'NotIn'`],
    ],
    [
      "needs no values",
      expression({ values: ["x"] }),
      [`${AT}.values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`],
    ],
    [
      "needs no values where a label is absent",
      expression({ operator: "DoesNotExist", values: ["x"] }),
      [`${AT}.values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`],
    ],
    [
      "has no other operator",
      expression({ operator: "Gt" }),
      [`${AT}.operator: Invalid value: "Gt": not a valid selector operator`],
    ],
    [
      "needs an operator",
      { matchExpressions: [{ key: "a" }] },
      [`${AT}.operator: Invalid value: "": not a valid selector operator`],
    ],
    ["has no odd key, with any operator", expression({ key: "a b" }), [name]],
    ["has no odd key among values", expression({ key: "a b", operator: "In", values: ["x"] }), [name]],
    ["reports values before keys", expression({ key: "a b", operator: "In" }), [/values/, name]],
    ["reports missing values before keys", expression({ key: "a b", values: ["x"] }), [/values/, name]],
    ["reports operators before keys", expression({ key: "a b", operator: "Gt" }), [/operator/, name]],
  ])("%s", (_what, selector, expected) => {
    const found = shown(selectorProblems(selector, "p"));
    expect(found).toEqual(expected.map((e) => (typeof e === "string" ? e : (expect.stringMatching(e) as unknown))));
  });

  test("names the part that is odd", () => {
    expect(shown(selectorProblems({ matchLabels: { "a b": "d" } }, "p"))[0]).toMatch(
      /^\.matchLabels: Invalid value: "a b": /,
    );
    expect(shown(selectorProblems(expression({ key: "a b" }), "p"))[0]).toMatch(
      /^\.matchExpressions\[0\]\.key: Invalid value: "a b": /,
    );
  });
});

describe("match conditions", () => {
  const check = (text: string): string | undefined => (text === "bad" ? "no CEL" : undefined);
  const many = (count: number): Json[] =>
    Array.from({ length: count }, (_, i) => ({ name: `n${i}`, expression: "true" }));
  test.each<[string, unknown, readonly string[]]>([
    ["may be absent", undefined, []],
    ["may be right", [{ name: "a", expression: "true" }], []],
    ["may be sixty-four", many(64), []],
    ["may not be more", many(65), [": Too many: 65: must have at most 64 items"]],
    ["need names and expressions", [{}], [`[0].expression: ${REQUIRED}`, `[0].name: ${REQUIRED}`]],
    ["need more than spaces", [{ name: "a", expression: "  " }], [`[0].expression: ${REQUIRED}`]],
    [
      "need expressions that can be compiled",
      [{ name: "a", expression: " bad " }],
      ['[0].expression: Invalid value: "bad": no CEL'],
    ],
    [
      "have one name each",
      [
        { name: "a", expression: "x" },
        { name: "b", expression: "x" },
        { name: "a", expression: "x" },
      ],
      ['[2].name: Duplicate value: "a"'],
    ],
  ])("%s", (_what, conditions, expected) => {
    expect(shown(conditionProblems(conditions, "p", check))).toEqual(expected);
  });

  test("have no odd names", () => {
    const [found] = shown(conditionProblems([{ name: "a b", expression: "true" }], "p", check));
    expect(found).toMatch(/^\[0\]\.name: Invalid value: "a b": /);
  });
});

test("problems of admission configuration have reasons", () => {
  expect(duplicate("f", "a")).toEqual({ field: "f", message: 'Duplicate value: "a"', reason: "FieldValueDuplicate" });
  const many = Array.from({ length: 65 }, (_, i) => ({ name: `c${i}`, expression: "true" }));
  expect(conditionProblems(many, "p", () => undefined)).toMatchObject([{ field: "p", reason: "FieldValueTooMany" }]);
});
