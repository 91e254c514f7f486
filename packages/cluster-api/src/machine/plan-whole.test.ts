import { describe, expect, test } from "vitest";
import type { Machine } from "@causeway/api";

import { at, cluster, condition, machine, node, now, referred, servingMachine } from "../testing/objects.ts";
import { connected, observed } from "../testing/machine-observed.ts";
import type { Observed } from "./observed.ts";
import { findNode, machineStepEvents, plan } from "./plan.ts";
import type { MachineStep } from "./steps.ts";

const host = (more: object = {}) =>
  referred("OpenStackMachine", "w-1", {
    spec: { providerID: "openstack:///w-1" },
    status: { initialization: { provisioned: true }, ...more },
  });
const secretMade = referred("KubeadmConfig", "w-1", {
  status: { initialization: { dataSecretCreated: true }, dataSecretName: "data" },
});
const withSpec = (spec: Partial<Machine["spec"]>, base = machine("w-1")): Machine => ({
  ...base,
  spec: { ...base.spec, ...spec },
});
const withMeta = (metadata: object, base = machine("w-1")): Machine => ({
  ...base,
  metadata: { ...base.metadata, ...metadata },
});

describe("the Node of a Machine", () => {
  const known = withSpec({ providerID: "openstack:///w-1" });
  const uninitialized = cluster({ status: { conditions: [condition("ControlPlaneInitialized", "False")] } });
  const first = withMeta({ labels: { "cluster.x-k8s.io/control-plane": "" } }, known);
  const waiting = (message: string, reason = "InspectionFailed") => ({ reason, message, unknown: true });
  const W1 = node("w-1");
  test.each<[string, Observed, unknown]>([
    ["is found by its providerID", observed({ machine: known, workload: connected(node("a"), W1) }), { node: W1 }],
    [
      "waits for the control plane",
      observed({ machine: known, cluster: uninitialized, workload: connected(W1) }),
      waiting("Waiting for the control plane to be initialized"),
    ],
    [
      "waits for a Cluster",
      observed({ machine: known, cluster: undefined, workload: connected(W1) }),
      waiting("Waiting for the control plane to be initialized"),
    ],
    [
      "of the first control-plane Machine does not wait for the control plane",
      observed({ machine: first, cluster: uninitialized, workload: connected(W1) }),
      { node: W1 },
    ],
    [
      "of the first control-plane Machine waits for a connection",
      observed({ machine: first, cluster: uninitialized, workload: { reach: "unreachable" } }),
      waiting("Waiting for the control plane to be initialized"),
    ],
    ["waits for a providerID", observed(), waiting("Waiting for the infrastructure to report spec.providerID")],
    [
      "is unknown without a connection",
      observed({ machine: known, workload: { reach: "unreachable" } }),
      waiting("The workload cluster cannot be reached", "ConnectionDown"),
    ],
    [
      "is none of two",
      observed({ machine: known, workload: connected(W1, node("b", { providerID: "openstack:///w-1" })) }),
      { reason: "NodeInspectionFailed", message: "Several Nodes have providerID openstack:///w-1: w-1, b" },
    ],
    [
      "has not joined",
      observed({ machine: known, workload: connected(node("a")) }),
      waiting("Waiting for a Node with providerID openstack:///w-1", "NodeDoesNotExist"),
    ],
    [
      "was deleted",
      observed({ machine: { ...known, status: { nodeRef: { name: "old" } } }, workload: connected(node("a")) }),
      { reason: "NodeDeleted", message: "Node old has been deleted" },
    ],
    [
      "is the known one where its providerID is another",
      observed({ machine: { ...known, status: { nodeRef: { name: "a" } } }, workload: connected(node("a")) }),
      { node: node("a") },
    ],
  ])("%s", (_what, given, expected) => {
    expect(findNode(given)).toEqual(expected);
  });
});

/** "type Kind name", and what is in the patch. */
function stepsOf(given: Observed): unknown[] {
  return plan(given, now).steps.map((step) =>
    step.type === "patch" ? [`${step.resource.kind} ${step.key.name}`, step.body] : [step.type],
  );
}

