import { Machine, MachinePool } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import {
  copied,
  host,
  ids,
  kind,
  marked,
  observed,
  on,
  pool,
  provisioned,
  reference,
} from "../testing/machine-pool-observed.ts";
import { cluster, machine, node, now } from "../testing/objects.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { Observed } from "./observed.ts";
import { machinePoolStepEvents, plan } from "./plan.ts";
import type { MachinePoolStep } from "./steps.ts";

const gone = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const leaving = pool({ metadata: gone });
/** Patches as the name and body of their object; other steps in words. */
const steps = (given: Observed) =>
  plan(given, now).steps.map((step) => {
    if (step.type === "patch") return [step.key.name, step.body];
    if (step.type === "patch-node") return [step.name, step.body];
    if (step.type === "create") return `create ${step.object.metadata.name}`;
    return step.type === "delete"
      ? `delete ${step.resource.kind} ${step.key.name} ${step.uid}`
      : `delete Node ${step.name} ${step.uid}`;
  });
const bare = (object: ProviderObject, more: object = {}): ProviderObject => {
  const { name, namespace, uid } = object.metadata;
  return { ...object, metadata: { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}), ...more } };
};
const config = (secret?: string, metadata: object = {}) => {
  const object = {
    ...host({}, secret ? { dataSecretName: secret, initialization: { dataSecretCreated: true } } : {}),
    kind: "StubConfig",
  };
  return {
    reference: { ...reference, kind: "StubConfig" },
    kind,
    object: { ...object, metadata: { ...object.metadata, ...metadata } },
  };
};
const works = (nodes: readonly Node[], more: Partial<Observed> = {}) =>
  observed({
    pool: pool({ spec: copied }),
    infrastructure: on(provisioned(ids)),
    workload: { reach: "connected", nodes },
    ...more,
  });
const owner = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachinePool",
  name: "pool",
  uid: "uid-pool",
  controller: true,
  blockOwnerDeletion: true,
};
const clusterLabel = { "cluster.x-k8s.io/cluster-name": "demo" };

