import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Operation, Phase } from "../../contract/admission.ts";
import { define } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import type { Json } from "../../json/json.ts";
import { attemptOn, MAPS, type AttemptFields } from "../../testing/attempts.ts";
import {
  BINDINGS,
  BY,
  DENY,
  failing,
  forbidden,
  GROUP,
  map,
  MATCHING,
  opened,
  outcome,
  POLICIES,
  refusal,
  RULE,
  things,
  type Case,
} from "../../testing/policies.ts";

describe("a policy refuses an attempt", () => {
  test("with the status of kube-apiserver", async () => {
    const message = `${BY}failed expression: object.data.n == '2'`;
    expect(await outcome({ policy: failing({ expression: "object.data.n == '2'" }) })).toEqual({
      code: 422,
      reason: "Invalid",
      message: `configmaps "o" is forbidden: ${message}`,
      about: { name: "o", kind: "configmaps", causes: [{ message }] },
    });
  });

  test.each<[string, number]>([
    ["Forbidden", 403],
    ["Unauthorized", 401],
    ["RequestEntityTooLarge", 413],
    ["Invalid", 422],
  ])("for its reason %s", async (reason, code) => {
    const policy = failing({ expression: "false", message: " no ", reason });
    expect(await outcome({ policy })).toMatchObject({ code, reason, message: forbidden("no") });
  });

  test.each<[string, Json, string]>([
    ["by its message", { message: "no" }, "no"],
    ["by its computed message", { message: "no", messageExpression: "' o' + 'h '" }, "oh"],
    ["by its expression", {}, "failed expression: false"],
    ["by the message where the computed one is empty", { message: "no", messageExpression: "'  '" }, "no"],
    ["by the message where the computed one has lines", { message: "no", messageExpression: "'a\\nb'" }, "no"],
    ["by the message where the computed one fails", { message: "no", messageExpression: "object.x" }, "no"],
    ["by the message where the computed one is no text", { message: "no", messageExpression: "1" }, "no"],
    [
      "by the message where the computed one asks the authorizer",
      { message: "no", messageExpression: "authorizer.path('/').check('get').allowed() ? 'a' : 'b'" },
      "no",
    ],
  ])("%s", async (_what, more, expected) => {
    expect(await refusal({ policy: failing({ expression: " false ", ...more }) })).toBe(forbidden(expected));
  });

  test("by the message where the computed one has more than 5 KiB", async () => {
    const policy = failing({ expression: "false", message: "no", messageExpression: "string(object.data.n)" });
    const long = (length: number): Case => ({
      policy,
      attempt: { object: { ...map, data: { n: "é".repeat(length) } } },
    });
    expect(await refusal(long(2560))).toBe(forbidden("é".repeat(2560)));
    expect(await refusal(long(2561))).toBe(forbidden("no"));
  });

  test.each<[string, AttemptFields, string]>([
    ["that is named", { name: "r" }, 'configmaps "r"'],
    ["that is changed", { operation: "UPDATE" }, 'configmaps "o"'],
    ["whose name is made up", { object: { metadata: { generateName: "g-" } } }, 'configmaps "g-"'],
    ["that has no object", { operation: "DELETE", object: undefined }, 'configmaps "Unknown!"'],
  ])("on an object %s", async (_what, attempt, expected) => {
    const message = String(await refusal({ policy: failing({ expression: "false" }), attempt }));
    expect(message.startsWith(`${expected} is forbidden: ${BY}`)).toBe(true);
  });

  test("by the labels of its namespace", async () => {
    const policy = failing({ expression: "namespaceObject.metadata.labels.team == 'b'", message: "no" });
    expect(await refusal({ policy })).toBe(forbidden("no"));
  });

  test("by the first of its validations that is false", async () => {
    const policy = failing({ expression: "true" }, { expression: "false", message: "2" }, { expression: "false" });
    expect(await refusal({ policy })).toBe(forbidden("2"));
    expect(await outcome({ policy: failing({ expression: "true" }) })).toEqual({});
  });

  test("when a validation fails, unless failures are ignored", async () => {
    const validation = { expression: "object.data.x == '1'", message: "no", reason: "Forbidden" };
    const why = "expression 'object.data.x == '1'' resulted in error: no such key: x";
    expect(await outcome({ policy: failing(validation) })).toMatchObject({ code: 422, message: forbidden(why) });
    const ignored = { failurePolicy: "Ignore", ...failing(validation, { expression: "false" }) };
    expect(await refusal({ policy: ignored })).toBe(forbidden("failed expression: false"));
  });

  test("when its conditions fail, unless failures are ignored", async () => {
    const matchConditions = [{ name: "c", expression: "object.data.x == '1'" }];
    const policy = { ...failing({ expression: "false", reason: "Forbidden" }), matchConditions };
    const why = "expression 'object.data.x == '1'' resulted in error: no such key: x";
    expect(await outcome({ policy })).toMatchObject({ code: 422, message: forbidden(why) });
    expect(await outcome({ policy: { ...policy, failurePolicy: "Ignore" } })).toEqual({});
    const unmatched = { ...policy, matchConditions: [{ name: "c", expression: "object.data.n == '2'" }] };
    expect(await outcome({ policy: unmatched })).toEqual({});
  });
});

