import { describe, expect, test } from "vitest";
import type { CausewayError } from "@causeway/foundation";
import type { AdmissionRequest, AdmissionRules, KubeObject } from "@causeway/kubernetes";
import type { Operation, Phase } from "../contract/admission.ts";
import { record, type Json } from "../json/json.ts";
import { admissionCluster, attemptOn, inVersions, type AttemptFields } from "../testing/attempts.ts";
import { ownRulesPlugin } from "./own-rules.ts";

const things = inVersions(
  { kind: "Thing", plural: "things", group: "x.io" },
  { name: "v1" },
  { name: "v2", fromStored: (o) => ({ ...o, apiVersion: "x.io/v2", form: "v2" }) as KubeObject },
);
const others = inVersions({ kind: "Other", plural: "others" }, { name: "v1" });
const cluster = await admissionCluster({}, { resources: [things, others] });
const thing = (spec: Json, name = "t"): Json => ({
  apiVersion: "x.io/v1",
  kind: "Thing",
  metadata: { name },
  spec,
});

/** Rules that refuse with these lines, and what they were called with. */
function rulesOf(refusals: readonly string[], more: Partial<AdmissionRules> = {}) {
  const asked: AdmissionRequest[] = [];
  const rules: AdmissionRules = {
    version: "v2",
    writes: { "x.io": ["things"] },
    deletions: { "x.io": ["things"] },
    refusals(request) {
      asked.push(request);
      return Promise.resolve(refusals);
    },
    ...more,
  };
  return { rules, asked };
}

async function refused(rules: readonly AdmissionRules[], attempt: AttemptFields): Promise<Json | undefined> {
  try {
    await ownRulesPlugin(rules).validate?.(attemptOn(cluster, things, attempt).attempt);
    return undefined;
  } catch (error) {
    return record((error as CausewayError).details?.["status"]);
  }
}

describe("rules of the same process", () => {
  test("are called in their version", async () => {
    const { rules, asked } = rulesOf([]);
    const attempt: AttemptFields = { operation: "UPDATE", object: thing({ a: 2 }), old: thing({ a: 1 }), dryRun: true };
    expect(await refused([rules], attempt)).toBeUndefined();
    const seen = (a: number): Json => ({ ...thing({ a }), apiVersion: "x.io/v2", form: "v2" });
    expect(asked).toEqual([{ operation: "UPDATE", kind: "Thing", object: seen(2), previous: seen(1), dryRun: true }]);
  });

  test("are called in the stored version where theirs is not served", async () => {
    const { rules, asked } = rulesOf([], { version: "v9" });
    await refused([rules], { object: { ...thing({}), apiVersion: "x.io/v2" }, version: { name: "v2" } });
    expect(asked).toMatchObject([{ object: { apiVersion: "x.io/v1" } }]);
  });

  test("are called with what is requested where neither version is served", async () => {
    const { rules, asked } = rulesOf([], { version: "v9" });
    const unstored = { ...things, storedAs: "x.io/v0" };
    await ownRulesPlugin([rules]).validate?.(attemptOn(cluster, unstored, { object: thing({}) }).attempt);
    expect(asked).toMatchObject([{ object: { apiVersion: "x.io/v1" } }]);
  });

  test("refuse a write with all that is wrong", async () => {
    const { rules } = rulesOf(["spec.a: no", "spec.b: no"]);
    expect(await refused([rulesOf([]).rules, rules], { object: thing({}) })).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: 'things.x.io "t" is invalid: spec.a: no; spec.b: no',
      details: { name: "t", group: "x.io", kind: "Thing" },
    });
    expect(await refused([rules], { object: thing({}), name: "r" })).toMatchObject({ details: { name: "r" } });
  });

  test("refuse a deletion", async () => {
    const { rules } = rulesOf(["it is kept"]);
    const deletion: AttemptFields = { operation: "DELETE", object: undefined, old: thing({}), name: "t" };
    expect(await refused([rules], deletion)).toMatchObject({
      code: 403,
      message: 'things.x.io "t" is forbidden: it is kept',
    });
  });

  test("are not called when the spec remains", async () => {
    const { rules, asked } = rulesOf(["no"]);
    const object = { ...thing({ a: 1 }), status: { b: 1 } };
    expect(await refused([rules], { operation: "UPDATE", object, old: thing({ a: 1 }) })).toBeUndefined();
    expect(asked).toEqual([]);
    expect(await refused([rules], { operation: "CREATE", object, old: thing({ a: 1 }) })).toBeDefined();
  });

  test("fill in what is missing, one after the other", async () => {
    const writes = { "x.io": ["things"] };
    const filling = (name: string): AdmissionRules =>
      rulesOf([], {
        defaults: {
          writes,
          of: (o) => [{ path: ["spec", name], value: Object.keys(record(record(o)["spec"])).length }],
        },
      }).rules;
    const plugin = ownRulesPlugin([filling("a"), rulesOf([]).rules, filling("b")]);
    const changed = (attempt: AttemptFields) => plugin.mutate?.(attemptOn(cluster, things, attempt).attempt);
    expect(await changed({ object: thing({}) })).toEqual(thing({ a: 0, b: 1 }));
    expect(await changed({ operation: "UPDATE", object: thing({ c: 1 }), old: thing({}) })).toEqual(
      thing({ c: 1, a: 1, b: 2 }),
    );
    const same = thing({});
    expect(await changed({ operation: "UPDATE", object: same, old: thing({}) })).toBe(same);
    expect(await changed({ operation: "CREATE", object: undefined })).toBeUndefined();
  });

  const writes = { "x.io": ["others"] };
  test.each<[string, Operation, Phase, AttemptFields, Partial<AdmissionRules>, boolean]>([
    ["what they judge", "CREATE", "validate", {}, {}, true],
    ["deletions that they judge", "DELETE", "validate", {}, {}, true],
    ["no deletions of other kinds", "DELETE", "validate", {}, { deletions: {} }, false],
    ["no subresources", "UPDATE", "validate", { subresource: "status" }, {}, false],
    ["nothing to fill in without defaults", "CREATE", "mutate", {}, {}, false],
    [
      "what they fill in",
      "CREATE",
      "mutate",
      {},
      { writes, defaults: { writes: { "x.io": ["things"] }, of: () => [] } },
      true,
    ],
    ["nothing else", "CREATE", "validate", {}, { writes }, false],
  ])("concern %s", (_what, operation, phase, attempt, more, expected) => {
    const plugin = ownRulesPlugin([rulesOf([], more).rules]);
    expect(plugin.concerns(attemptOn(cluster, things, attempt).attempt.call, operation, phase)).toBe(expected);
  });
});
