import { annotations, MachineDeployment } from "@causeway/api";
import { describe, expect, test } from "vitest";
import {
  cluster,
  desired,
  differences,
  made,
  observed,
  template,
  upgrades,
  type Change,
} from "../testing/topology-observed.ts";
import { okToDeleteAnnotation, pendingHooksAnnotation } from "./hooks.ts";
import { plan, topologyStepEvents } from "./plan.ts";

const lock = { uid: "uid-web", resourceVersion: "7" };
const key = { namespace: "default", name: "web" };
const of = (change: Change) => plan(observed(change));

describe("the Cluster of a topology", () => {
  test("is applied with its references, labels and the step of an upgrade, and nothing else", () => {
    const references = {
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name: "web" },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KubeadmControlPlane", name: "web-cp" },
    };
    const marks = { "cluster.x-k8s.io/cluster-name": "web", "topology.cluster.x-k8s.io/owned": "" };
    const object = (step: string, metadata: object) => ({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { name: "web", ...metadata, labels: marks, annotations: { [annotations.upgradeStep]: step } },
      spec: references,
    });
    expect(of({ cluster: cluster({ labels: {} }) }).steps).toEqual([
      { type: "apply-cluster", object: object("", { namespace: "default", uid: "uid-web" }) },
    ]);
    const bare = cluster({ labels: undefined, namespace: undefined, uid: undefined });
    const moving = { ...upgrades, controlPlane: "v1.35.0", controlPlanePending: true };
    expect(of({ cluster: bare, desired: { upgrades: moving } }).steps).toEqual([
      { type: "apply-cluster", object: object("v1.35.0", {}) },
    ]);
  });

  test("gets the defaults of its variables by a patch that is locked", () => {
    const variables = [{ name: "size", value: 2 }];
    const patch = { type: "set-variables", key, body: { metadata: lock, spec: { topology: { variables } } } };
    expect(of({ desired: { variables } }).steps).toEqual([patch]);
    const without = cluster({}, { topology: undefined });
    expect(of({ cluster: without, desired: { variables } }).steps).toEqual([patch]);
    expect(of({ cluster: without, desired: { variables: [] } }).steps).toEqual([]);
  });

  const marked = { annotations: { [pendingHooksAnnotation]: "AfterClusterUpgrade" } };
  test.each<[string, Change, object]>([
    [
      "a hook that is to be called",
      { hooks: { add: ["AfterClusterUpgrade"] } },
      { [pendingHooksAnnotation]: "AfterClusterUpgrade" },
    ],
    [
      "that the last hook was called",
      { cluster: cluster(marked), hooks: { remove: ["AfterClusterUpgrade"] } },
      { [pendingHooksAnnotation]: null },
    ],
    ["that it may be deleted", { hooks: { okToDelete: true } }, { [okToDeleteAnnotation]: "" }],
    [
      "both",
      { hooks: { okToDelete: true, add: ["AfterClusterUpgrade"] } },
      { [okToDeleteAnnotation]: "", [pendingHooksAnnotation]: "AfterClusterUpgrade" },
    ],
  ])("gets the annotation of %s by a patch that is locked", (_, change, annotated) => {
    expect(of(change).steps).toEqual([
      { type: "set-hooks", key, body: { metadata: { ...lock, annotations: annotated } } },
    ]);
  });
});

