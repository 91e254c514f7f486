import { describe, expect, test } from "vitest";
import type { Operation } from "../contract/admission.ts";
import type { Resource } from "../contract/resource.ts";
import type { Json } from "../json/json.ts";
import { admissionCluster, attemptOn, inVersions, MAPS, NODES } from "../testing/attempts.ts";
import { coveredForm } from "./rules.ts";

const v = (name: string) => ({ name });
const things = inVersions({ kind: "Thing", plural: "things", group: "x.io" }, v("v1"), v("v2"));
/** The same objects under another group. */
const twins = { ...inVersions({ kind: "Thing", plural: "things", group: "y.io" }, v("v1")), storage: things.storage };
const custom: Resource = {
  ...inVersions({ kind: "Own", plural: "owns", group: "x.io" }, v("v1"), v("v2")),
  custom: true,
};
const cluster = await admissionCluster({}, { resources: [things, twins, custom] });

const RULE = { operations: ["CREATE"], apiGroups: ["x.io"], apiVersions: ["v1"], resources: ["things"], scope: "*" };

/** "group/version plural", as the rules cover a CREATE. */
function covered(rules: readonly Json[], resource: Resource, more: Json = {}): string | undefined {
  const { policy = "Equivalent", operation = "CREATE", subresource = "" } = more as Record<string, string>;
  const { call } = attemptOn(cluster, resource, { subresource }).attempt;
  const form = coveredForm(rules, policy, { call, operation: operation as Operation });
  return form && `${form.resource.group}/${form.version.name} ${form.resource.plural}`;
}

// The rows on resources and subresources are those of apiserver's pkg/admission/plugin/webhook/predicates/rules.
describe("a rule covers an attempt", () => {
  const OWN = "x.io/v1 things";
  test.each<[string, Json, Json, string | undefined]>([
    ["by all that it names", {}, {}, OWN],
    ["by wildcards", { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }, {}, OWN],
    ["by one of several", { operations: ["DELETE", "CREATE"], resources: ["a", "things"] }, {}, OWN],
    ["not on other operations", {}, { operation: "UPDATE" }, undefined],
    ["not in other groups", { apiGroups: ["", "z.io"] }, {}, undefined],
    ["not in other versions", { apiVersions: ["v3"] }, {}, undefined],
    ["not of other kinds", { resources: ["thing"] }, {}, undefined],
    ["without lists never", { resources: undefined }, {}, undefined],
    ["without a scope in any", { scope: undefined }, {}, OWN],
    ["in its scope", { scope: "Namespaced" }, {}, OWN],
    ["not in the other scope", { scope: "Cluster" }, {}, undefined],
    ["by a subresource", { resources: ["things/status"] }, { subresource: "status" }, OWN],
    ["by any subresource", { resources: ["things/*"] }, { subresource: "status" }, OWN],
    ["by any subresource, and itself", { resources: ["things/*"] }, {}, OWN],
    ["by that subresource of all", { resources: ["*/status"] }, { subresource: "status" }, OWN],
    ["by all of all", { resources: ["*/*"] }, { subresource: "status" }, OWN],
    ["not by another subresource", { resources: ["things/scale"] }, { subresource: "status" }, undefined],
    ["not on a subresource by the resource", {}, { subresource: "status" }, undefined],
    ["not on a subresource by all resources", { resources: ["*"] }, { subresource: "status" }, undefined],
    ["not on the resource by its subresource", { resources: ["things/status"] }, {}, undefined],
    ["not by a subresource of another", { resources: ["a/status"] }, { subresource: "status" }, undefined],
  ])("%s", (_what, rule, attempt, expected) => {
    expect(covered([{ ...RULE, ...rule }], things, attempt)).toBe(expected);
  });

  test("of the cluster's scope", () => {
    const rule = { ...RULE, apiGroups: [""], resources: ["nodes"] };
    expect(covered([{ ...rule, scope: "Cluster" }], NODES)).toBe("/v1 nodes");
    expect(covered([{ ...rule, scope: "Namespaced" }], NODES)).toBeUndefined();
    expect(covered([{ ...rule, resources: ["configmaps"], scope: "Cluster" }], MAPS)).toBeUndefined();
  });
});

describe("a rule covers an equivalent", () => {
  const EXACT = { policy: "Exact" };
  test.each<[string, readonly Json[], Resource, Json, string | undefined]>([
    ["in another version", [{ ...RULE, apiVersions: ["v2"] }], things, {}, "x.io/v2 things"],
    ["in another group", [{ ...RULE, apiGroups: ["y.io"] }], things, {}, "y.io/v1 things"],
    ["not where it must be exact", [{ ...RULE, apiVersions: ["v2"] }], things, EXACT, undefined],
    ["only where none covers it as it is", [{ ...RULE, apiVersions: ["v2"] }, RULE], things, {}, "x.io/v1 things"],
    [
      "by the first rule that has one",
      [
        { ...RULE, apiVersions: ["v3"] },
        { ...RULE, apiGroups: ["y.io"] },
        { ...RULE, apiVersions: ["v2"] },
      ],
      things,
      {},
      "y.io/v1 things",
    ],
    ["of a custom kind", [{ ...RULE, resources: ["owns"], apiVersions: ["v2"] }], custom, {}, "x.io/v2 owns"],
    ["not of another kind", [{ ...RULE, resources: ["owns"], apiVersions: ["v2"] }], things, {}, undefined],
    ["where there is none", [{ ...RULE, apiVersions: ["v2"] }], MAPS, {}, undefined],
  ])("%s", (_what, rules, resource, more, expected) => {
    expect(covered(rules, resource, more)).toBe(expected);
  });
});
