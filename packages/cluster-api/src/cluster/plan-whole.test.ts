import { describe, expect, test } from "vitest";
import { HostedControlPlane, OpenStackCluster } from "@causeway/api";

import { at, cluster, condition, deployment, now, servingMachine } from "../testing/objects.ts";
import { clusterOwner, observed, provider } from "../testing/cluster-observed.ts";
import type { Observed } from "./observed.ts";
import { clusterStepEvents, plan } from "./plan.ts";

const endpoint = { controlPlaneEndpoint: { host: "lb", port: 6443 } };
const provisioned = { status: { initialization: { provisioned: true } } };
const initialized = { status: { initialization: { controlPlaneInitialized: true } } };
const statusOf = (given: Observed) => {
  const { conditions: _conditions, ...rest } = plan(given, now).status;
  return rest;
};
const none = { replicas: 0, readyReplicas: 0, availableReplicas: 0, upToDateReplicas: 0 };

/** "Kind name", and what is in the patch. */
const patches = (given: Observed): unknown[] =>
  plan(given, now).steps.map((s) => (s.type === "patch" ? [`${s.resource.kind} ${s.key.name}`, s.body] : s.type));

describe("the steps for a Cluster", () => {
  test("give it its finalizer, and its providers' objects their owner and label", () => {
    const bare = { ...cluster({ spec: {} }), metadata: { name: "demo", namespace: "default", uid: "uid-demo" } };
    const free = { labels: {}, ownerReferences: [] };
    const given = observed({
      cluster: bare,
      infrastructure: provider(OpenStackCluster, {}, free),
      controlPlane: provider(HostedControlPlane, {}, free),
    });
    const adopted = (uid: string) => ({
      metadata: {
        uid,
        labels: { "cluster.x-k8s.io/cluster-name": "demo" },
        ownerReferences: [expect.objectContaining({ kind: "Cluster", name: "demo", uid: "uid-demo" }) as unknown],
      },
    });
    expect(patches(given)).toEqual([
      ["Cluster demo", { metadata: { uid: "uid-demo", finalizers: ["cluster.cluster.x-k8s.io"] } }],
      ["OpenStackCluster demo", adopted("OpenStackCluster")],
      ["HostedControlPlane demo", adopted("HostedControlPlane")],
    ]);
  });

  test("make it the controller of the objects of a topology", () => {
    const topology = cluster({ spec: { topology: { classRef: { name: "c" }, version: "v1.34.0" } } as never });
    const [first] = patches(observed({ cluster: topology })) as [[string, { metadata: { ownerReferences: object[] } }]];
    expect(first[1].metadata.ownerReferences).toEqual([expect.objectContaining({ ...clusterOwner, controller: true })]);
    expect(patches(observed())).toEqual([]);
  });

  test("adopt nothing that is deleted, missing or of an unknown kind", () => {
    const free = { labels: {} };
    const gone = provider(OpenStackCluster, {}, { ...free, deletionTimestamp: at(now) });
    expect(patches(observed({ infrastructure: gone, controlPlane: undefined }))).toEqual([]);
    expect(patches(observed({ infrastructure: provider(OpenStackCluster), controlPlane: undefined }))).toEqual([]);
    const strange = { ...provider(OpenStackCluster, {}, free), kind: undefined };
    expect(patches(observed({ infrastructure: strange, controlPlane: undefined }))).toEqual([]);
  });

  test("take over an endpoint that is whole, where it has none that is", () => {
    const infrastructure = provider(OpenStackCluster, { spec: endpoint });
    const taken = (spec: object) => patches(observed({ cluster: cluster({ spec }), infrastructure }));
    expect(taken({})).toEqual([["Cluster demo", { spec: endpoint }]]);
    expect(taken({ controlPlaneEndpoint: { host: "mine" } })).toHaveLength(1);
    expect(taken({ controlPlaneEndpoint: { port: 1 } })).toHaveLength(1);
    expect(taken({ controlPlaneEndpoint: { host: "mine", port: 1 } })).toEqual([]);
    expect(patches(observed({ infrastructure: undefined, controlPlane: undefined }))).toEqual([]);
  });
});