describe("a policy matches", () => {
  const policy = failing({ expression: "false" });
  const one = (constraints: Json, attempt: AttemptFields = {}, resource: Resource = MAPS): Case => ({
    policy: { ...policy, matchConstraints: constraints },
    attempt,
    resource,
  });
  const rules = { resourceRules: [RULE] };
  test.each<[string, Case, boolean]>([
    ["what its rules cover", one(rules), true],
    ["nothing else", one({ resourceRules: [{ ...RULE, resources: ["pods"] }] }), false],
    ["everything without rules", one({}), true],
    ["objects that a rule names", one({ resourceRules: [{ ...RULE, resourceNames: ["x", "o"] }] }), true],
    ["no other objects", one({ resourceRules: [{ ...RULE, resourceNames: ["x"] }] }), false],
    ["not what is excluded", one({ ...rules, excludeResourceRules: [RULE] }), false],
    [
      "not what is excluded by name",
      one({ ...rules, excludeResourceRules: [{ ...RULE, resourceNames: ["o"] }] }),
      false,
    ],
    ["what is not excluded", one({ ...rules, excludeResourceRules: [{ ...RULE, resourceNames: ["x"] }] }), true],
    ["objects that are selected", one({ ...rules, objectSelector: { matchLabels: { a: "b" } } }), true],
    ["no others", one({ ...rules, objectSelector: { matchLabels: { a: "c" } } }), false],
    ["in namespaces that are selected", one({ ...rules, namespaceSelector: { matchLabels: { team: "a" } } }), true],
    ["in no others", one({ ...rules, namespaceSelector: { matchLabels: { team: "b" } } }), false],
  ])("%s", async (_what, given, expected) => {
    expect(await outcome(given)).toEqual(expected ? expect.objectContaining({ code: 422 }) : {});
  });

  test("other versions where it may, and sees those", async () => {
    const seen = failing({ expression: "!has(object.as)", message: "as v2" });
    const covering = { resourceRules: [{ ...RULE, apiVersions: ["v2"] }] };
    const object = { ...map, apiVersion: "x.io/v1", kind: "Thing" };
    const given = (matchPolicy?: string): Case => ({
      policy: { ...seen, matchConstraints: { ...covering, ...(matchPolicy ? { matchPolicy } : {}) } },
      resource: things,
      attempt: { object },
    });
    expect(await refusal(given("Equivalent"))).toBe(`things.x.io "o" is forbidden: ${BY}as v2`);
    expect(await outcome(given("Exact"))).toEqual({});
    expect(await outcome(given())).toEqual({});
  });

  test("what its binding chooses too", async () => {
    const binding = (matchResources: Json): Case => ({ policy, binding: { ...DENY, matchResources } });
    expect(await outcome(binding({ objectSelector: { matchLabels: { a: "c" } } }))).toEqual({});
    expect(await refusal(binding({ objectSelector: { matchLabels: { a: "b" } } }))).toContain("failed expression");
  });

  test("in a namespace that exists, unless failures are ignored", async () => {
    const given = one({ ...rules, namespaceSelector: { matchLabels: { team: "a" } } }, { namespace: "x" });
    const by = "ValidatingAdmissionPolicy 'p' denied request: ";
    expect(await refusal(given)).toBe(
      `configmaps "o" is forbidden: ${by}failed to configure policy: namespaces "x" not found`,
    );
    expect(await outcome({ ...given, policy: { ...given.policy, failurePolicy: "Ignore" } })).toEqual({});
  });
});

