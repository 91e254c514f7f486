import { describe, expect, test } from "vitest";
import type { Json } from "../../json/json.ts";
import { NODES } from "../../testing/attempts.ts";
import type { Stored } from "../../testing/objects.ts";
import { BY, DENY, failing, forbidden, outcome, refusal, type Case } from "../../testing/policies.ts";

describe("the parameters of a policy", () => {
  const LIMIT = { apiVersion: "x.io/v1", kind: "Limit" };
  const BOUND = { apiVersion: "x.io/v1", kind: "Bound" };
  const limit = (name: string, namespace: string, labels: Json = {}): Json => ({
    apiVersion: "x.io/v1",
    kind: "Limit",
    metadata: { name, namespace, labels },
  });
  const stored: Stored = {
    "x.io/limits": [limit("one", "ns", { a: "b" }), limit("two", "ns"), limit("three", "other", { a: "b" })],
    "x.io/bounds": [{ apiVersion: "x.io/v1", kind: "Bound", metadata: { name: "wide" } }],
  };
  /** Which parameters judge, in their order; or why none can. */
  async function judging(paramKind: Json | undefined, paramRef: Json | undefined, more: Partial<Case> = {}) {
    const validation = {
      expression: "false",
      messageExpression: "string(params == null ? 'none' : params.metadata.name)",
    };
    const policy = { ...(paramKind && { paramKind }), validations: [paramKind ? validation : { expression: "false" }] };
    const binding = { validationActions: ["Warn", "Deny"], ...(paramRef && { paramRef }) };
    const { warnings = [], message } = await outcome({ policy, binding, stored, ...more });
    const names = (warnings as string[]).map((w) => w.replace(/^.*: /, ""));
    return names.length > 0 ? names : message;
  }
  const refused = (why: string): string => forbidden(`failed to configure binding: ${why}`);

  test.each<[string, Json | undefined, Json | undefined, unknown]>([
    ["are that which the binding names", LIMIT, { name: "one" }, ["one"]],
    ["are in the namespace that it names", LIMIT, { name: "three", namespace: "other" }, ["three"]],
    ["are none where it does not exist", LIMIT, { name: "three" }, undefined],
    [
      "must exist where the binding says so",
      LIMIT,
      { name: "three", parameterNotFoundAction: "Deny" },
      refused("no params found for policy binding with `Deny` parameterNotFoundAction"),
    ],
    ["may be absent where it says so", LIMIT, { name: "three", parameterNotFoundAction: "Allow" }, undefined],
    ["are found where they must be", LIMIT, { name: "one", parameterNotFoundAction: "Deny" }, ["one"]],
    ["are those that it selects", LIMIT, { selector: { matchLabels: { a: "b" } } }, ["one"]],
    ["are all with an empty selector", LIMIT, { selector: {} }, ["one", "two"]],
    ["are null without a reference", LIMIT, undefined, ["none"]],
    ["are not there without a kind", undefined, { name: "one" }, ["false"]],
    ["may be in no namespace", BOUND, { name: "wide" }, ["wide"]],
    ["may be selected in no namespace", BOUND, { selector: {} }, ["wide"]],
    [
      "have no namespace where their kind has none",
      BOUND,
      { name: "wide", namespace: "ns" },
      refused("paramRef.namespace must not be provided for a cluster-scoped `paramKind`"),
    ],
  ])("%s", async (_what, kind, reference, expected) => {
    expect(await judging(kind, reference)).toEqual(expected);
  });

  test("have a namespace, where the attempt has none", async () => {
    const given: Partial<Case> = { resource: NODES, attempt: { object: { metadata: { name: "o" } } } };
    const why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
    expect(await judging(LIMIT, { name: "one" }, given)).toBe(
      `nodes "o" is forbidden: ${BY}failed to configure binding: ${why}`,
    );
    expect(await judging(LIMIT, { name: "one", namespace: "ns" }, given)).toEqual(["one"]);
  });

  test.each<[Json, string]>([
    [{ apiVersion: "x.io/v1", kind: "Other" }, "x.io/v1, Kind=Other"],
    [{ apiVersion: "x.io/v2", kind: "Limit" }, "x.io/v2, Kind=Limit"],
    [{ apiVersion: "v2", kind: "ConfigMap" }, "v2, Kind=ConfigMap"],
  ])("are of a kind that is served: %j", async (kind, shown) => {
    const why = `failed to find resource referenced by paramKind: '${shown}'`;
    const by = "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: ";
    expect(await judging(kind, { name: "one" })).toBe(`configmaps "o" is forbidden: ${by}${why}`);
    const ignored = { paramKind: kind, failurePolicy: "Ignore", ...failing({ expression: "false" }) };
    expect(await judging(kind, { name: "one" }, { policy: ignored })).toBeUndefined();
  });

  test("may be of the core group, and of a kind that the policy does not match", async () => {
    const kind = { apiVersion: "v1", kind: "ConfigMap" };
    const own = { "/configmaps": [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m", namespace: "ns" } }] };
    expect(await judging(kind, { name: "m" }, { stored: own })).toEqual(["m"]);
    const unmatched = {
      paramKind: { apiVersion: "x.io/v1", kind: "Other" },
      matchConstraints: { resourceRules: [{}] },
    };
    expect(await judging(kind, { name: "m" }, { policy: unmatched })).toBeUndefined();
  });

  test("of conditions are theirs too", async () => {
    const policy = {
      paramKind: LIMIT,
      matchConditions: [{ name: "c", expression: "params.metadata.name == 'two'" }],
      ...failing({ expression: "false", messageExpression: "string(params.metadata.name)" }),
    };
    const binding = { ...DENY, paramRef: { selector: {} } };
    expect(await refusal({ policy, binding, stored })).toBe(forbidden("two"));
  });
});
