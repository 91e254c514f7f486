import { describe, expect, test } from "vitest";
import type { ClusterResourceSet, ClusterResourceSetBinding } from "@causeway/api";
import { getCondition } from "@causeway/kubernetes";
import { cluster, now } from "../testing/objects.ts";
import { newBinding, withOutcomes } from "./binding.ts";
import type { ObservedResource, Observed, ObservedTarget } from "./observed.ts";
import { manifestsOf } from "./manifests.ts";
import { plan as planClusterResourceSet, resourceSetStepEvents } from "./plan.ts";

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

describe("the plan of a ClusterResourceSet", () => {
  const planned = (given: Observed) => planClusterResourceSet(given, now);
  const conditionOf = (given: Observed) => {
    const found = getCondition(planned(given).status.conditions, "ResourcesApplied");
    return `${found?.status} ${found?.reason} ${found?.message}`.trim();
  };
  const secret = (type: unknown, name = "calico"): ObservedResource =>
    ({
      kind: "Secret",
      name,
      hash: "sha256:1",
      object: { apiVersion: "v1", kind: "Secret", type, metadata: { name, ownerReferences: [owner] } },
    }) as ObservedResource;
  const usable = "addons.cluster.x-k8s.io/resource-set";
  const other = (name: string): ObservedTarget => {
    const { metadata, ...rest } = cluster();
    return { ...target(), cluster: { ...rest, metadata: { ...metadata, name } } };
  };
  const absent = { ...resource, object: undefined, hash: undefined };

  test("has its generation, and waits for changes", () => {
    const { wait, status } = planned(observed());
    expect(wait).toEqual({ for: "Clusters and resources to change" });
    expect(status.observedGeneration).toBe(1);
    expect(status.conditions?.map(({ type, status: value }) => `${type} ${value}`)).toEqual([
      "ResourcesApplied False",
      "Paused False",
    ]);
    const without = planned(observed({ set: set("ApplyOnce", { generation: undefined }) }));
    expect(without.status).not.toHaveProperty("observedGeneration");
    const paused = set("ApplyOnce", { annotations: { "cluster.x-k8s.io/paused": "" } });
    expect(planned(observed({ set: paused })).wait).toEqual({ for: "unpausing" });
  });

  test("gives the set its finalizer and owns its resources, before it applies them", () => {
    const bare = (one: ObservedResource): ObservedResource =>
      ({ ...one, object: { ...one.object, metadata: { name: one.name, namespace: "default" } } }) as ObservedResource;
    const { steps } = planned(
      observed({
        set: set("ApplyOnce", { finalizers: [] }),
        resources: [bare(resource), bare(secret(usable, "key")), absent],
      }),
    );
    expect(steps.map((step) => (step.type === "patch" ? `${step.resource.kind} ${step.key.name}` : step.type))).toEqual(
      ["ClusterResourceSet cni", "ConfigMap calico", "Secret key", "apply"],
    );
    expect(steps).toMatchObject([
      { body: { metadata: { finalizers: ["addons.cluster.x-k8s.io"] } } },
      { body: { metadata: { ownerReferences: [owner] } } },
      { body: { metadata: { ownerReferences: [owner] } } },
      { applications: [{ cluster: { metadata: { name: "demo" } }, resources: [{ name: "calico" }, { name: "key" }] }] },
    ]);
  });

  test("applies to each Cluster what is due there, in one step", () => {
    const { steps } = planned(observed({ targets: [target(bound("sha256:1")), other("b"), other("c")] }));
    expect(steps).toMatchObject([
      {
        type: "apply",
        applications: [{ cluster: { metadata: { name: "b" } } }, { cluster: { metadata: { name: "c" } } }],
      },
    ]);
    expect(resourceSetStepEvents(steps[0]!)).toEqual(
      ["b", "c"].map((name) => ({
        type: "Normal",
        reason: "ResourcesApplied",
        message: `Applied ConfigMap calico to Cluster ${name}`,
      })),
    );
  });

  test("names all resources in its event, and has none for other steps", () => {
    const resources = [resource, secret(usable, "key")];
    expect(resourceSetStepEvents({ type: "apply", applications: [{ cluster: cluster(), resources }] })).toMatchObject([
      { message: "Applied ConfigMap calico, Secret key to Cluster demo" },
    ]);
    expect(resourceSetStepEvents({ type: "unbind", binding: bound("x") })).toEqual([]);
  });

  test("leaves a Cluster with the annotation paused alone", () => {
    const { metadata, ...rest } = cluster();
    const paused = { ...rest, metadata: { ...metadata, annotations: { "cluster.x-k8s.io/paused": "" } } };
    expect(planned(observed({ targets: [{ ...target(), cluster: paused }] })).steps).toEqual([]);
  });

  test.each<[string, Observed, string]>([
    ["that all is applied", observed({ targets: [target(bound("sha256:1"))] }), "True Applied"],
    [
      "what is not applied where",
      observed({ resources: [resource, secret(usable, "key")] }),
      "False NotApplied * Cluster demo: 2 resources are not applied",
    ],
    [
      "that a Cluster cannot be reached",
      observed({ targets: [target(undefined, false)] }),
      "False NotApplied * Cluster demo: waits for the workload cluster",
    ],
    [
      "what does not exist, and what waits for nothing else",
      observed({ resources: [absent, resource] }),
      "False NotApplied * ConfigMap calico does not exist\n* Cluster demo: 1 resources are not applied",
    ],
    [
      "Secrets of another type, by name",
      observed({ resources: [secret("Opaque", "a"), secret(7, "b"), secret(usable, "c")] }),
      "False WrongSecretType Secrets must have type addons.cluster.x-k8s.io/resource-set: a, b",
    ],
    [
      "nothing of a Secret that does not exist",
      observed({ targets: [], resources: [{ ...secret(usable), object: undefined }] }),
      "False NotApplied * Secret calico does not exist",
    ],
  ])("reports %s", (_, given, expected) => expect(conditionOf(given)).toBe(expected));

  test("does not apply a Secret of another type or without one", () => {
    const { type: _none, ...untyped } = secret(usable).object as { type: string } & NonNullable<
      ObservedResource["object"]
    >;
    for (const one of [secret("Opaque"), secret(7), { ...secret(usable), object: untyped }])
      expect(planned(observed({ resources: [one] })).steps).toEqual([]);
    expect(planned(observed({ resources: [secret(usable)] })).steps.map(({ type }) => type)).toEqual(["apply"]);
  });

  test("leaves bindings of other sets when it is deleted, and those without entries", () => {
    const leavingSet = set("ApplyOnce", leaving);
    const foreign = newBinding(cluster(), set("ApplyOnce"));
    const named = {
      ...foreign,
      spec: { ...foreign.spec, bindings: [{ clusterResourceSetName: "csi", resources: [] }] },
    };
    const given = observed({ set: leavingSet, targets: [target(), target(named)], stale: [foreign] });
    expect(planned(given).steps).toMatchObject([{ type: "patch", body: { metadata: { finalizers: [] } } }]);
    const both = observed({ set: leavingSet, targets: [target(bound("x"))], stale: [bound("y")] });
    expect(planned(both).steps.map(({ type }) => type)).toEqual(["unbind", "unbind"]);
  });

  test("leaves stale bindings first, and continues with the others", () => {
    const given = observed({ stale: [bound("y")] });
    expect(planned(given).steps.map(({ type }) => type)).toEqual(["unbind", "apply"]);
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