describe("the upkeep of a MachinePool", () => {
  test("gives the pool its finalizer, its label and the Cluster as an owner", () => {
    const metadata = { finalizers: [], labels: {}, ownerReferences: [] };
    expect(steps(observed({ pool: pool({ metadata }) }))).toEqual([
      [
        "pool",
        {
          metadata: {
            uid: "uid-pool",
            labels: clusterLabel,
            ownerReferences: [
              { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "uid-demo" },
            ],
            finalizers: ["machinepool.cluster.x-k8s.io"],
          },
        },
      ],
    ]);
    expect(steps(observed({ pool: pool({ metadata }), cluster: undefined }))).toEqual([]);
  });

  const adopted = (name: string) => [
    name,
    { metadata: { uid: "uid-host", labels: clusterLabel, ownerReferences: [owner] } },
  ];
  test("makes the pool the controller of its infrastructure and its configuration", () => {
    const infrastructure = on(bare(host()));
    const bootstrap = { ...config(), object: bare(config().object) };
    expect(steps(observed({ infrastructure, bootstrap }))).toEqual([adopted("pool"), adopted("pool")]);
    expect(steps(observed({ infrastructure: on(bare(host(), gone)) }))).toEqual([]);
    expect(steps(observed({ infrastructure: { ...infrastructure, kind: undefined } }))).toEqual([]);
  });

  const spec = (changes: object) => ["pool", { spec: changes }];
  const inBootstrap = { template: { spec: { bootstrap: { dataSecretName: "new" } } } };
  test.each<[string, Partial<Observed>, unknown[]]>([
    ["the name of the Secret with bootstrap data", { bootstrap: config("new") }, [spec(inBootstrap)]],
    ["no name of a Secret that it has", { bootstrap: config("data") }, []],
    ["no name while there is none", { bootstrap: config() }, []],
    ["the provider IDs", { infrastructure: on(provisioned(ids)) }, [spec({ providerIDList: ids })]],
    [
      "both at once",
      { bootstrap: config("new"), infrastructure: on(provisioned(ids)) },
      [spec({ ...inBootstrap, providerIDList: ids })],
    ],
    ["no IDs that it has", { pool: pool({ spec: copied }), infrastructure: on(provisioned(ids)) }, []],
    [
      "IDs in the order of the infrastructure",
      { pool: pool({ spec: { providerIDList: ids.toReversed() } }), infrastructure: on(provisioned(ids)) },
      [spec({ providerIDList: ids })],
    ],
    [
      "that there are fewer IDs",
      { pool: pool({ spec: copied }), infrastructure: on(provisioned(ids.slice(0, 1))) },
      [spec({ providerIDList: ids.slice(0, 1) })],
    ],
    [
      "that there are no IDs any more",
      { pool: pool({ spec: copied }), infrastructure: on(provisioned([])) },
      [spec({ providerIDList: [] })],
    ],
    ["no IDs before the infrastructure is provisioned", { infrastructure: on(host({ providerIDList: ids })) }, []],
    [
      "no IDs that are not reported",
      { pool: pool({ spec: copied }), infrastructure: on(host({}, { initialization: { provisioned: true } })) },
      [],
    ],
  ])("copies %s", (_, fields, expected) => expect(steps(observed(fields))).toEqual(expected));

  const marks = marked("a").metadata.annotations;
  const taint = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" } as const;
  const other = { key: "other", effect: "NoSchedule" } as const;
  const withTaints = (name: string, ...taints: object[]): Node =>
    ({ ...marked(name), spec: { providerID: `openstack:///${name}`, taints } }) as Node;
  test.each<[string, Observed, unknown[]]>([
    [
      "marks a Node of the pool, and leaves its taints",
      works([{ ...node("a"), metadata: { name: "a", uid: "uid-a", resourceVersion: "5" } }]),
      [["a", { metadata: { uid: "uid-a", resourceVersion: "5", annotations: marks } }]],
    ],
    [
      "removes the taint of a Node that starts, and no other",
      works([withTaints("a", taint, other)]),
      [["a", { metadata: { uid: "uid-a" }, spec: { taints: [other] } }]],
    ],
    ["leaves a Node that is marked", works([withTaints("a", other)]), []],
    ["deletes the Node of a machine that is gone", works([marked("c")]), ["delete Node c uid-c"]],
    [
      "leaves a Node that is being deleted",
      works([{ ...marked("c"), metadata: { ...marked("c").metadata, ...gone } }]),
      [],
    ],
    ["deletes a Node without a provider ID", works([{ ...marked("c"), spec: {} }]), ["delete Node c uid-c"]],
    ["leaves all Nodes while the cluster cannot be reached", works([], { workload: { reach: "unreachable" } }), []],
    [
      "leaves all Nodes before the infrastructure is provisioned",
      works([marked("c")], { infrastructure: on(host()) }),
      [],
    ],
    [
      "knows the pool's Nodes by what was copied, where the infrastructure reports no IDs",
      works([marked("a"), marked("c")], { infrastructure: on(host({}, { initialization: { provisioned: true } })) }),
      ["delete Node c uid-c"],
    ],
  ])("%s", (_, given, expected) => expect(steps(given)).toEqual(expected));

  test("marks Nodes with the names of Cluster, namespace and pool", () => {
    const { namespace: _none, ...metadata } = pool().metadata;
    const given = works([node("a")], { pool: { ...pool({ spec: copied }), metadata } });
    expect(steps(given)).toEqual([
      ["a", { metadata: { uid: "uid-node-a", annotations: { ...marks, "cluster.x-k8s.io/cluster-namespace": "" } } }],
    ]);
  });
});

