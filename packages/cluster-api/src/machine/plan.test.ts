import { describe, expect, test } from "vitest";
import { annotations, nodeMetadataApplied, nodeMetadataOf, type Machine } from "@causeway/api";
import { getCondition, type Condition, type Node } from "@causeway/kubernetes";
import {
  at,
  cluster,
  condition,
  deployment,
  machine,
  machineSet,
  node,
  now,
  referred,
  servingMachine,
} from "../testing/objects.ts";
import { connected, observed } from "../testing/machine-observed.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

const provisioned = {
  spec: { providerID: "openstack:///w-1" },
  status: { initialization: { provisioned: true }, addresses: [{ type: "InternalIP", address: "10.6.0.9" }] },
};
const secretMade = referred("KubeadmConfig", "w-1", {
  status: { initialization: { dataSecretCreated: true }, dataSecretName: "w-1" },
});
const withHost = referred("OpenStackMachine", "w-1", provisioned);
const running = observed({
  machine: servingMachine("w-1"),
  infrastructure: withHost,
  bootstrap: secretMade,
  workload: connected(node("w-1")),
});

describe("the phase of a Machine is", () => {
  test.each<[string, Observed, string]>([
    ["Pending until there is bootstrap data", observed(), "Pending"],
    ["Provisioning once there is", observed({ bootstrap: secretMade }), "Provisioning"],
    [
      "Provisioned once the host is there",
      observed({ bootstrap: secretMade, infrastructure: withHost }),
      "Provisioned",
    ],
    ["Running once the Node has joined", running, "Running"],
    [
      "Deleting when deleted",
      {
        ...running,
        machine: { ...running.machine, metadata: { ...running.machine.metadata, deletionTimestamp: at(now) } },
      },
      "Deleting",
    ],
  ])("%s", (_, given, phase) => expect(plan(given, now).status.phase).toBe(phase));
});

test("a Node of a MachineSet that a rollout replaces is avoided by new pods", () => {
  const template = machineSet("workers-1", 1).spec.template;
  const newer = { ...template, spec: { ...template.spec, version: "v1.99.0" } };
  const taintsOf = (of: Observed) =>
    plan(of, now).steps.flatMap((step) => (step.type === "patch-node" ? [step.body["spec"]] : []));
  const set = machineSet("workers-1", 1);
  const current = { ...running, machineSet: set, deployment: deployment(1, { template }) };
  const replaced = { ...current, deployment: deployment(1, { template: newer }) };
  const taint = { key: "node.cluster.x-k8s.io/outdated-revision", effect: "PreferNoSchedule" };
  expect(taintsOf(current)).not.toContainEqual({ taints: [taint] });
  expect(taintsOf(replaced)).toContainEqual({ taints: [taint] });
});

test("condition NodeMetadataApplied says which labels and taints the Node has, and nothing before it has them", () => {
  const taint = { key: "gpu", value: "yes", effect: "NoSchedule", propagation: "Always" } as const;
  const given = (labels: string, conditions: readonly Condition[] = [], ...nodes: Node[]): Observed => {
    const { metadata, spec, ...rest } = running.machine;
    const own = { ...metadata, annotations: { [annotations.nodeLabels]: labels } };
    const status = { ...rest.status, conditions: [...(rest.status?.conditions ?? []), ...conditions] };
    const of = { ...rest, metadata: own, spec: { ...spec, taints: [taint] }, status } as Machine;
    return { ...running, machine: of, workload: connected(...nodes) };
  };
  const conditionOf = (of: Observed) => getCondition(plan(of, now).status.conditions, nodeMetadataApplied);
  expect(conditionOf(running)).toBeUndefined();
  const bare = given('{"p":"1"}', [], node("w-1"));
  expect(conditionOf(bare)).toBeUndefined();
  // Its steps are done: the patch of the Node, and the Machine's own metadata.
  const patch = plan(bare, now).steps.flatMap((step) =>
    step.type === "patch-node" ? [step.body] : [],
  )[0] as Partial<Node>;
  const of = node("w-1");
  const metadata = {
    ...of.metadata,
    labels: { ...of.metadata.labels, ...patch.metadata?.labels },
    annotations: { ...of.metadata.annotations, ...patch.metadata?.annotations },
  };
  const patched = { ...of, metadata, spec: { ...of.spec, ...patch.spec } };
  const applied = conditionOf(given('{"p":"1"}', [], patched));
  expect(applied).toMatchObject({ status: "True", message: nodeMetadataOf(bare.machine) });
  const before = applied ? [applied] : [];
  // Of other labels it says what the Node has still, also when the Node is not reached.
  const later = given('{"p":"2"}', before, patched);
  expect(conditionOf(later)?.message).toBe(applied?.message);
  expect(conditionOf(later)?.message).not.toBe(nodeMetadataOf(later.machine));
  expect(conditionOf({ ...later, workload: { reach: "unreachable" } })?.message).toBe(applied?.message);
});