describe("the steps for a Machine", () => {
  const lock = { uid: "uid-w-1", resourceVersion: "1" };
  const owner = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    name: "w-1",
    uid: "uid-w-1",
    controller: true,
  };
  const label = { "cluster.x-k8s.io/cluster-name": "demo" };
  const own = {
    metadata: {
      ...lock,
      labels: label,
      ownerReferences: [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "uid-demo" }],
      finalizers: ["machine.cluster.x-k8s.io"],
    },
  };
  const adopted = {
    metadata: { ...lock, labels: label, ownerReferences: [expect.objectContaining(owner) as unknown] },
  };

  test("give it and its providers' objects their metadata", () => {
    const steps = stepsOf(observed());
    expect(steps).toEqual([
      ["Machine w-1", own],
      ["OpenStackMachine w-1", adopted],
      ["KubeadmConfig w-1", adopted],
    ]);
  });

  test("leave its owner alone where it has a controller", () => {
    const set = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachineSet", name: "s", uid: "s", controller: true };
    const owned = observed({ machine: withMeta({ ownerReferences: [set] }) });
    expect(stepsOf(owned)[0]).toEqual(["Machine w-1", { metadata: { ...own.metadata, ownerReferences: undefined } }]);
    const other = observed({ machine: withMeta({ ownerReferences: [{ ...set, controller: false }] }) });
    expect(JSON.stringify(stepsOf(other)[0])).toContain('"kind":"Cluster"');
  });

  test("are none without a Cluster", () => {
    expect(stepsOf(observed({ cluster: undefined }))).toEqual([]);
  });

  test("adopt no object that is deleted, missing, or of an unknown kind", () => {
    const gone = referred("OpenStackMachine", "w-1", { deleting: true });
    expect(stepsOf(observed({ infrastructure: gone })).map((s) => (s as string[])[0])).toEqual([
      "Machine w-1",
      "KubeadmConfig w-1",
    ]);
    const missing = observed({ infrastructure: referred("OpenStackMachine", "w-1"), bootstrap: undefined });
    expect(stepsOf(missing)).toHaveLength(1);
    const strange = { ...referred("OpenStackMachine", "w-1", {}), kind: undefined };
    expect(stepsOf(observed({ infrastructure: strange, bootstrap: undefined }))).toHaveLength(1);
  });

  test("copy what the providers report, once they do", () => {
    const ready = observed({ infrastructure: host(), bootstrap: secretMade });
    const spec = { bootstrap: { dataSecretName: "data" }, providerID: "openstack:///w-1" };
    const copies = (given: Observed) => stepsOf(given).filter((s) => "spec" in ((s as [string, object])[1] ?? {}));
    expect(copies(ready)).toEqual([["Machine w-1", { spec }]]);
    const base = machine("w-1");
    const copied = withSpec({
      bootstrap: { ...base.spec.bootstrap, dataSecretName: "data" },
      providerID: "openstack:///w-1",
    });
    expect(copies({ ...ready, machine: copied })).toEqual([]);
    expect(copies(observed({ bootstrap: undefined }))).toEqual([]);
    const nameless = referred("OpenStackMachine", "w-1", { status: { initialization: { provisioned: true } } });
    expect(copies(observed({ infrastructure: nameless }))).toEqual([]);
    expect(copies(observed({ infrastructure: referred("OpenStackMachine", "w-1") }))).toEqual([]);
  });

  test("give its Node what the Machine says, unless that is being deleted", () => {
    const serving = observed({ machine: servingMachine("w-1"), workload: connected(node("w-1")) });
    const patches = plan(serving, now).steps.filter((s) => s.type === "patch-node");
    expect(patches).toMatchObject([{ type: "patch-node", name: "w-1", body: { metadata: { uid: "uid-node-w-1" } } }]);
    const leaving = node("w-1");
    const deleted = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: at(now) } };
    const steps = plan({ ...serving, workload: connected(deleted) }, now).steps;
    expect(steps.some((s) => s.type === "patch-node")).toBe(false);
  });
});

