import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Draft, WriteContext } from "../../contract/resource.ts";
import type { Json } from "../../json/json.ts";
import { policyBindingStrategy } from "./binding-strategy.ts";
import { policyStrategy } from "./strategy.ts";

const RULE = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const CONSTRAINTS = { resourceRules: [RULE] };
const VALIDATIONS = [{ expression: "true" }];
const PLAIN = { failurePolicy: "Fail", matchConstraints: CONSTRAINTS, validations: VALIDATIONS };
const REQUIRED = "Required value";

const context = (allowed: boolean, subresource = ""): WriteContext =>
  ({
    subresource,
    user: { name: "jane", groups: [] },
    cluster: {
      access: { allows: () => allowed },
      catalog: { byKind: () => undefined },
      store: { get: () => undefined },
    },
  }) as unknown as WriteContext;
const whole = (spec: unknown, name = "p"): KubeObject => ({ metadata: { name }, spec }) as unknown as KubeObject;
const draft = (spec: unknown): Draft => whole(spec) as unknown as Draft;

type Rules = typeof policyStrategy;
interface CheckOptions {
  readonly old?: Json;
  readonly subresource?: string;
  readonly allowed?: boolean;
  readonly name?: string;
}

/** "field: message", without "spec." */
function problems(rules: Rules, spec: Json, { old, subresource, allowed = true, name }: CheckOptions = {}): string[] {
  const found = rules.validate?.(whole(spec, name), old && whole(old, name), context(allowed, subresource)) ?? [];
  return found.map(({ field, message }) => `${field.replace(/^spec\.?/, "")}: ${message}`);
}

