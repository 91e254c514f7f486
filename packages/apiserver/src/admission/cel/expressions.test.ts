import { describe, expect, test } from "vitest";
import type { Attributes } from "../../contract/attributes.ts";
import type { Json } from "../../json/json.ts";
import { admissionCluster, attemptOn, MAPS } from "../../testing/attempts.ts";
import { activationOf, plainValue } from "./activation.ts";
import { Expressions, type Activation, type Scope } from "./expressions.ts";

const BOOL = ["bool"];
const namespaces = [{ metadata: { name: "ns", labels: { team: "a" } } }];
const user = { name: "jane", groups: ["g"] };

/** What an expression is for an attempt; "!" and the message where it fails. */
async function valueOf(text: string, scope: Partial<Scope> = {}, more: Partial<Activation> = {}): Promise<unknown> {
  const cluster = await admissionCluster({ "/namespaces": namespaces }, { allows: () => true });
  const object = { kind: "ConfigMap", metadata: { name: "o" } };
  const { attempt } = attemptOn(cluster, MAPS, { operation: "UPDATE", object, user });
  const form = { resource: MAPS, version: { name: "v1" } };
  const expression = new Expressions().compile(text, { types: ["any"], ...scope });
  try {
    return expression.evaluate({ ...activationOf(attempt, form, true), ...more });
  } catch (error) {
    return `!${(error as Error).message}`;
  }
}

describe("an expression of admission", () => {
  test.each<[string, string, unknown]>([
    ["the object", "object.metadata.name", "o"],
    ["the object that it replaces", "oldObject == null", true],
    ["the request", "request.operation + request.userInfo.username", "UPDATEjane"],
    ["no objects in the request", "has(request.object) || has(request.oldObject)", false],
    ["members of the request that are empty", "request.name + request.subResource + request.requestSubResource", ""],
    ["the namespace", "namespaceObject.metadata.labels.team", "a"],
    ["the namespace in the request", "request.namespace", "ns"],
    ["the authorizer", "authorizer.group('').resource('pods').check('get').allowed()", true],
  ])("sees %s", async (_what, text, expected) => {
    expect(await valueOf(text)).toEqual(expected);
  });

  test.each<[string, string, Partial<Scope>, string | undefined]>([
    ["parameters only where there are", "params.a", {}, "undeclared reference to 'params' (in container '')"],
    ["parameters only where they are said to be", "params.a", { params: false }, "undeclared reference to 'params'"],
    ["parameters", "params.a", { params: true }, undefined],
    ["variables only where there are", "variables.a", { variables: new Map() }, "undeclared reference to 'variables'"],
    ["variables", "variables.a", { variables: new Map([["a", "1"]]) }, undefined],
    ["an authorizer", "authorizer.path('/').check('get').allowed()", { authorizer: true }, undefined],
    [
      "no authorizer where there is none",
      "authorizer.path('/').check('get').allowed()",
      { authorizer: false },
      "undeclared reference to 'authorizer'",
    ],
    ["an expression", "object +", {}, "Syntax error"],
  ])("names %s", (_what, text, scope, problem) => {
    const { fault } = new Expressions().compile(text, { types: ["any"], ...scope });
    if (problem === undefined) expect(fault).toBeUndefined();
    else expect(fault).toMatch(new RegExp(`^compilation failed: ERROR.*${problem.replaceAll(/[()]/g, "\\$&")}`));
  });

  test("shares nothing between scopes", () => {
    const expressions = new Expressions();
    const fault = (text: string, scope: Partial<Scope>): boolean =>
      expressions.compile(text, { types: ["any"], ...scope }).fault !== undefined;
    const variables = new Map([["a", "1"]]);
    expect(fault("params.a", { params: true })).toBe(false);
    expect(fault("params.a", {})).toBe(true);
    expect(fault("variables.a", { variables })).toBe(false);
    expect(fault("variables.a", { params: true })).toBe(true);
    expect(fault("params.a", { variables })).toBe(true);
    expect(fault("authorizer.path('/').check('get').allowed()", { authorizer: false })).toBe(true);
    expect(fault("authorizer.path('/').check('get').allowed()", {})).toBe(false);
  });

  const V = new Map([
    ["flag", "true"],
    ["count", " variables.one "],
    ["one", "1"],
    ["loop", "variables.loop"],
  ]);
  test.each<[string, readonly string[], string | undefined]>([
    ["true", BOOL, undefined],
    ["object.a", BOOL, "must evaluate to bool but got dyn"],
    ["1", BOOL, "must evaluate to bool but got int"],
    ["1", ["any"], undefined],
    ["null", ["string", "null"], undefined],
    ["'a'", ["string", "null"], undefined],
    ["1", ["string", "null"], "must evaluate to one of [string null_type] but got int"],
    ["null", BOOL, "must evaluate to bool but got null_type"],
    ["variables.flag", BOOL, undefined],
    [" variables.count", BOOL, "must evaluate to bool but got int"],
    ["variables.flag == true", BOOL, undefined],
    ["variables.loop", BOOL, "must evaluate to bool but got dyn"],
    ["variables.none", BOOL, "must evaluate to bool but got dyn"],
  ])("%s is checked to be one of %j", (text, types, fault) => {
    expect(new Expressions().compile(text, { types, variables: V }).fault).toBe(fault);
  });

  test("says which one failed, and why", async () => {
    expect(await valueOf("object.x.y")).toBe("!expression 'object.x.y' resulted in error: no such key: x");
    expect(await valueOf("1", { types: BOOL })).toBe("!compilation error: must evaluate to bool but got int");
    expect(await valueOf("authorizer.path('').check('get').allowed()")).toBe(
      "!expression 'authorizer.path('').check('get').allowed()' resulted in error: path must not be empty",
    );
  });

  test("costs no more than is left", async () => {
    const spent = "!validation failed due to running out of cost budget, no further validation rules will be run";
    expect(await valueOf("true", {}, { meter: { left: -1 } })).toBe(spent);
    expect(await valueOf("true", {}, { meter: { left: 0 } })).toBe(true);
  });

  test("has a text, and a hint when it fails", () => {
    expect(new Expressions().compile("true", { types: BOOL })).toMatchObject({ text: "true", fault: undefined });
    const broken = new Expressions().compile("1", { types: BOOL });
    expect(broken.text).toBe("1");
    expect(() => broken.evaluate({} as Activation)).toThrow(
      expect.objectContaining({
        code: "ADMISSION_EXPRESSION_FAILED",
        hint: "Correct the expression; test an optional field with has(object.field).",
      }),
    );
    const caught = (text: string): Error => {
      try {
        new Expressions().compile(text, { types: ["any"] }).evaluate({ object: {}, meter: { left: 9 } } as never);
      } catch (error) {
        return error as Error;
      }
      throw new Error("it did not fail");
    };
    expect(caught("object.x").cause).toBeInstanceOf(Error);
    expect(Object.hasOwn(caught("object +"), "cause")).toBe(false);
  });
});