describe("the status of a Cluster", () => {
  test("is little for a new one", () => {
    const bare = cluster({ spec: {}, status: {} });
    const unnumbered = { ...bare, metadata: { ...bare.metadata, generation: undefined } };
    expect(
      statusOf(observed({ cluster: unnumbered as never, infrastructure: undefined, controlPlane: undefined })),
    ).toEqual({
      initialization: { infrastructureProvisioned: false, controlPlaneInitialized: false },
      workers: { desiredReplicas: 0, ...none },
      phase: "Pending",
    });
    expect(statusOf(observed())).toMatchObject({ phase: "Provisioning", observedGeneration: 1, controlPlane: {} });
  });

  test("counts what there is", () => {
    const counts = { replicas: 3, readyReplicas: 2, availableReplicas: 1, upToDateReplicas: 3 };
    const control = { spec: { replicas: 3 }, status: counts };
    const metadata = { name: "p" };
    const pool = {
      metadata,
      spec: { replicas: 4 },
      status: { replicas: 40, readyReplicas: 30, availableReplicas: 20, upToDateReplicas: 10 },
    };
    const { controlPlane, workers } = statusOf(
      observed({
        controlPlane: provider(HostedControlPlane, control),
        deployments: [deployment(2), deployment(1, { replicas: undefined } as never)],
        pools: [pool, { metadata, spec: {} }] as never,
        machines: [servingMachine("a")],
      }),
    );
    expect(controlPlane).toEqual({ desiredReplicas: 3, ...counts });
    expect(workers).toEqual({
      desiredReplicas: 8,
      replicas: 41,
      readyReplicas: 31,
      availableReplicas: 21,
      upToDateReplicas: 11,
    });
  });

  test("names the versions that an upgrade passes through", () => {
    const topology = {
      controlPlaneUpgrades: ["v1", "v2"],
      workersUpgrades: ["v2"],
      condition: condition("TopologyReconciled"),
    };
    const upgraded = statusOf(observed({ topology: topology as never }));
    expect(upgraded.controlPlane).toEqual({ upgradePlan: [{ version: "v1" }, { version: "v2" }] });
    expect(upgraded.workers).toMatchObject({ upgradePlan: [{ version: "v2" }] });
    const idle = { ...topology, controlPlaneUpgrades: [], workersUpgrades: [] };
    expect(statusOf(observed({ topology: idle as never })).workers).not.toHaveProperty("upgradePlan");
  });

  test("has the failure domains of the infrastructure", () => {
    const failureDomains = [{ name: "az-1", controlPlane: true }];
    const given = (status: object) => observed({ infrastructure: provider(OpenStackCluster, { status }) });
    expect(statusOf(given({ failureDomains })).failureDomains).toEqual(failureDomains);
    expect(statusOf(given({ failureDomains: [] }))).not.toHaveProperty("failureDomains");
    expect(statusOf(observed({ infrastructure: undefined }))).not.toHaveProperty("failureDomains");
  });

  test.each<[string, object, Partial<Observed>]>([
    ["Provisioned", { spec: endpoint }, { infrastructure: provider(OpenStackCluster, provisioned) }],
    ["Provisioned", { spec: endpoint, status: { initialization: { infrastructureProvisioned: true } } }, {}],
    ["Provisioning", { spec: endpoint }, {}],
    [
      "Provisioning",
      { spec: { controlPlaneEndpoint: { host: "a" } } },
      { infrastructure: provider(OpenStackCluster, provisioned) },
    ],
    [
      "Provisioning",
      { spec: { controlPlaneEndpoint: { port: 1 } } },
      { infrastructure: provider(OpenStackCluster, provisioned) },
    ],
    ["Pending", { spec: endpoint }, { infrastructure: undefined }],
    ["Deleting", { metadata: { ...cluster().metadata, deletionTimestamp: at(now) } }, {}],
  ])("has the phase %s: %#", (phase, fields, more) => {
    expect(statusOf(observed({ cluster: cluster({ status: {}, ...fields }), ...more })).phase).toBe(phase);
  });
});

describe("the events of a Cluster", () => {
  const infrastructure = provider(OpenStackCluster, provisioned);
  const controlPlane = provider(HostedControlPlane, initialized);
  const PROVISIONED = { type: "Normal", reason: "InfrastructureReady", message: "The infrastructure is provisioned" };
  const INITIALIZED = { type: "Normal", reason: "ControlPlaneInitialized", message: "The control plane responds" };
  const events = (initialization: object, more: Partial<Observed> = { infrastructure, controlPlane }) =>
    plan(observed({ cluster: cluster({ spec: {}, status: { initialization } }), ...more }), now).events;

  test("are of what is new", () => {
    expect(events({})).toEqual([PROVISIONED, INITIALIZED]);
    expect(events({ infrastructureProvisioned: true })).toEqual([INITIALIZED]);
    expect(events({ controlPlaneInitialized: true })).toEqual([PROVISIONED]);
    expect(events({ infrastructureProvisioned: true, controlPlaneInitialized: true })).toEqual([]);
    expect(events({}, {})).toEqual([]);
  });

  test("are of steps that were performed", () => {
    const key = { name: "demo" };
    const deleted = { type: "delete", resource: { kind: "OpenStackCluster" }, key } as never;
    expect(clusterStepEvents(deleted)).toEqual([
      { type: "Normal", reason: "Deleting", message: "Deleting OpenStackCluster demo" },
    ]);
    const patch = (body: object) => ({ type: "patch", resource: { kind: "Cluster" }, key, body }) as never;
    expect(clusterStepEvents(patch({ spec: endpoint }))).toEqual([
      { type: "Normal", reason: "EndpointSet", message: "The API is at lb:6443" },
    ]);
    expect([...clusterStepEvents(patch({ spec: {} })), ...clusterStepEvents(patch({}))]).toEqual([]);
    expect(clusterStepEvents({ type: "create", object: { spec: endpoint } } as never)).toEqual([]);
  });
});

describe("a Cluster waits for", () => {
  test.each<[string, Partial<Observed>]>([
    ["changes", {}],
    ["changes", { infrastructure: undefined, controlPlane: undefined }],
    ["OpenStackCluster demo does not exist", { infrastructure: provider(OpenStackCluster) }],
    ["HostedControlPlane demo does not exist", { controlPlane: provider(HostedControlPlane) }],
    [
      "all objects of the cluster to be deleted",
      {
        cluster: cluster({ metadata: { ...cluster().metadata, deletionTimestamp: at(now) } }),
        infrastructure: provider(OpenStackCluster),
      },
    ],
  ])("%s: %#", (expected, more) => {
    expect(plan(observed(more), now).wait).toEqual({ for: expected });
  });

  test("the moment at which silence counts", () => {
    const until = plan(observed({ silentSince: now }), now).wait?.until ?? 0;
    expect(until).toBeGreaterThan(now);
    expect(plan(observed({ silentSince: now }), until).wait).not.toHaveProperty("until");
  });
});