describe("a Machine's status copies from its providers", () => {
  const patches = (given: Observed) =>
    plan(given, now).steps.flatMap((step) => (step.type === "patch" ? [step.body["spec"]] : []));
  test("the name of the data Secret", () => {
    expect(patches(observed({ bootstrap: secretMade }))).toContainEqual({ bootstrap: { dataSecretName: "w-1" } });
  });
  test("the providerID, once provisioned", () => {
    expect(patches(observed({ infrastructure: withHost }))).toContainEqual({ providerID: "openstack:///w-1" });
  });
  test("when the certificates of a control-plane machine expire, as its annotation says", () => {
    const base = machine("w-1");
    const annotations = { "machine.cluster.x-k8s.io/certificates-expiry": "2026-12-01T00:00:00Z" };
    const noted = { ...base, metadata: { ...base.metadata, annotations } };
    expect(plan(observed({ machine: noted }), now).status.certificatesExpiryDate).toBe("2026-12-01T00:00:00Z");
    expect(plan(observed(), now).status).not.toHaveProperty("certificatesExpiryDate");
  });
  test("no providerID before that", () => {
    const early = referred("OpenStackMachine", "w-1", { spec: provisioned.spec });
    expect(JSON.stringify(patches(observed({ infrastructure: early })))).not.toContain("providerID");
  });
  test("a provisioned Machine remains provisioned when the host's object is deleted", () => {
    const { status } = plan({ ...running, infrastructure: referred("OpenStackMachine", "w-1") }, now);
    expect(status.initialization?.infrastructureProvisioned).toBe(true);
    expect(getCondition(status.conditions, "InfrastructureReady")).toMatchObject({
      status: "False",
      reason: "InfrastructureDeleted",
    });
  });
  test("a kind without a provider is reported in a condition", () => {
    const strange = {
      reference: { apiGroup: "x", kind: "OpenStakMachine", name: "w-1" },
      kind: undefined,
      object: undefined,
    };
    const { status } = plan(observed({ infrastructure: strange }), now);
    expect(getCondition(status.conditions, "InfrastructureReady")?.message).toContain(
      "No provider serves OpenStakMachine",
    );
  });
});

describe("the Node of a Machine", () => {
  const withId = (workload: Observed["workload"]) => ({
    ...running,
    machine: { ...running.machine, status: {} },
    workload,
  });
  test("is found by providerID", () =>
    expect(plan(withId(connected(node("any", { providerID: "openstack:///w-1" }))), now).status.nodeRef).toEqual({
      name: "any",
    }));
  test("is not picked when two Nodes have its providerID", () => {
    const { status } = plan(
      withId(connected(node("a", { providerID: "openstack:///w-1" }), node("b", { providerID: "openstack:///w-1" }))),
      now,
    );
    expect(status.nodeRef).toBeUndefined();
    expect(getCondition(status.conditions, "NodeHealthy")?.message).toContain("a, b");
  });
  test("that is deleted makes the Machine unhealthy, not another", () => {
    const { status } = plan({ ...running, workload: connected() }, now);
    expect(status.nodeRef).toEqual({ name: "w-1" });
    expect(getCondition(status.conditions, "NodeHealthy")).toMatchObject({ status: "False", reason: "NodeDeleted" });
  });
  const out = { ...running, workload: { reach: "unreachable" } } as const;
  const healthy = [condition("NodeHealthy"), condition("NodeReady")];
  const lost = (since: number) => ({
    ...out,
    machine: { ...out.machine, status: { ...out.machine.status, conditions: healthy } },
    cluster: cluster({
      status: {
        conditions: [condition("ControlPlaneInitialized"), condition("RemoteConnectionProbe", "False", since)],
      },
    }),
  });
  test("is assumed healthy for five minutes after the connection broke", () => {
    expect(getCondition(plan(lost(now - 60_000), now).status.conditions, "NodeHealthy")?.status).toBe("True");
  });
  test.each<[string, ReturnType<typeof condition>[]]>([
    ["a cluster that was never probed", []],
    ["a cluster whose probe succeeded just now", [condition("RemoteConnectionProbe")]],
    ["a cluster whose probe fails for a minute", [condition("RemoteConnectionProbe", "False", now - 60_000)]],
  ])("that was never seen is not reported as waiting for a control plane that is initialized, in %s", (_, probe) => {
    const waiting = (type: string) => ({ ...condition(type, "Unknown"), reason: "InspectionFailed" });
    const status = { conditions: [waiting("NodeHealthy"), waiting("NodeReady")] };
    const given = {
      ...out,
      machine: { ...out.machine, status },
      cluster: cluster({ status: { conditions: [condition("ControlPlaneInitialized"), ...probe] } }),
    };
    const { conditions } = plan(given, now).status;
    for (const type of ["NodeHealthy", "NodeReady"])
      expect(getCondition(conditions, type)).toMatchObject({ status: "Unknown", reason: "ConnectionDown" });
  });
  test("has unknown health after that", () => {
    expect(getCondition(plan(lost(now - 301_000), now).status.conditions, "NodeHealthy")?.status).toBe("Unknown");
  });
});

