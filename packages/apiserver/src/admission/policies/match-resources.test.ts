import { describe, expect, test } from "vitest";
import type { FieldProblem } from "../../errors/status.ts";
import { type Json } from "../../json/json.ts";
import { fillMatchResources, matchResourcesProblems, nameFaults, paramKindProblems } from "./match-resources.ts";

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const REQUIRED = "Required value";

/** "field: message", without the path that all share. */
const shown = (problems: readonly FieldProblem[], path = "p"): string[] =>
  problems.map(({ field, message }) => `${field.replace(path, "")}: ${message}`);

describe("the match of an admission policy", () => {
  const RULE = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
  test("is filled in", () => {
    const given: Json = { resourceRules: [{ ...RULE }, { scope: "Cluster" }], excludeResourceRules: [{}] };
    fillMatchResources(given);
    expect(given).toEqual({
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [{ ...RULE, scope: "*" }, { scope: "Cluster" }],
      excludeResourceRules: [{ scope: "*" }],
    });
    const whole: Json = { matchPolicy: "Exact", namespaceSelector: { a: 1 }, objectSelector: { b: 1 } };
    fillMatchResources(whole);
    expect(whole).toEqual({ matchPolicy: "Exact", namespaceSelector: { a: 1 }, objectSelector: { b: 1 } });
  });

  const bad = { matchExpressions: [{ key: "a", operator: "Gt" }] };
  test.each<[string, Json, readonly string[]]>([
    ["may be nothing", {}, []],
    [
      "has a policy",
      { matchPolicy: "Other" },
      ['.matchPolicy: Unsupported value: "Other": supported values: "Equivalent", "Exact"'],
    ],
    ["may have each policy", { matchPolicy: "Exact" }, []],
    [
      "has selectors of namespaces",
      { namespaceSelector: bad },
      ['.namespaceSelector.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator'],
    ],
    [
      "has selectors of objects",
      { objectSelector: bad },
      ['.objectSelector.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator'],
    ],
    [
      "has rules",
      { resourceRules: [RULE, { ...RULE, operations: [] }] },
      [`.resourceRules[1].operations: ${REQUIRED}`],
    ],
    [
      "has exceptions",
      { excludeResourceRules: [{ ...RULE, operations: [] }] },
      [`.excludeResourceRules[0].operations: ${REQUIRED}`],
    ],
    [
      "has names once, and as paths have them",
      { resourceRules: [{ ...RULE, resourceNames: ["a", "b", "a", ".", "x/y"] }] },
      [
        '.resourceRules[0].resourceNames[2]: Duplicate value: "a"',
        `.resourceRules[0].resourceNames[3]: Invalid value: ".": may not be '.'`,
        `.resourceRules[0].resourceNames[4]: Invalid value: "x/y": may not contain '/'`,
      ],
    ],
  ])("%s", (_what, resources, expected) => {
    expect(shown(matchResourcesProblems(resources, "p"))).toEqual(expected);
  });

  test.each([
    ["a", []],
    ["", []],
    [".", ["may not be '.'"]],
    ["..", ["may not be '..'"]],
    ["...", []],
    ["a/b", ["may not contain '/'"]],
    ["a%b/", ["may not contain '/'", "may not contain '%'"]],
  ])("the name %j has the faults %j", (name, expected) => {
    expect(nameFaults(name)).toEqual(expected);
  });

  test.each<[string, Json, readonly string[]]>([
    ["of the core", { apiVersion: "v1", kind: "ConfigMap" }, []],
    ["of a group", { apiVersion: "a.b/v1", kind: "Thing" }, []],
    ["of nothing", {}, [`.apiVersion: ${REQUIRED}`, `.kind: ${REQUIRED}`]],
    [
      "of too many parts",
      { apiVersion: "a/b/c", kind: "A" },
      ['.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    ["of an odd group", { apiVersion: "A/v1", kind: "A" }, [`.apiVersion: Invalid value: "A": ${SUBDOMAIN}`]],
    ["of no group", { apiVersion: "/v1", kind: "A" }, []],
    ["of no version", { apiVersion: "a/", kind: "A" }, ['.apiVersion: Invalid value: "a/": version must be specified']],
    ["of an odd version", { apiVersion: "a/1", kind: "A" }, [`.apiVersion: Invalid value: "1": ${LABEL}`]],
    [
      "of an odd group and version",
      { apiVersion: "A/1", kind: "A" },
      [`.apiVersion: Invalid value: "A": ${SUBDOMAIN}`, `.apiVersion: Invalid value: "1": ${LABEL}`],
    ],
    [
      "of an odd group and no version",
      { apiVersion: "A/", kind: "A" },
      [`.apiVersion: Invalid value: "A": ${SUBDOMAIN}`, '.apiVersion: Invalid value: "A/": version must be specified'],
    ],
    [
      "of an odd kind",
      { apiVersion: "v1", kind: "A_b" },
      [`.kind: Invalid value: "A_b": may have mixed case, but should otherwise match: ${LABEL}`],
    ],
  ])("permits or refuses parameters %s", (_what, kind, expected) => {
    expect(shown(paramKindProblems(kind, "p"))).toEqual(expected);
  });
});