describe("the authorizer of an expression", () => {
  /** What it asks whether the user may do. */
  async function askedBy(check: string): Promise<Attributes> {
    const seen: Attributes[] = [];
    const allows = (a: Attributes): boolean => Boolean(seen.push(a));
    const cluster = await admissionCluster({ "/namespaces": namespaces }, { allows });
    const given = { user, name: "o", subresource: "status" };
    const { attempt } = attemptOn(cluster, MAPS, given);
    const activation = activationOf(attempt, { resource: MAPS, version: { name: "v1" } }, false);
    const expression = new Expressions().compile(`${check}.allowed()`, { types: BOOL });
    expect(expression.fault).toBeUndefined();
    expect(expression.evaluate(activation)).toBe(true);
    return seen[0] as Attributes;
  }
  const NOTHING = { namespace: "", group: "", version: "*", plural: "", subresource: "", name: "" };
  const robot = {
    name: "system:serviceaccount:s:n",
    groups: ["system:serviceaccounts", "system:serviceaccounts:s", "system:authenticated"],
  };
  const pods = "authorizer.group('g').resource('pods')";
  const requirement = { key: "a", operator: "In", values: ["b"] };
  test.each<[string, Json]>([
    ["authorizer.path('/x').check('get')", { ...NOTHING, version: "", path: "/x", user, verb: "get" }],
    [`${pods}.check('list')`, { ...NOTHING, group: "g", plural: "pods", user, verb: "list" }],
    [
      `${pods}.namespace('n').name('o').subresource('log').check('get')`,
      { ...NOTHING, group: "g", plural: "pods", namespace: "n", name: "o", subresource: "log", user, verb: "get" },
    ],
    [
      `${pods}.fieldSelector('a=b').labelSelector('a=b').check('list')`,
      {
        ...NOTHING,
        group: "g",
        plural: "pods",
        fieldRequirements: [requirement],
        labelRequirements: [requirement],
        user,
        verb: "list",
      },
    ],
    [
      "authorizer.serviceAccount('s', 'n').path('/x').check('get')",
      { ...NOTHING, version: "", path: "/x", user: robot, verb: "get" },
    ],
    [
      "authorizer.requestResource.check('custom')",
      {
        namespace: "ns",
        group: "",
        version: "v1",
        plural: "configmaps",
        subresource: "status",
        name: "o",
        user,
        verb: "custom",
      },
    ],
    [
      "authorizer.serviceAccount('s', 'n').requestResource.check('get')",
      {
        namespace: "ns",
        group: "",
        version: "v1",
        plural: "configmaps",
        subresource: "status",
        name: "o",
        user: robot,
        verb: "get",
      },
    ],
  ])("%s", async (check, expected) => {
    expect(await askedBy(check)).toEqual(expected);
  });

  test("gives a decision without a reason and an error", async () => {
    const decision = "authorizer.path('/x').check('get')";
    expect(await valueOf(`${decision}.reason() + ${decision}.error()`)).toBe("");
    expect(await valueOf(`${decision}.errored()`)).toBe(false);
  });
});

test("there is no namespace where policies do not check it, and nothing is null", async () => {
  const cluster = await admissionCluster();
  const { attempt } = attemptOn(cluster, MAPS);
  const form = { resource: MAPS, version: { name: "v1" } };
  expect(activationOf(attempt, form, false)).toMatchObject({ namespaceObject: null, object: null, oldObject: null });
  expect(() => activationOf(attempt, form, true)).toThrow('namespaces "ns" not found');
  expect(plainValue(undefined)).toBeNull();
  expect(plainValue({ a: 1 })).toEqual({ a: 1n });
});