describe("Ready and Available", () => {
  test("a Machine is Ready when bootstrap, host and Node are", () => {
    const { conditions } = plan(running, now).status;
    expect(getCondition(conditions, "Ready")).toMatchObject({ status: "True" });
    expect(getCondition(conditions, "Available")).toMatchObject({ status: "True" });
  });
  test("Available waits for minReadySeconds, and the plan for that moment", () => {
    const { machine: base } = running;
    const young = { ...base, spec: { ...base.spec, minReadySeconds: 30 } };
    const { status, wait } = plan({ ...running, machine: young }, now);
    expect(getCondition(status.conditions, "Available")).toMatchObject({
      status: "False",
      reason: "WaitingForMinReadySeconds",
    });
    expect(wait?.until).toBe(now + 30_000);
  });
  test("a second reconcile changes nothing", () => {
    const { status } = plan(running, now);
    const again = plan({ ...running, machine: { ...running.machine, status } }, now + 60_000);
    expect(again.status).toEqual(status);
    expect(again.events).toEqual([]);
  });
});

describe("the plan of a Machine", () => {
  const leaving = (metadata: object, base = machine("w-1")): Machine => ({
    ...base,
    metadata: { ...base.metadata, deletionTimestamp: at(now), finalizers: ["machine.cluster.x-k8s.io"], ...metadata },
  });
  const hostless = { infrastructure: referred("OpenStackMachine", "w-1"), bootstrap: undefined } as const;

  test("does nothing while it is paused", () => {
    const own = running.machine;
    const paused = { ...own, metadata: { ...own.metadata, annotations: { "cluster.x-k8s.io/paused": "" } } };
    expect(plan({ ...running, machine: paused }, now)).toMatchObject({ steps: [], wait: { for: "unpausing" } });
  });

  test("deletes the host of a Machine that is being deleted, and does nothing else to it", () => {
    const { steps, status, wait } = plan(observed({ machine: leaving({}), bootstrap: undefined }), now);
    expect(steps).toMatchObject([{ type: "delete", resource: { kind: "OpenStackMachine" } }]);
    expect(status).not.toHaveProperty("deletion");
    expect(wait?.for).toMatch(/OpenStackMachine w-1/);
  });

  test("waits for hooks, and records since when", () => {
    const hook = "pre-drain.delete.hook.machine.cluster.x-k8s.io/backup";
    const { steps, status, wait } = plan(observed({ machine: leaving({ annotations: { [hook]: "" } }) }), now);
    expect(steps).toEqual([]);
    expect(status.deletion).toEqual({ waitForPreDrainHookStartTime: "2026-01-01T00:00:00Z" });
    expect(wait).toEqual({ for: `Waiting for hooks to be removed:\n* ${hook}`, until: now + 30_000 });
  });

  test("removes the finalizer in the end, and waits for no more than the deletion itself", () => {
    const { steps, wait } = plan(observed({ machine: leaving({}), ...hostless }), now);
    expect(steps).toMatchObject([{ type: "patch", body: { metadata: { finalizers: [] } } }]);
    expect(wait).toEqual({ for: "the Machine to be deleted" });
  });

  test("does not count a host as provisioned that only has a provider ID", () => {
    const early = referred("OpenStackMachine", "w-1", { spec: { providerID: "openstack:///w-1" } });
    const { status } = plan(observed({ infrastructure: early }), now);
    expect(status.initialization?.infrastructureProvisioned).toBe(false);
  });
});