describe("a policy has variables", () => {
  test("that are worked out once, from others", async () => {
    const variables = [
      { name: "one", expression: "object.data.n" },
      { name: "two", expression: "variables.one + variables.one" },
    ];
    const policy = {
      variables,
      ...failing({ expression: "variables.two == '1'", messageExpression: "string(variables.two)" }),
    };
    expect(await refusal({ policy })).toBe(forbidden("11"));
  });

  test("that fail where they are used", async () => {
    const variables = [{ name: "x", expression: "object.data.x" }];
    const policy = { variables, ...failing({ expression: "true" }, { expression: "variables.x == ''" }) };
    const why =
      "expression 'variables.x == ''' resulted in error: composited variable \"x\" fails to evaluate: " +
      "expression 'object.data.x' resulted in error: no such key: x";
    expect(await refusal({ policy })).toBe(forbidden(why));
  });
});

describe("a binding", () => {
  const policy = failing({ expression: "true" }, { expression: "false", message: "no" });
  const WARNING = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no";
  const audit = (validationActions: readonly string[]): [string, string] => [
    "validation.policy.admission.k8s.io/validation_failure",
    JSON.stringify([{ message: "no", policy: "p", binding: "b", expressionIndex: 1, validationActions }]),
  ];
  test("warns of what its policy refuses", async () => {
    expect(await outcome({ policy, binding: { validationActions: ["Warn"] } })).toEqual({ warnings: [WARNING] });
  });

  test("has failures audited", async () => {
    const validationActions = ["Audit"];
    expect(await outcome({ policy, binding: { validationActions } })).toEqual({ annotations: [audit(["Audit"])] });
  });

  test("does all that it says", async () => {
    const validationActions = ["Deny", "Audit"];
    const annotations = [audit(validationActions)];
    expect(await outcome({ policy, binding: { validationActions } })).toMatchObject({ code: 422, annotations });
  });

  test("of another policy has no effect", async () => {
    expect(await outcome({ policy, binding: { ...DENY, policyName: "q" } })).toEqual({});
  });
});

describe("audit annotations", () => {
  const annotated = (valueExpression: string, more: Json = {}): Json => ({
    auditAnnotations: [{ key: "k", valueExpression }],
    ...more,
  });
  test.each<[string, string, Json]>([
    ["are those of the policy", " ' v' + ' ' ", { annotations: [["p/k", "v"]] }],
    ["are left out where they are empty", "' '", {}],
    ["are left out where they are null", "null", {}],
  ])("%s", async (_what, expression, expected) => {
    expect(await outcome({ policy: annotated(expression) })).toEqual(expected);
  });

  test("are cut after 10 KiB", async () => {
    const object = { ...map, data: { n: "x".repeat(10_241) } };
    const { annotations } = await outcome({ policy: annotated("string(object.data.n)"), attempt: { object } });
    expect(annotations).toEqual([["p/k", "x".repeat(10_240)]]);
  });

  test("that fail deny, whatever the binding does, unless failures are ignored", async () => {
    const expression = "string(object.data.x)";
    const why = `expression '${expression}' resulted in error: no such key: x`;
    const binding = { validationActions: ["Warn"] };
    expect(await outcome({ policy: annotated(expression), binding })).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: forbidden(why),
    });
    expect(await outcome({ policy: annotated(expression, { failurePolicy: "Ignore" }), binding })).toEqual({});
  });

  test("of several bindings are joined, each value once", async () => {
    const binding = (name: string, paramRef: Json): Json => ({
      metadata: { name },
      spec: { policyName: "p", ...DENY, paramRef },
    });
    const stored = {
      [BINDINGS]: [binding("b", { name: "one" }), binding("c", { name: "two" }), binding("d", { name: "one" })],
      "x.io/limits": ["one", "two"].map((name) => ({ metadata: { name, namespace: "ns" } })),
    };
    const paramKind = { apiVersion: "x.io/v1", kind: "Limit" };
    const policy = annotated("string(params.metadata.name)", { paramKind });
    expect(await outcome({ policy, stored })).toEqual({ annotations: [["p/k", "one, two"]] });
  });
});