describe("the status of a Machine", () => {
  const info = {
    machineID: "1",
    systemUUID: "2",
    bootID: "3",
    kernelVersion: "4",
    osImage: "5",
    containerRuntimeVersion: "6",
    kubeletVersion: "v1",
    kubeProxyVersion: "7",
    operatingSystem: "8",
    architecture: "9",
  };
  const addresses = [{ type: "InternalIP", address: "10.0.0.1" }];
  const joined = node("w-1", {
    status: { conditions: [{ type: "Ready", status: "True" }], nodeInfo: { ...info, other: "x" } } as never,
  });
  const running = observed({
    machine: servingMachine("w-1"),
    infrastructure: host({ addresses, failureDomain: "az-1" }),
    bootstrap: secretMade,
    workload: connected(joined),
  });
  const status = (given: Observed) => {
    const { conditions: _conditions, ...rest } = plan(given, now).status;
    return rest;
  };

  test("is what its providers and its Node report", () => {
    expect(status(running)).toEqual({
      initialization: { bootstrapDataSecretCreated: true, infrastructureProvisioned: true },
      addresses,
      failureDomain: "az-1",
      nodeRef: { name: "w-1" },
      nodeInfo: info,
      observedGeneration: 1,
      phase: "Running",
      lastUpdated: "2026-01-01T00:00:00Z",
    });
  });

  test("keeps what was reported", () => {
    const before = { ...status(running), conditions: [] };
    const silent = observed({
      machine: { ...running.machine, status: before },
      infrastructure: referred("OpenStackMachine", "w-1"),
      bootstrap: undefined,
      workload: { reach: "unreachable" },
    });
    expect(status(silent)).toEqual({ ...status(running) });
    expect(plan(silent, now + 60_000).status.lastUpdated).toBe("2026-01-01T00:00:00Z");
  });

  test("is little for a new Machine", () => {
    expect(status(observed({ machine: withMeta({ generation: undefined }) }))).toEqual({
      initialization: { bootstrapDataSecretCreated: false, infrastructureProvisioned: false },
      phase: "Pending",
      lastUpdated: "2026-01-01T00:00:00Z",
    });
  });

  test("has no addresses and no domain of a host that is not provisioned", () => {
    const early = referred("OpenStackMachine", "w-1", { status: { addresses, failureDomain: "az-1" } });
    expect(status(observed({ infrastructure: early }))).not.toHaveProperty("addresses");
    expect(status(observed({ infrastructure: early }))).not.toHaveProperty("failureDomain");
  });

  test("has bootstrap data where a Secret is named, and no configuration", () => {
    const named = withSpec({ bootstrap: { dataSecretName: "data" } });
    const created = (given: Observed) => status(given).initialization?.bootstrapDataSecretCreated;
    expect(created(observed({ machine: named, bootstrap: undefined }))).toBe(true);
    expect(created(observed({ machine: named }))).toBe(false);
    expect(created(observed({ bootstrap: undefined }))).toBe(false);
    const before = { ...machine("w-1"), status: { initialization: { bootstrapDataSecretCreated: true } } };
    expect(created(observed({ machine: before }))).toBe(true);
  });

  test("is not provisioned without a providerID", () => {
    const nameless = referred("OpenStackMachine", "w-1", { status: { initialization: { provisioned: true } } });
    expect(status(observed({ infrastructure: nameless })).initialization?.infrastructureProvisioned).toBe(false);
  });

  test("has no facts of a Node that reports no kubelet", () => {
    const silent = node("w-1", { status: { conditions: [], nodeInfo: {} } as never });
    expect(status({ ...running, workload: connected(silent) })).not.toHaveProperty("nodeInfo");
    const few = node("w-1", { status: { conditions: [], nodeInfo: { kubeletVersion: "v1" } } as never });
    expect(status({ ...running, workload: connected(few) }).nodeInfo).toMatchObject({
      machineID: "",
      kubeletVersion: "v1",
    });
  });

  const KEY = "machine.cluster.x-k8s.io/certificates-expiry";
  test.each<[string | undefined, string | undefined, string | undefined]>([
    ["2026-12-01T00:00:00Z", undefined, "2026-12-01T00:00:00Z"],
    [undefined, "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"],
    ["2026-12-01T00:00:00Z", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"],
    ["2026-12-01T00:00:00Z", "soon", "2026-12-01T00:00:00Z"],
    ["soon", undefined, undefined],
  ])("with the expiry %j of its own and %j of its bootstrap has %j", (own, boot, expected) => {
    const noted = own === undefined ? machine("w-1") : withMeta({ annotations: { [KEY]: own } });
    const bootstrap = referred("KubeadmConfig", "w-1", {});
    if (boot !== undefined && bootstrap.object) bootstrap.object.metadata.annotations = { [KEY]: boot };
    expect(status(observed({ machine: noted, bootstrap })).certificatesExpiryDate).toBe(expected);
  });
});

describe("the events of a Machine", () => {
  const settled = (given: Observed): Observed => {
    const { machine: base } = given;
    const own = { finalizers: ["machine.cluster.x-k8s.io"], labels: { "cluster.x-k8s.io/cluster-name": "demo" } };
    const controller = { apiVersion: "x", kind: "MachineSet", name: "s", uid: "s", controller: true };
    return { ...given, machine: withMeta({ ...own, ownerReferences: [controller] }, base) };
  };
  const bare = { infrastructure: referred("OpenStackMachine", "w-1"), bootstrap: undefined } as const;
  const phased = (phase: string, more: object): Machine =>
    ({
      ...withSpec({ bootstrap: { dataSecretName: "data" }, providerID: "openstack:///w-1" }),
      status: { phase, ...more },
    }) as never;
  test.each<[string, Machine, unknown[]]>([
    [
      "Provisioning",
      phased("Pending", {}),
      [
        {
          type: "Normal",
          reason: "Provisioning",
          message: "Bootstrap data is ready, the infrastructure is being created",
        },
      ],
    ],
    [
      "Provisioned",
      phased("Provisioning", { initialization: { infrastructureProvisioned: true } }),
      [
        {
          type: "Normal",
          reason: "Provisioned",
          message: "The infrastructure is provisioned (openstack:///w-1), waiting for the Node",
        },
      ],
    ],
    [
      "Running",
      phased("Provisioned", { initialization: { infrastructureProvisioned: true }, nodeRef: { name: "a" } }),
      [{ type: "Normal", reason: "Running", message: "Node a has joined" }],
    ],
    [
      "Running for a while",
      phased("Running", { initialization: { infrastructureProvisioned: true }, nodeRef: { name: "a" } }),
      [],
    ],
  ])("that is %s", (_what, given, expected) => {
    const result = plan(settled(observed({ ...bare, machine: given })), now);
    expect([result.steps, result.events]).toEqual([[], expected]);
  });

  test("are none while there are steps, and before it is stored", () => {
    expect(plan(observed({ ...bare, machine: phased("Pending", {}) }), now).events).toEqual([]);
    const unstored = withMeta({ resourceVersion: undefined }, phased("Pending", {}));
    expect(plan(settled(observed({ ...bare, machine: unstored })), now).events).toEqual([]);
  });

  test.each<[MachineStep, unknown[]]>([
    [
      { type: "delete", resource: { kind: "OpenStackMachine" }, key: { name: "w-1" } } as never,
      [{ type: "Normal", reason: "Deleting", message: "Deleting OpenStackMachine w-1" }],
    ],
    [
      { type: "drain", node: "a", pods: [{}, {}] } as never,
      [{ type: "Normal", reason: "DrainingNode", message: "Evicted 2 pods from Node a" }],
    ],
    [
      { type: "delete-node", name: "a", uid: "u" },
      [{ type: "Normal", reason: "DeletingNode", message: "Deleting Node a" }],
    ],
    [{ type: "patch-node", name: "a", body: {} }, []],
  ])("of the step %j", (step, expected) => {
    expect(machineStepEvents(step)).toEqual(expected);
  });
});

describe("a Machine waits for", () => {
  test("its Cluster, what its Node waits for, and changes", () => {
    expect(plan(observed({ cluster: undefined }), now).wait).toEqual({ for: "Cluster demo" });
    expect(plan(observed(), now).wait).toEqual({ for: "Waiting for the infrastructure to report spec.providerID" });
    const serving = observed({ machine: servingMachine("w-1"), workload: connected(node("w-1")) });
    expect(plan(serving, now).wait).toEqual({ for: "changes" });
  });

  test("the moment at which what was seen of its Node is believed no more", () => {
    const lost = cluster({
      status: {
        conditions: [condition("ControlPlaneInitialized"), condition("RemoteConnectionProbe", "False", now - 60_000)],
      },
    });
    const { wait } = plan(observed({ cluster: lost }), now);
    expect(wait?.until).toBe(now + 240_000);
    expect(plan(observed({ cluster: lost }), now + 240_000).wait).not.toHaveProperty("until");
  });

  test("its own deletion", () => {
    const deleted = withMeta(
      { deletionTimestamp: at(now), finalizers: ["machine.cluster.x-k8s.io"] },
      servingMachine("w-1"),
    );
    const { wait, status } = plan(observed({ machine: deleted }), now);
    expect(status.phase).toBe("Deleting");
    expect(wait?.for).not.toBe("");
  });
});
