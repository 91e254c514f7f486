import { describe, expect, test } from "vitest";
import type { Json } from "../json/json.ts";
import { admissionKinds } from "./kinds.ts";

const kinds = admissionKinds();
const NOW = Date.UTC(2026, 0, 2);
const named = (more: Json): Json => ({ metadata: { name: "n", creationTimestamp: "2026-01-01T00:00:00Z" }, ...more });

/** The cells of an object by their columns. */
function cells(plural: string, object: Json): Json {
  const columns = kinds.find((k) => k.plural === plural)?.versions[0]?.columns ?? [];
  return Object.fromEntries(columns.map((c) => [c.name, c.cell(named(object), NOW)]));
}

test("the kinds that configure admission are those of kube-apiserver", () => {
  const shared = {
    group: "admissionregistration.k8s.io",
    namespaced: false,
    categories: ["api-extensions"],
    generation: true,
  };
  expect(kinds.map(({ kind, plural, versions: [version] }) => [kind, plural, version?.subresources])).toEqual([
    ["MutatingWebhookConfiguration", "mutatingwebhookconfigurations", []],
    ["ValidatingWebhookConfiguration", "validatingwebhookconfigurations", []],
    [
      "ValidatingAdmissionPolicy",
      "validatingadmissionpolicies",
      [{ name: "status", verbs: ["get", "patch", "update"] }],
    ],
    ["ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", []],
  ]);
  for (const kind of kinds) expect(kind).toMatchObject(shared);
  const types = kinds.map(({ versions: [version] }) => version?.columns?.map((c) => c.type));
  expect(types[0]).toEqual([undefined, "integer", undefined]);
});

// The columns are those of kubernetes' pkg/printers/internalversion.
describe("the columns", () => {
  test("of webhooks are their number", () => {
    const expected = { Name: "n", Webhooks: 2, Age: "24h" };
    for (const plural of ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]) {
      expect(cells(plural, { webhooks: [{}, {}] })).toEqual(expected);
      expect(cells(plural, {})).toEqual({ ...expected, Webhooks: 0 });
    }
  });

  test("of a policy are its validations and the kind of its parameters", () => {
    const spec = { validations: [{}], paramKind: { apiVersion: "v1", kind: "ConfigMap" } };
    const expected = { Name: "n", Validations: 1, ParamKind: "v1/ConfigMap", Age: "24h" };
    expect(cells("validatingadmissionpolicies", { spec })).toEqual(expected);
    expect(cells("validatingadmissionpolicies", { spec: {} })).toEqual({
      ...expected,
      Validations: 0,
      ParamKind: "<unset>",
    });
  });

  test.each<[unknown, string]>([
    [undefined, "<unset>"],
    [{ selector: {} }, "*"],
    [{ selector: {}, namespace: "s" }, "s/*"],
    [{ name: "p" }, "*/p"],
    [{ name: "p", namespace: "s" }, "s/p"],
  ])("of a binding are its policy and its parameters: %j", (paramRef, expected) => {
    const spec = { policyName: "p", paramRef };
    const row = { Name: "n", PolicyName: "p", ParamRef: expected, Age: "24h" };
    expect(cells("validatingadmissionpolicybindings", { spec })).toEqual(row);
  });
});