// The rows are those of kubernetes' pkg/apis/admissionregistration/validation/validation_test.go.
describe("a validating admission policy", () => {
  const check = (spec: Json, more?: CheckOptions): string[] => problems(policyStrategy, { ...PLAIN, ...spec }, more);
  const EITHER = `${REQUIRED}: validations or auditAnnotations must contain at least one item`;
  const undeclared = (name: string): unknown =>
    expect.stringMatching(
      new RegExp(`: Invalid value: .*compilation failed: ERROR.*undeclared reference to '${name}'`),
    );
  const invalid = (value: unknown, why: string): string => `Invalid value: ${JSON.stringify(value)}: ${why}`;

  test("is filled in", () => {
    const empty = draft(undefined);
    policyStrategy.applyDefaults?.(empty, context(true));
    expect(empty["spec"]).toEqual({ failurePolicy: "Fail" });
    const given = draft({ failurePolicy: "Ignore", matchConstraints: {} });
    policyStrategy.applyDefaults?.(given, context(true));
    const constraints = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} };
    expect(given["spec"]).toEqual({ failurePolicy: "Ignore", matchConstraints: constraints });
  });

  test("keeps its spec when its status is written", () => {
    const [changed, other, old] = [draft({ a: 2 }), draft({ a: 2 }), whole({ a: 1 })];
    policyStrategy.prepareUpdate?.(changed, old, context(true, "status"));
    policyStrategy.prepareUpdate?.(other, old, context(true));
    expect([changed["spec"], other["spec"]]).toEqual([{ a: 1 }, { a: 2 }]);
    expect(problems(policyStrategy, {}, { subresource: "status" })).toEqual([]);
  });

  test.each<[string, Json, unknown[]]>([
    ["may be plain", {}, []],
    [
      "has one of two failure policies",
      { failurePolicy: "X" },
      ['failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"'],
    ],
    ["has a valid paramKind", { paramKind: {} }, [`paramKind.apiVersion: ${REQUIRED}`, `paramKind.kind: ${REQUIRED}`]],
    ["has constraints", { matchConstraints: undefined }, [`matchConstraints: ${REQUIRED}`]],
    ["has rules in them", { matchConstraints: {} }, [`matchConstraints.resourceRules: ${REQUIRED}`]],
    [
      "has valid rules in them",
      { matchConstraints: { resourceRules: [{ ...RULE, operations: [] }] } },
      [`matchConstraints.resourceRules[0].operations: ${REQUIRED}`],
    ],
    ["has one or the other", { validations: [] }, [`validations: ${EITHER}`, `auditAnnotations: ${EITHER}`]],
    [
      "may have audit annotations alone",
      { validations: [], auditAnnotations: [{ key: "k", valueExpression: "'v'" }] },
      [],
    ],
    [
      "has valid conditions",
      { matchConditions: [{ name: "c", expression: "" }] },
      [`matchConditions[0].expression: ${REQUIRED}`],
    ],
    [
      "has conditions that are true or false",
      { matchConditions: [{ name: "c", expression: "1" }] },
      [`matchConditions[0].expression: ${invalid("1", "must evaluate to bool but got int")}`],
    ],
    [
      "has no parameters without their kind",
      { matchConditions: [{ name: "c", expression: "params.a == 1" }] },
      [undeclared("params")],
    ],
    [
      "may have parameters in its conditions",
      {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        matchConditions: [{ name: "c", expression: "params.a == 1" }],
      },
      [],
    ],
    [
      "has no variables in its conditions",
      { variables: [{ name: "a", expression: "1" }], matchConditions: [{ name: "c", expression: "variables.a == 1" }] },
      [undeclared("variables")],
    ],
  ])("%s", (_what, spec, expected) => {
    expect(check(spec)).toEqual(expected);
  });

  test.each<[string, Json, unknown[]]>([
    ["has a name", { expression: "1" }, [`.name: ${REQUIRED}: name is not specified`]],
    ["has more of a name than spaces", { name: " ", expression: "1" }, [`.name: ${REQUIRED}: name is not specified`]],
    [
      "is an identifier",
      { name: "a-b", expression: "1" },
      [`.name: ${invalid("a-b", "must be a valid CEL identifier")}`],
    ],
    ["may have any expression", { name: "_a1", expression: "1" }, []],
    ["has an expression", { name: "a", expression: " " }, [`.expression: ${REQUIRED}: expression is not specified`]],
    ["has one that compiles", { name: "a", expression: "x" }, [undeclared("x")]],
  ])("a variable %s", (_what, variable, expected) => {
    expect(check({ variables: [variable] }).map((p) => p.replace("variables[0]", ""))).toEqual(expected);
  });

  test("a variable may name others", () => {
    const variables = [
      { name: "a", expression: "1" },
      { name: "b", expression: "variables.a" },
    ];
    expect(check({ variables })).toEqual([]);
  });

  test.each<[string, Json, unknown[]]>([
    ["has an expression", { expression: " " }, [`.expression: ${REQUIRED}: expression is not specified`]],
    ["is true or false", { expression: "1" }, [`.expression: ${invalid("1", "must evaluate to bool but got int")}`]],
    ["may have a message", { expression: "true", message: "m" }, []],
    [
      "has more in it than spaces",
      { expression: "true", message: " " },
      [`.message: ${invalid(" ", "must be non-empty if specified")}`],
    ],
    [
      "has one line",
      { expression: "true", message: "a\nb" },
      [`.message: ${invalid("a\nb", "must not contain line breaks")}`],
    ],
    ["may end with a line break", { expression: "true", message: "a\n" }, []],
    [
      "has more in its message's expression than spaces",
      { expression: "true", messageExpression: " " },
      [`.messageExpression: ${invalid(" ", "must be non-empty if specified")}`],
    ],
    [
      "computes a text",
      { expression: "true", messageExpression: "1" },
      [`.messageExpression: ${invalid("1", "must evaluate to string but got int")}`],
    ],
    ["may compute one", { expression: "true", messageExpression: "'a'" }, []],
    [
      "asks no authorizer for its message",
      { expression: "true", messageExpression: "string(authorizer.path('/').check('get').allowed())" },
      [undeclared("authorizer")],
    ],
    ["may ask it in its expression", { expression: "authorizer.path('/').check('get').allowed()" }, []],
    [
      "has one of three reasons",
      { expression: "true", reason: "X" },
      ['.reason: Unsupported value: "X": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"'],
    ],
    ["may have each reason", { expression: "true", reason: "Forbidden" }, []],
  ])("a validation %s", (_what, validation, expected) => {
    expect(check({ validations: [validation] }).map((p) => p.replace("validations[0]", ""))).toEqual(expected);
  });

  test.each<[string, Json, unknown[]]>([
    ["is a text", { key: "k", valueExpression: "'v'" }, []],
    ["is null", { key: "k", valueExpression: " null " }, []],
    [
      "is nothing else",
      { key: "k", valueExpression: "1" },
      [`.valueExpression: ${invalid("1", "must evaluate to one of [string null_type] but got int")}`],
    ],
    [
      "has an expression",
      { key: "k", valueExpression: " " },
      [`.valueExpression: ${REQUIRED}: valueExpression is not specified`],
    ],
    [
      "has a key",
      { key: "", valueExpression: "'v'" },
      [
        expect.stringMatching(/^\.key: Invalid value: "p\/": name part must be non-empty/),
        expect.stringMatching(/^\.key: /),
      ],
    ],
    [
      "has a valid key",
      { key: "a b", valueExpression: "'v'" },
      [expect.stringMatching(/^\.key: Invalid value: "p\/a b": name part must consist of/)],
    ],
    [
      "is no longer than 5 KiB",
      { key: "k", valueExpression: `'${"é".repeat(2560)}'` },
      [`.valueExpression: ${REQUIRED}: must not exceed 5120 bytes in length`],
    ],
    ["may be that long", { key: "k", valueExpression: `'${"é".repeat(2559)}'` }, []],
  ])("an audit annotation %s", (_what, annotation, expected) => {
    expect(check({ auditAnnotations: [annotation] }).map((p) => p.replace("auditAnnotations[0]", ""))).toEqual(
      expected,
    );
  });

  test("has at most twenty audit annotations, with keys of their own", () => {
    const annotation = (key: string): Json => ({ key, valueExpression: "'v'" });
    const many = Array.from({ length: 20 }, (_, i) => annotation(`k${i}`));
    expect(check({ auditAnnotations: many })).toEqual([]);
    const [first] = check({ auditAnnotations: [...many, annotation("more")] });
    expect(first).toMatch(/^auditAnnotations: Invalid value: \[.*\]: must not have more than 20 auditAnnotations$/);
    expect(check({ auditAnnotations: [annotation("k"), annotation("k")] })).toEqual([
      'auditAnnotations[1].key: Duplicate value: "k"',
    ]);
  });

  test("has variables whose types are known", () => {
    const variables = [{ name: "a", expression: "1" }];
    expect(check({ variables, validations: [{ expression: "variables.a" }] })).toEqual([
      `validations[0].expression: ${invalid("variables.a", "must evaluate to bool but got int")}`,
    ]);
  });

  test("keeps conditions that do not compile any more, while they and the paramKind remain", () => {
    const broken = { ...PLAIN, matchConditions: [{ name: "c", expression: "x" }] };
    const kind = { apiVersion: "v1", kind: "ConfigMap" };
    expect(check(broken, { old: broken })).toEqual([]);
    expect(check(broken, { old: PLAIN })).toHaveLength(1);
    expect(check({ ...broken, paramKind: kind }, { old: broken })).toHaveLength(1);
    expect(check({ ...broken, paramKind: kind }, { old: { ...broken, paramKind: kind } })).toEqual([]);
    expect(check(broken)).toHaveLength(1);
  });

  test("needs permission to read its parameters, once all is valid", () => {
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
    expect(check({ paramKind }, { allowed: false })).toEqual([expect.stringMatching(/^paramKind: Forbidden: /)]);
    expect(check({ paramKind, validations: [{}] }, { allowed: false })).toEqual([
      expect.stringContaining("validations[0]"),
    ]);
  });
});

