import { describe, expect, test } from "vitest";
import { HostedControlPlane, OpenStackCluster, type Cluster, type Kind } from "@causeway/api";
import { getCondition, type KubeObject } from "@causeway/kubernetes";
import { at, cluster, condition, deployment, machineSet, now, servingMachine } from "../testing/objects.ts";
import { observed as observedCluster, provider } from "../testing/cluster-observed.ts";
import type { Observed } from "./observed.ts";
import { plan as planCluster } from "./plan.ts";

const provisioned = { status: { initialization: { provisioned: true }, conditions: [condition("Ready")] } };
const initialized = {
  status: {
    initialization: { controlPlaneInitialized: true },
    endpoint: { host: "10.0.0.5", port: 6443 },
    conditions: [condition("Available")],
  },
};
const observed = (fields: Partial<Observed> = {}): Observed => observedCluster({ silentSince: now, ...fields });
const endpoint = (host: string) => ({ controlPlaneEndpoint: { host, port: 6443 } });
const ready = observed({
  cluster: cluster({ spec: endpoint("10.0.0.5") }),
  infrastructure: provider(OpenStackCluster, provisioned),
  controlPlane: provider(HostedControlPlane, initialized),
  silentSince: undefined,
});
const bodies = (given: Observed) => planCluster(given, now).steps.flatMap((s) => (s.type === "patch" ? [s.body] : []));

describe("a Cluster", () => {
  test.each([
    ["a Node of a control-plane Machine", { "cluster.x-k8s.io/control-plane": "" }, { name: "n" }, true],
    ["a control-plane Machine without a Node", { "cluster.x-k8s.io/control-plane": "" }, undefined, false],
    ["a Node of a worker", {}, { name: "n" }, false],
  ])("without a control-plane provider, %s initializes it: %#", (_, labels, nodeRef, expected) => {
    const machine = { ...servingMachine("m"), status: nodeRef ? { nodeRef } : {} };
    machine.metadata = { ...machine.metadata, labels: { ...machine.metadata.labels, ...labels } };
    const { status } = planCluster(observed({ controlPlane: undefined, machines: [machine] }), now);
    expect(status?.initialization?.controlPlaneInitialized).toBe(expected);
    expect(getCondition(status?.conditions, "ControlPlaneInitialized")?.status).toBe(expected ? "True" : "False");
  });

  test("owns its provider objects, and labels them", () => {
    const free = provider(OpenStackCluster, { metadata: { name: "demo", uid: "o" } });
    expect(bodies(observed({ infrastructure: free }))).toMatchObject([
      {
        metadata: {
          labels: { "cluster.x-k8s.io/cluster-name": "demo" },
          ownerReferences: [{ kind: "Cluster", name: "demo" }],
        },
      },
    ]);
  });
  test("takes the endpoint from the infrastructure first", () => {
    const infrastructure = provider(OpenStackCluster, { spec: endpoint("lb") });
    const controlPlane = provider(HostedControlPlane, initialized);
    expect(bodies(observed({ infrastructure, controlPlane }))).toEqual([{ spec: endpoint("lb") }]);
  });
  test("has the endpoint of the control plane where the infrastructure has none", () => {
    expect(bodies(observed({ controlPlane: provider(HostedControlPlane, initialized) }))).toEqual([
      { spec: endpoint("10.0.0.5") },
    ]);
  });
  test("never replaces an existing endpoint", () => {
    expect(bodies({ ...ready, cluster: cluster({ spec: endpoint("mine") }) })).toEqual([]);
  });
  test("is Provisioned with infrastructure and endpoint, and then needs nothing more", () => {
    const { steps, status } = planCluster(ready, now);
    expect(steps).toEqual([]);
    expect(status.phase).toBe("Provisioned");
    expect(getCondition(status.conditions, "Available")).toMatchObject({ status: "True" });
  });
  test("remains initialized when its control plane fails", () => {
    const sick = {
      ...ready,
      cluster: { ...ready.cluster, status: planCluster(ready, now).status },
      controlPlane: provider(HostedControlPlane, {}),
    };
    expect(planCluster(sick, now).status.initialization?.controlPlaneInitialized).toBe(true);
    expect(getCondition(planCluster(sick, now).status.conditions, "ControlPlaneAvailable")?.status).toBe("False");
  });
  test("waits for a missing object, and names it", () => {
    const { status, wait } = planCluster(observed({ infrastructure: provider(OpenStackCluster) }), now);
    expect(wait?.for).toBe("OpenStackCluster demo does not exist");
    expect(getCondition(status.conditions, "InfrastructureReady")?.reason).toBe("InfrastructureDoesNotExist");
  });
  test("is not changed while paused", () => {
    const paused: Cluster = cluster({ spec: { paused: true } });
    const { steps, status } = planCluster(observed({ cluster: paused }), now);
    expect(steps).toEqual([]);
    expect(getCondition(status.conditions, "Paused")).toMatchObject({ status: "True" });
  });
  test.each([
    [10_000, "True"],
    [51_000, "False"],
  ])("after %i ms of silence its connection counts as %s", (silence, status) => {
    const was = cluster({ status: { conditions: [condition("RemoteConnectionProbe")] } });
    const plan = planCluster({ ...ready, cluster: was, silentSince: now - silence }, now);
    expect(getCondition(plan.status.conditions, "RemoteConnectionProbe")?.status).toBe(status);
  });
});

describe("a Cluster that is deleted", () => {
  const going = { ...ready, cluster: cluster({ metadata: { ...cluster().metadata, deletionTimestamp: at(now) } }) };
  const gone = (kind: Kind<KubeObject>) => provider(kind);
  const set = machineSet("set", 1);
  const machine = servingMachine("m");
  machine.metadata.ownerReferences = [
    { apiVersion: "a", kind: "MachineSet", name: "set", uid: set.metadata.uid ?? "", controller: true },
  ];
  const standalone = servingMachine("alone");
  test.each<[string, Observed, string, string[]]>([
    [
      "workers first: owners, and what has none",
      { ...going, deployments: [deployment(1)], sets: [set], machines: [machine, standalone] },
      "WaitingForWorkersDeletion",
      ["MachineDeployment workers", "Machine alone"],
    ],
    [
      "what its owner left behind",
      { ...going, sets: [set], machines: [machine] },
      "WaitingForWorkersDeletion",
      ["MachineSet set"],
    ],
    ["deletes the control plane next", going, "WaitingForControlPlaneDeletion", ["HostedControlPlane demo"]],
    [
      "deletes the infrastructure after the control plane",
      { ...going, controlPlane: gone(HostedControlPlane) },
      "WaitingForInfrastructureDeletion",
      ["OpenStackCluster demo"],
    ],
    [
      "loses its finalizer last",
      { ...going, controlPlane: gone(HostedControlPlane), infrastructure: gone(OpenStackCluster) },
      "DeletionCompleted",
      ["finalizer"],
    ],
  ])("%s", (_, given, reason, deleted) => {
    const { steps, status } = planCluster(given, now);
    expect(getCondition(status.conditions, "Deleting")?.reason).toBe(reason);
    expect(steps.map((s) => (s.type === "delete" ? `${s.resource.kind} ${s.key.name}` : "finalizer"))).toEqual(deleted);
  });
});
