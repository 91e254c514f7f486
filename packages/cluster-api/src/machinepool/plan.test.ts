import { describe, expect, test } from "vitest";
import type { Machine } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";
import { node, now } from "../testing/objects.ts";
import {
  apiVersion,
  labels,
  reference,
  kind,
  pool,
  host,
  provisioned,
  marked,
  observed,
  on,
  ids,
  copied,
} from "../testing/machine-pool-observed.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { Observed } from "./observed.ts";
import { plan as planMachinePool } from "./plan.ts";

describe("the steps of a MachinePool", () => {
  const table: [title: string, given: Observed, steps: unknown[]][] = [
    ["nothing while the infrastructure works", observed(), []],
    [
      "the provider IDs are copied once the infrastructure is provisioned",
      observed({ infrastructure: on(provisioned(ids)) }),
      [{ type: "patch", body: { spec: { providerIDList: ids } } }],
    ],
    [
      "a Node of the pool is marked, and its start taint goes",
      observed({
        pool: pool({ spec: copied }),
        infrastructure: on(provisioned(ids)),
        workload: {
          reach: "connected",
          nodes: [
            {
              ...marked("a"),
              spec: {
                providerID: "openstack:///a",
                taints: [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" }],
              },
            },
          ],
        },
      }),
      [{ type: "patch-node", name: "a", body: { spec: { taints: [] } } }],
    ],
    [
      "the Node of a machine that the infrastructure gave up is deleted",
      observed({
        pool: pool({ spec: { providerIDList: ["openstack:///a"] } }),
        infrastructure: on(provisioned(["openstack:///a"])),
        workload: { reach: "connected", nodes: [marked("a"), marked("b")] },
      }),
      [{ type: "delete-node", name: "b", uid: "uid-b" }],
    ],
    [
      "no Node is deleted while the infrastructure object cannot be read",
      observed({
        pool: pool({ spec: copied }),
        infrastructure: on(undefined),
        workload: { reach: "connected", nodes: [marked("c")] },
      }),
      [],
    ],
    [
      "deletion asks for the provider objects first",
      observed({ pool: pool({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }) }),
      [{ type: "delete", uid: "uid-host" }],
    ],
    [
      "then for the Nodes",
      observed({
        pool: pool({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
        infrastructure: on(undefined),
        workload: { reach: "connected", nodes: [marked("a")] },
      }),
      [{ type: "delete-node", name: "a" }],
    ],
    [
      "then the finalizer goes",
      observed({
        pool: pool({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
        infrastructure: on(undefined),
      }),
      [{ type: "patch", body: { metadata: { finalizers: [] } } }],
    ],
    [
      "a paused pool is left alone",
      observed({
        pool: pool({ metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } }),
        infrastructure: on(provisioned(ids)),
      }),
      [],
    ],
  ];
  test.each(table)("%s", (_title, given, steps) => {
    const plan = planMachinePool(given, now);
    expect(plan.steps).toHaveLength(steps.length);
    expect(plan.steps).toMatchObject(steps);
  });
});

describe("the status of a MachinePool", () => {
  const status = (nodes: readonly Node[], replicas = 2, object = provisioned(ids)) =>
    planMachinePool(
      observed({
        pool: pool({ spec: { ...copied, replicas } }),
        infrastructure: on(object),
        workload: { reach: "connected", nodes },
      }),
      now,
    ).status;

  test.each<[phase: string, nodes: readonly Node[], replicas: number, object: ProviderObject]>([
    ["Provisioning", [], 2, host()],
    ["Provisioned", [], 2, provisioned(ids)],
    ["ScalingUp", [marked("a")], 2, provisioned(ids)],
    ["Running", [marked("a"), marked("b")], 2, provisioned(ids)],
    ["ScalingDown", [marked("a"), marked("b")], 1, provisioned(ids)],
  ])("has phase %s", (phase, nodes, replicas, object) => {
    expect(status(nodes, replicas, object).phase).toBe(phase);
  });

  test("names the Nodes of its provider IDs, and counts those that are ready", () => {
    expect(status([marked("b", "False"), marked("a")])).toMatchObject({
      replicas: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      nodeRefs: [{ name: "a" }, { name: "b" }],
      initialization: { bootstrapDataSecretCreated: true, infrastructureProvisioned: true },
    });
  });

  test("keeps what it counted while the workload cluster cannot be reached", () => {
    const before = status([marked("a"), marked("b")]);
    const given = observed({
      pool: pool({ spec: copied, status: before }),
      infrastructure: on(provisioned(ids)),
      workload: { reach: "unreachable" },
    });
    expect(planMachinePool(given, now).status).toMatchObject({ readyReplicas: 2, nodeRefs: before.nodeRefs });
  });
});

describe("the Machines of a MachinePool", () => {
  const memberKind = { ...(kind as object), kind: "StubMachine" } as never;
  const member = (name: string, more: object = {}): ProviderObject => ({
    apiVersion: "infrastructure.cluster.x-k8s.io/v1",
    kind: "StubMachine",
    metadata: { name, namespace: "default", uid: `uid-${name}`, ...more },
  });
  const machine = (
    name: string,
    fields: { provisioned?: boolean; labels?: object; deleting?: boolean } = {},
  ): Machine =>
    ({
      apiVersion,
      kind: "Machine",
      metadata: {
        name,
        namespace: "default",
        uid: `uid-machine-${name}`,
        labels: { ...labels, "cluster.x-k8s.io/pool-name": "pool", ...fields.labels },
        ...(fields.deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
      },
      spec: { clusterName: "demo", bootstrap: {}, infrastructureRef: reference },
      status: { initialization: { infrastructureProvisioned: fields.provisioned ?? true } },
    }) as Machine;
  const steps = (hosts: readonly ProviderObject[], machines: readonly Machine[], given: Partial<Observed> = {}) =>
    planMachinePool(
      observed({
        infrastructure: on(provisioned(ids)),
        pool: pool({ spec: copied }),
        members: { kind: memberKind, hosts },
        machines,
        ...given,
      }),
      now,
    ).steps.map((step) => {
      if (step.type === "create") return `create ${step.object.metadata.name}`;
      return step.type === "patch" || step.type === "delete" ? `${step.type} ${step.key.name}` : step.type;
    });

  test.each<[string, readonly ProviderObject[], readonly Machine[], string[]]>([
    ["one for each machine of the infrastructure", [member("a"), member("b")], [machine("b")], ["create a"]],
    ["none for a machine that goes", [member("a", { deletionTimestamp: "2026-01-01T00:00:00Z" })], [], []],
    ["fewer when the infrastructure has fewer", [member("a")], [machine("a"), machine("b")], ["delete b"]],
    ["as many while a host was not seen yet", [member("a")], [machine("a"), machine("b", { provisioned: false })], []],
    ["no second deletion", [], [machine("a", { deleting: true })], []],
    [
      "with the labels of the pool",
      [member("a")],
      [machine("a", { labels: { "cluster.x-k8s.io/pool-name": "x" } })],
      ["patch a"],
    ],
  ])("are %s", (_, hosts, machines, expected) => {
    expect(steps(hosts, machines)).toEqual(expected);
  });

  test("have the pool as their controller and refer to the machine of their name", () => {
    const plan = planMachinePool(observed({ members: { kind: memberKind, hosts: [member("a")] } }), now);
    expect(plan.steps.find((step) => step.type === "create")).toMatchObject({
      object: {
        metadata: { ownerReferences: [{ kind: "MachinePool", name: "pool", controller: true }] },
        spec: {
          bootstrap: { dataSecretName: "data" },
          infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "StubMachine", name: "a" },
        },
      },
    });
  });

  test("are not more than a hundred at once", () => {
    const many = Array.from({ length: 250 }, (_, index) => member(`m-${index}`));
    expect(steps(many, [])).toHaveLength(100);
  });

  test("mark their Nodes themselves", () => {
    const bare = { ...node("a"), spec: { providerID: ids[0] ?? "" } };
    expect(steps([member("a")], [machine("a")], { workload: { reach: "connected", nodes: [bare] } })).toEqual([]);
  });

  test("go after the infrastructure, and before the pool's finalizer", () => {
    const leaving = pool({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    const gone = { pool: leaving, infrastructure: on(undefined), members: undefined };
    expect(steps([], [machine("a")], { ...gone })).toEqual(["delete a"]);
    expect(steps([], [machine("a", { deleting: true })], { ...gone })).toEqual([]);
    expect(steps([], [], { ...gone })).toEqual(["patch pool"]);
  });
});
