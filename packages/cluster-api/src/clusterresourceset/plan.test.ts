import { describe, expect, test } from "vitest";
import type { ClusterResourceSet, ClusterResourceSetBinding } from "@causeway/api";
import { getCondition } from "@causeway/kubernetes";
import { cluster, now } from "../testing/objects.ts";
import { newBinding, withOutcomes } from "./binding.ts";
import type { ObservedResource, Observed, ObservedTarget } from "./observed.ts";
import { manifestsOf } from "./manifests.ts";
import { plan as planClusterResourceSet } from "./plan.ts";

const set = (strategy: "ApplyOnce" | "Reconcile", metadata: object = {}): ClusterResourceSet => ({
  apiVersion: "addons.cluster.x-k8s.io/v1beta2",
  kind: "ClusterResourceSet",
  metadata: {
    name: "cni",
    namespace: "default",
    uid: "uid-cni",
    generation: 1,
    finalizers: ["addons.cluster.x-k8s.io"],
    ...metadata,
  },
  spec: {
    clusterSelector: { matchLabels: { cni: "yes" } },
    resources: [{ kind: "ConfigMap", name: "calico" }],
    strategy,
  },
});
const owner = {
  apiVersion: "addons.cluster.x-k8s.io/v1beta2",
  kind: "ClusterResourceSet",
  name: "cni",
  uid: "uid-cni",
};
const configMap = (text: string, hash = "sha256:1"): ObservedResource => ({
  kind: "ConfigMap",
  name: "calico",
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "calico", namespace: "default", ownerReferences: [owner] },
    data: { "b.yaml": text },
  },
  hash,
});
const resource = configMap("kind: Namespace\napiVersion: v1\nmetadata: {name: calico}\n");
const bound = (hash: string, applied = true): ClusterResourceSetBinding => {
  const binding = newBinding(cluster(), set("ApplyOnce"));
  const outcomes = [{ resource: configMap("", hash), applied }];
  return { ...binding, spec: withOutcomes(binding, set("ApplyOnce"), { outcomes, now }) };
};
const target = (binding?: ClusterResourceSetBinding, reachable = true): ObservedTarget => ({
  cluster: cluster(),
  binding,
  reachable,
});
const observed = (fields: Partial<Observed> = {}): Observed => ({
  set: set("ApplyOnce"),
  targets: [target()],
  resources: [resource],
  stale: [],
  ...fields,
});
const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("a ClusterResourceSet", () => {
  const table: [title: string, given: Observed, steps: string[], reason: string][] = [
    ["is applied to a matching Cluster", observed(), ["apply"], "NotApplied"],
    ["is not applied twice", observed({ targets: [target(bound("sha256:1"))] }), [], "Applied"],
    [
      "is applied again after a failure",
      observed({ targets: [target(bound("sha256:1", false))] }),
      ["apply"],
      "NotApplied",
    ],
    [
      "with ApplyOnce is not applied again when its content changes",
      observed({ targets: [target(bound("sha256:0"))] }),
      [],
      "Applied",
    ],
    [
      "with Reconcile is applied again when its content changes",
      observed({ set: set("Reconcile"), targets: [target(bound("sha256:0"))] }),
      ["apply"],
      "NotApplied",
    ],
    [
      "with Reconcile is not applied again while its content is the same",
      observed({ set: set("Reconcile"), targets: [target(bound("sha256:1"))] }),
      [],
      "Applied",
    ],
    ["waits for a Cluster that cannot be reached", observed({ targets: [target(undefined, false)] }), [], "NotApplied"],
    [
      "reports a resource that does not exist",
      observed({ resources: [{ ...resource, object: undefined, hash: undefined }] }),
      [],
      "NotApplied",
    ],
    [
      "rejects a Secret of another type",
      observed({
        resources: [
          {
            kind: "Secret",
            name: "calico",
            hash: "sha256:1",
            object: {
              apiVersion: "v1",
              kind: "Secret",
              type: "Opaque",
              metadata: { name: "calico", ownerReferences: [owner] },
            },
          },
        ],
      }),
      [],
      "WrongSecretType",
    ],
    [
      "leaves the binding of a Cluster that does not match any more",
      observed({ targets: [], stale: [bound("x")] }),
      ["unbind"],
      "Applied",
    ],
    [
      "that is deleted leaves its bindings first",
      observed({ set: set("ApplyOnce", leaving), targets: [target(bound("x"))] }),
      ["unbind"],
      "Applied",
    ],
    ["that is deleted loses its finalizer then", observed({ set: set("ApplyOnce", leaving) }), ["patch"], "NotApplied"],
    [
      "is left alone while it is paused",
      observed({ set: set("ApplyOnce", { annotations: { "cluster.x-k8s.io/paused": "" } }) }),
      [],
      "",
    ],
  ];
  test.each(table)("%s", (_title, given, steps, reason) => {
    const plan = planClusterResourceSet(given, now);
    expect(plan.steps.map((step) => step.type)).toEqual(steps);
    expect(getCondition(plan.status.conditions, "ResourcesApplied")?.reason ?? "").toBe(reason);
  });

  test("keeps what other sets recorded in a binding", () => {
    const other = { ...set("ApplyOnce"), metadata: { ...set("ApplyOnce").metadata, name: "csi" } };
    const binding = bound("sha256:1");
    const outcomes = [{ resource, applied: false }];
    const spec = withOutcomes(binding, other, { outcomes, now });
    expect(spec.bindings?.map(({ clusterResourceSetName }) => clusterResourceSetName)).toEqual(["cni", "csi"]);
  });
});

describe("the objects of a resource", () => {
  test("are all documents of all values, lists opened, namespaces first", () => {
    const text = [
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
      "# nothing\n",
      JSON.stringify({
        apiVersion: "v1",
        kind: "List",
        items: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } }],
      }),
    ].join("\n---\n");
    expect(manifestsOf(configMap(text)).map(({ kind }) => kind)).toEqual(["Namespace", "ConfigMap"]);
  });

  test.each([
    ["apiVersion: v1\nkind: ConfigMap\n", /lacks apiVersion, kind or metadata.name/],
    ["a: b: c\n", /cannot be applied/],
  ])("that are not complete are refused by the name of their resource", (text, message) => {
    expect(() => manifestsOf(configMap(text))).toThrow(message);
  });
});