describe("the report of a topology", () => {
  test("says that all is well, and waits for changes", () => {
    expect(of({})).toEqual({
      steps: [],
      status: { condition: { type: "TopologyReconciled", status: "True", reason: "ReconcileSucceeded" } },
      wait: { for: "changes" },
      events: [],
    });
  });

  test("is what it was while extensions are busy, until their handlers are called again", () => {
    const before = { condition: { type: "TopologyReconciled", status: "False", reason: "ClusterUpgrading" } } as const;
    const change = { before, differences: new Map(), hooks: { until: 5, failed: [] } };
    expect(of(change)).toEqual({ steps: [], status: before, wait: { for: "changes", until: 5 } });
  });

  test("has the versions that are still to come, where there are any", () => {
    const path = { controlPlane: ["v1.35.0", "v1.36.0"], workers: ["v1.36.0"] };
    const { status } = of({ desired: { upgrades: { ...upgrades, path } } });
    expect(status).toMatchObject({ controlPlaneUpgrades: path.controlPlane, workersUpgrades: path.workers });
    const workers = of({ desired: { upgrades: { ...upgrades, path: { controlPlane: [], workers: ["v1.36.0"] } } } });
    expect(workers.status).not.toHaveProperty("controlPlaneUpgrades");
    const control = of({ desired: { upgrades: { ...upgrades, path: { controlPlane: ["v1.36.0"], workers: [] } } } });
    expect(control.status).not.toHaveProperty("workersUpgrades");
  });

  test.each<[string, Change, string]>([
    ["by its spec", { cluster: cluster({}, { paused: true }) }, "Cluster spec.paused is set to true"],
    [
      "by an annotation",
      { cluster: cluster({ annotations: { [annotations.paused]: "" } }) },
      "Cluster has the cluster.x-k8s.io/paused annotation",
    ],
  ])("says that the Cluster is paused %s, also while there is an obstacle", (_, change, message) => {
    const obstacle = { reason: "ReconcileFailed", message: "m" } as const;
    expect(of({ ...change, obstacle }).status.condition).toEqual({
      type: "TopologyReconciled",
      status: "False",
      reason: "Paused",
      message,
    });
    expect(of({ obstacle }).status.condition).toMatchObject({ reason: "ReconcileFailed", message: "m" });
  });

  test("has a warning for each hook that failed, and calls it again in time", () => {
    const { events, wait } = of({
      hooks: { failed: [{ hook: "BeforeClusterUpgrade", message: "timed out" }], until: 9 },
    });
    expect(events).toEqual([
      { type: "Warning", reason: "LifecycleHookFailed", message: "BeforeClusterUpgrade: timed out" },
    ]);
    expect(wait).toEqual({ for: "changes", until: 9 });
  });

  test("has nothing of upgrades before the class is known", () => {
    const { desired: _, ...before } = observed({ obstacle: { reason: "ClusterClassNotReconciled", message: "m" } });
    expect(plan(before)).toMatchObject({ steps: [], status: { condition: { reason: "ClusterClassNotReconciled" } } });
    expect(plan({ ...before, obstacle: undefined } as unknown as typeof before).steps).toEqual([]);
  });
});

test("the events of a topology's steps have upstream's words", () => {
  const one = made(template, "new");
  const rotated = { type: "apply", why: "rotate", made: one, replaces: "old" } as const;
  const bare = { ...one, object: { ...one.object, metadata: { name: "new" } } };
  expect(topologyStepEvents(rotated)).toEqual([
    {
      type: "Normal",
      reason: "TopologyCreate",
      message: 'Created OpenStackMachineTemplate "default/new" as a replacement for "old" (template rotation)',
    },
  ]);
  expect(topologyStepEvents({ type: "apply", why: "create", made: bare })).toEqual([
    { type: "Normal", reason: "TopologyCreate", message: 'Created OpenStackMachineTemplate "/new"' },
  ]);
  expect(topologyStepEvents({ type: "apply", why: "update", made: one })).toEqual([
    { type: "Normal", reason: "TopologyUpdate", message: 'Updated OpenStackMachineTemplate "default/new"' },
  ]);
  expect(topologyStepEvents({ type: "delete", resource: MachineDeployment, key, uid: "x" })).toEqual([
    { type: "Normal", reason: "TopologyDelete", message: 'Deleted MachineDeployment "default/web"' },
  ]);
  expect(topologyStepEvents({ type: "apply-cluster", object: desired.infrastructure.object })).toEqual([]);
  expect(differences().size).toBe(11);
});