describe("the deletion of a MachinePool", () => {
  const nothing = { pool: leaving, infrastructure: on(undefined) };
  const initialized = pool({
    metadata: gone,
    status: { initialization: { infrastructureProvisioned: true } } as NonNullable<MachinePool["status"]>,
  });
  const unserved = { ...on(undefined), kind: undefined };
  const own = machine("m");
  const finalizer = ["pool", { metadata: { uid: "uid-pool", finalizers: [] } }];
  test.each<[string, Partial<Observed>, unknown[]]>([
    [
      "deletes infrastructure and configuration first",
      { pool: leaving, bootstrap: config(), machines: [own] },
      ["delete StubMachinePool pool uid-host", "delete StubMachinePool pool uid-host"],
    ],
    [
      "waits for those that are being deleted",
      { pool: leaving, infrastructure: on(bare(host(), gone)), machines: [own] },
      [],
    ],
    ["waits for what no provider serves", { pool: leaving, infrastructure: { ...on(host()), kind: undefined } }, []],
    [
      "keeps a pool whose machines no provider can delete",
      { ...nothing, pool: initialized, infrastructure: unserved, machines: [own] },
      [],
    ],
    ["lets a pool go that never had machines", { ...nothing, infrastructure: unserved }, [finalizer]],
    ["lets a pool go whose infrastructure is gone", { ...nothing, pool: initialized }, [finalizer]],
    ["then deletes its Machines", { ...nothing, machines: [own] }, ["delete Machine m uid-m"]],
    [
      "then deletes its Nodes",
      { ...nothing, workload: { reach: "connected", nodes: [marked("a")] } },
      ["delete Node a uid-a"],
    ],
    [
      "leaves Nodes that are being deleted",
      {
        ...nothing,
        workload: { reach: "connected", nodes: [{ ...marked("a"), metadata: { ...marked("a").metadata, ...gone } }] },
      },
      [finalizer],
    ],
    [
      "leaves the Nodes of a Cluster that is being deleted, too",
      {
        ...nothing,
        cluster: cluster({ metadata: { name: "demo", ...gone } }),
        workload: { reach: "connected", nodes: [marked("a")] },
      },
      [finalizer],
    ],
    [
      "does not wait for a cluster that cannot be reached",
      { ...nothing, workload: { reach: "unreachable" } },
      [finalizer],
    ],
    [
      "deletes the Nodes when the Cluster is gone",
      { ...nothing, cluster: undefined, workload: { reach: "connected", nodes: [marked("a")] } },
      ["delete Node a uid-a"],
    ],
  ])("%s", (_, fields, expected) => expect(steps(observed(fields))).toEqual(expected));
});

test.each<[string, Partial<Observed>]>([
  ["the pool's provider objects to be deleted", { pool: leaving, cluster: undefined }],
  ["Cluster demo", { cluster: undefined, infrastructure: on(undefined) }],
  ["StubMachinePool pool does not exist", { infrastructure: on(undefined) }],
  [
    "StubConfig pool does not exist",
    { bootstrap: { ...config(), object: undefined } as unknown as Observed["bootstrap"] },
  ],
  ["changes", { bootstrap: config() }],
])("a MachinePool waits for %s", (reason, fields) => {
  expect(plan(observed(fields), now).wait).toEqual({ for: reason });
});

test("a paused MachinePool waits for the end of the pause", () => {
  const paused = observed({ cluster: cluster({ spec: { paused: true } }), infrastructure: on(provisioned(ids)) });
  expect(plan(paused, now)).toMatchObject({ steps: [], wait: { for: "unpausing" } });
});

test("the events of a pool's steps name the object", () => {
  const key = { namespace: "default", name: "x" };
  const events: [MachinePoolStep, object[]][] = [
    [
      { type: "delete", resource: Machine, key, uid: "u" },
      [{ type: "Normal", reason: "Deleting", message: "Deleting Machine x" }],
    ],
    [
      { type: "create", resource: Machine, object: machine("m") },
      [
        {
          type: "Normal",
          reason: "SuccessfulCreate",
          message: "Created Machine m for a machine of the infrastructure",
        },
      ],
    ],
    [
      { type: "delete-node", name: "n", uid: "u" },
      [{ type: "Normal", reason: "DeletingNode", message: "Deleting Node n" }],
    ],
    [{ type: "patch", resource: MachinePool, key, body: {} }, []],
  ];
  for (const [step, expected] of events) expect(machinePoolStepEvents(step)).toEqual(expected);
});
