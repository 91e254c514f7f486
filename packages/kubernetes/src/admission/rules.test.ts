import { describe, expect, test } from "vitest";
import { reviewAdmission, reviewDefaults } from "./review.ts";
import {
  admissionWebhooks,
  defaultingWebhooks,
  defaultsConcern,
  rulesConcern,
  type AdmissionDefaults,
  type AdmissionRules,
} from "./rules.ts";

const rules: AdmissionRules = {
  version: "v2",
  writes: { "a.io": ["things", "things/scale"], "b.io": ["others"] },
  deletions: { "a.io": ["things"] },
  refusals: ({ operation, dryRun }) =>
    Promise.resolve(operation === "CREATE" || dryRun ? [] : ["spec: Forbidden: no", "spec.b: no"]),
};

describe("admission rules", () => {
  test.each<[string, string, string, string, boolean]>([
    ["a.io", "things", "", "CREATE", true],
    ["a.io", "things", "scale", "UPDATE", true],
    ["a.io", "things", "status", "UPDATE", false],
    ["a.io", "things", "", "DELETE", true],
    ["a.io", "things", "", "CONNECT", false],
    ["b.io", "others", "", "DELETE", false],
    ["b.io", "things", "", "CREATE", false],
    ["constructor", "things", "", "CREATE", false],
  ])("of %s are called for %s/%s on %s: %s", (group, plural, subresource, operation, expected) => {
    expect(rulesConcern(rules, { group, plural, subresource, operation })).toBe(expected);
  });

  test("are webhooks for the groups that are requested", () => {
    const made = admissionWebhooks(rules, ["a.io", "c.io"], { url: "https://here" });
    expect(made).toMatchObject([
      {
        name: "validation.a.io",
        clientConfig: { url: "https://here" },
        rules: [
          { operations: ["CREATE", "UPDATE"], apiVersions: ["v2"], resources: ["things", "things/scale"] },
          { operations: ["DELETE"], resources: ["things"] },
        ],
      },
    ]);
  });

  test("are rules of a webhook for each version and scope, as an API server matches them", () => {
    const apart = {
      olds: { version: "v1alpha1", namespaced: true },
      wides: { version: "v1alpha1", namespaced: false },
    };
    const several = {
      ...rules,
      apart,
      writes: { "a.io": ["things", "olds", "wides"] },
      deletions: { "a.io": ["wides"] },
    };
    const [made] = admissionWebhooks(several, ["a.io"], { url: "https://here" }) as [{ rules: object[] }];
    expect(made.rules).toEqual([
      webhookRule("v2", "Namespaced", "things"),
      webhookRule("v1alpha1", "Namespaced", "olds"),
      webhookRule("v1alpha1", "Cluster", "wides"),
      { ...webhookRule("v1alpha1", "Cluster", "wides"), operations: ["DELETE"] },
    ]);
  });
});

function webhookRule(version: string, scope: string, plural: string): object {
  return { apiGroups: ["a.io"], apiVersions: [version], operations: ["CREATE", "UPDATE"], resources: [plural], scope };
}

test.each<[string, object, object]>([
  ["allows", { operation: "CREATE" }, { allowed: true }],
  ["allows in a dry run", { operation: "UPDATE", dryRun: true }, { allowed: true }],
  [
    "refuses",
    { operation: "UPDATE" },
    { allowed: false, status: { code: 422, reason: "Invalid", message: "spec: Forbidden: no; spec.b: no" } },
  ],
  ["refuses a deletion", { operation: "DELETE" }, { allowed: false, status: { code: 403, reason: "Forbidden" } }],
])("the answer of our admission webhook has the form of Kubernetes where it %s", async (_, request, response) => {
  const body = { kind: "AdmissionReview", request: { uid: "u", kind: { kind: "Thing" }, ...request } };
  expect(await reviewAdmission(body, rules)).toMatchObject({ response: { uid: "u", ...response } });
});

describe("admission defaults", () => {
  const defaults: AdmissionDefaults = {
    writes: { "a.io": ["things"] },
    of: ({ kind, metadata }) =>
      kind === "Thing" && metadata.name === "a" ? [{ path: ["spec", "a/b~c"], value: "v1" }] : [],
  };

  test.each<[string, string, string, string, boolean]>([
    ["a.io", "things", "", "CREATE", true],
    ["a.io", "things", "", "UPDATE", true],
    ["a.io", "things", "status", "UPDATE", false],
    ["a.io", "things", "", "DELETE", false],
    ["a.io", "others", "", "CREATE", false],
    ["constructor", "things", "", "CREATE", false],
  ])("of %s concern %s/%s on %s: %s", (group, plural, subresource, operation, expected) => {
    expect(defaultsConcern({ defaults }, { group, plural, subresource, operation })).toBe(expected);
    expect(defaultsConcern({}, { group, plural, subresource, operation })).toBe(false);
  });

  test("are webhooks for the groups of the kinds at hand", () => {
    const client = { url: "https://here/mutate" };
    expect(defaultingWebhooks({ version: "v2", defaults }, ["a.io", "c.io"], client)).toMatchObject([
      {
        name: "default.a.io",
        clientConfig: client,
        rules: [{ operations: ["CREATE", "UPDATE"], apiVersions: ["v2"], resources: ["things"] }],
      },
    ]);
    expect(defaultingWebhooks({ version: "v2" }, ["a.io"], client)).toEqual([]);
  });

  const review = (name: string): Record<string, unknown> => {
    const request = { uid: "u", object: { kind: "Thing", metadata: { name } } };
    return reviewDefaults({ kind: "AdmissionReview", request }, { defaults });
  };

  test("respond with a JSON Patch whose paths are escaped", () => {
    const { patch, ...response } = review("a")["response"] as { patch: string };
    expect(response).toEqual({ uid: "u", allowed: true, patchType: "JSONPatch" });
    expect(JSON.parse(Buffer.from(patch, "base64").toString("utf8"))).toEqual([
      { op: "replace", path: "/spec/a~1b~0c", value: "v1" },
    ]);
  });

  test("respond without a patch where nothing changes", () => {
    expect(review("b")["response"]).toEqual({ uid: "u", allowed: true });
    const deletion = { kind: "AdmissionReview", request: { uid: "u", object: null } };
    expect(reviewDefaults(deletion, { defaults })["response"]).toEqual({ uid: "u", allowed: true });
  });
});

test("a body that is not an AdmissionReview is an error", async () => {
  await expect(reviewAdmission({}, rules)).rejects.toThrow("not an AdmissionReview");
  expect(() => reviewDefaults({}, {})).toThrow("not an AdmissionReview");
});

test("admission: an update that keeps the spec is allowed whatever the rules say, as by the embedded API server", async () => {
  const review = (object: object, oldObject: object) =>
    reviewAdmission(
      {
        kind: "AdmissionReview",
        request: { uid: "1", operation: "UPDATE", kind: { kind: "Thing" }, object, oldObject },
      },
      rules,
    );
  const old = { metadata: { finalizers: ["a"] }, spec: { list: [{ a: 1 }] } };
  const kept = await review({ ...old, metadata: { finalizers: [] } }, old);
  expect(kept).toMatchObject({ response: { uid: "1", allowed: true } });
  const changed = await review({ ...old, spec: { list: [{ a: 2 }] } }, old);
  expect(changed).toMatchObject({ response: { allowed: false } });
  // Without a spec there is nothing to compare.
  expect(await review({ data: 1 }, { data: 2 })).toMatchObject({ response: { allowed: false } });
});