describe("a binding of a validating admission policy", () => {
  const VALID = { policyName: "p", validationActions: ["Deny"] };
  const check = (spec: Json, more?: CheckOptions): string[] =>
    problems(policyBindingStrategy, { ...VALID, ...spec }, more);
  const ALLOW = { parameterNotFoundAction: "Allow" };
  const EXCLUSIVE = "Forbidden: name and selector are mutually exclusive";

  test("is filled in", () => {
    const given = draft({ matchResources: {} });
    policyBindingStrategy.applyDefaults?.(given, context(true));
    const filled = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} };
    expect(given["spec"]).toEqual({ matchResources: filled });
    const plain = draft({});
    policyBindingStrategy.applyDefaults?.(plain, context(true));
    expect(plain["spec"]).toEqual({});
  });

  const SUPPORTED = 'supported values: "Audit", "Deny", "Warn"';
  test.each<[string, Json, unknown[]]>([
    ["may be plain", {}, []],
    ["names a policy", { policyName: "" }, [`policyName: ${REQUIRED}`]],
    [
      "has valid resources",
      { matchResources: { matchPolicy: "X" } },
      [expect.stringMatching(/^matchResources.matchPolicy: Unsupported/)],
    ],
    [
      "has an action",
      { validationActions: [] },
      [`validationActions: ${REQUIRED}: at least one validation action is required`],
    ],
    ["has known actions", { validationActions: ["X"] }, [`validationActions[0]: Unsupported value: "X": ${SUPPORTED}`]],
    [
      "has each action once",
      { validationActions: ["Deny", "Deny"] },
      ['validationActions[1]: Duplicate value: "Deny"'],
    ],
    [
      "does not deny and warn",
      { validationActions: ["Deny", "Warn"] },
      [
        'validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    ["may warn and audit", { validationActions: ["Warn", "Audit"] }, []],
    ["may deny and audit", { validationActions: ["Deny", "Audit"] }, []],
    ["may name its parameters", { paramRef: { name: "a", ...ALLOW } }, []],
    ["may select its parameters", { paramRef: { selector: {}, ...ALLOW, parameterNotFoundAction: "Deny" } }, []],
    [
      "names or selects them",
      { paramRef: ALLOW },
      [`paramRef: ${REQUIRED}: one of name or selector must be specified`],
    ],
    [
      "does not do both",
      { paramRef: { name: "a", selector: {}, ...ALLOW } },
      [`paramRef.name: ${EXCLUSIVE}`, `paramRef.selector: ${EXCLUSIVE}`],
    ],
    [
      "has valid names",
      { paramRef: { name: "a/b", ...ALLOW } },
      [`paramRef.name: Invalid value: "a/b": may not contain '/'`],
    ],
    [
      "has valid selectors",
      { paramRef: { selector: { matchExpressions: [{ key: "a", operator: "X" }] }, ...ALLOW } },
      ['paramRef.selector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator'],
    ],
    [
      "says what follows where there are none",
      { paramRef: { name: "a" } },
      [`paramRef.parameterNotFoundAction: ${REQUIRED}`],
    ],
    [
      "says one of two things",
      { paramRef: { name: "a", parameterNotFoundAction: "X" } },
      ['paramRef.parameterNotFoundAction: Unsupported value: "X": supported values: "Deny", "Allow"'],
    ],
  ])("%s", (_what, spec, expected) => {
    expect(check(spec)).toEqual(expected);
  });

  test("needs permission to read its parameters, once all is valid", () => {
    const paramRef = { name: "a", ...ALLOW };
    expect(check({ paramRef }, { allowed: false })).toEqual([expect.stringMatching(/^paramRef: Forbidden: /)]);
    expect(check({ paramRef, policyName: "" }, { allowed: false })).toEqual([`policyName: ${REQUIRED}`]);
  });
});