describe("policies concern", () => {
  async function pluginWith(constraints: Json, names = ["b"]) {
    return opened({
      [POLICIES]: [
        { metadata: { name: "p" }, spec: { matchConstraints: constraints, ...failing({ expression: "false" }) } },
      ],
      [BINDINGS]: names.map((name) => ({ metadata: { name }, spec: { policyName: "p", ...DENY } })),
    });
  }
  const configuration = define({
    kind: "ValidatingAdmissionPolicy",
    plural: "validatingadmissionpolicies",
    group: GROUP,
  });
  test.each<[string, Json, Resource, Phase, boolean]>([
    ["what they match, when it is validated", { resourceRules: [RULE] }, MAPS, "validate", true],
    ["nothing while it is changed", { resourceRules: [RULE] }, MAPS, "mutate", false],
    [
      "nothing that they do not match",
      { resourceRules: [{ ...RULE, operations: ["DELETE"] }] },
      MAPS,
      "validate",
      false,
    ],
    ["no policies", { resourceRules: [RULE] }, configuration, "validate", false],
  ])("%s", async (_what, constraints, resource, phase, expected) => {
    const { cluster, plugin } = await pluginWith(constraints);
    const { call, operation } = attemptOn(cluster, resource).attempt;
    expect(plugin.concerns(call, operation, phase)).toBe(expected);
  });

  test("nothing without a binding", async () => {
    const { cluster, plugin } = await pluginWith({ resourceRules: [RULE] }, []);
    expect(plugin.concerns(attemptOn(cluster, MAPS).attempt.call, "CREATE", "validate")).toBe(false);
  });

  test("what matches from the commit of their configuration on", async () => {
    const { cluster, plugin } = await opened({ [BINDINGS]: [{ metadata: { name: "b" }, spec: { policyName: "p" } }] });
    const { call } = attemptOn(cluster, MAPS).attempt;
    const concerned = (operation: Operation = "CREATE"): boolean => plugin.concerns(call, operation, "validate");
    expect(concerned()).toBe(false);
    const object = { metadata: { name: "p" }, spec: MATCHING } as unknown as KubeObject;
    await cluster.store.create({ cluster: "", resource: POLICIES, namespace: "", name: "p" }, object);
    const commit = (plural: string, group = GROUP): void =>
      cluster.changes.emit({ type: "ADDED", resource: define({ kind: "K", plural, group }), object });
    commit("validatingadmissionpolicies", "x.io");
    commit("validatingwebhookconfigurations");
    expect(concerned()).toBe(false);
    commit("validatingadmissionpolicies");
    expect(concerned()).toBe(true);
    const binding = { cluster: "", resource: BINDINGS, namespace: "", name: "b" };
    await cluster.store.remove(binding, cluster.store.get(binding)?.revision ?? 0);
    expect(concerned()).toBe(true);
    commit("validatingadmissionpolicybindings");
    expect(concerned()).toBe(false);
  });
});
