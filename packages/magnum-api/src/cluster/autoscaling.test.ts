/**
 * Node groups as the cluster autoscaler's clusterapi provider discovers and scales them, by its rules
 * (cluster-autoscaler/cloudprovider/clusterapi: clusterapi_utils.go, clusterapi_nodegroup.go,
 * clusterapi_unstructured.go).
 */
import { allKinds, MachineDeployment, toCustomResourceDefinition } from "@causeway/api";
import type { MagnumCluster, MagnumNodeGroup } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { desiredManifests, nothingStands, type StandingPools } from "./desired.ts";
import { mostNodes } from "./scaling.ts";

const MIN = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
const MAX = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";

const group: MagnumNodeGroup = {
  uuid: "6e8ae3a5-0b4c-4f0e-9d26-0000000000b2",
  name: "default-worker",
  role: "worker",
  isDefault: true,
  imageID: "cirros",
  nodeCount: 2,
  minNodeCount: 0,
  version: "v1.34.0",
  createdAt: "2026-11-01T12:00:00Z",
};

function deploymentOf(changes: Partial<MagnumNodeGroup>, pools: StandingPools = new Map()): MachineDeployment {
  const cluster = {
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumCluster",
    metadata: { name: "web", namespace: "default", uid: "u" },
    spec: {
      uuid: "6e8ae3a5-0b4c-4f0e-9d26-000000000001",
      name: "web",
      projectID: "p",
      userID: "u",
      template: { coe: "kubernetes", imageID: "cirros" },
      version: "v1.34.0",
      createTimeout: 60,
      labels: {},
      nodeGroups: [{ ...group, ...changes }],
    },
  } as unknown as MagnumCluster;
  const manifests = desiredManifests(cluster, { authUrl: "http://keystone" }, { ...nothingStands, pools });
  const found = manifests.find(({ object }) => object.kind === MachineDeployment.kind);
  if (found === undefined) throw new Error("there is no MachineDeployment");
  return found.object as MachineDeployment;
}

/** What the provider makes of it: bounds; "none": it does not scale this one; an error: it ends its round for all. */
function discovered({ metadata, spec }: MachineDeployment): { min: number; max: number } | "none" {
  const number = (key: string): number => {
    const text = metadata.annotations?.[key];
    if (text === undefined) return 0;
    if (!/^[+-]?\d+$/.test(text)) throw new Error(`invalid annotation ${text}`);
    return Number(text);
  };
  const [min, max] = [number(MIN), number(MAX)];
  if (min < 0 || max < 0 || max < min) throw new Error(`invalid bounds ${min} to ${max}`);
  if (spec.replicas === undefined) throw new Error("unable to find replicas");
  // Without the capacity of its machines a group of none is not scaled; and neither is one that cannot change.
  return spec.replicas === 0 || max - min < 1 ? "none" : { min, max };
}

const scaled = { auto_scaling_enabled: "true" };

describe("a node group with auto_scaling_enabled", () => {
  it.each<[string, Partial<MagnumNodeGroup>, ReturnType<typeof discovered>]>([
    [
      "has the bounds of its labels",
      { labels: { ...scaled, min_node_count: "2", max_node_count: "5" } },
      { min: 2, max: 5 },
    ],
    [
      "has its own bounds before those of its labels",
      { labels: scaled, minNodeCount: 1, maxNodeCount: 4 },
      { min: 1, max: 4 },
    ],
    [
      "keeps one node, from which more are made",
      { labels: { ...scaled, min_node_count: "0", max_node_count: "3" } },
      { min: 1, max: 3 },
    ],
    ["may grow to what it has without a maximum", { labels: scaled }, { min: 1, max: 2 }],
    [
      "with one bound for both is left alone",
      { labels: { ...scaled, min_node_count: "2", max_node_count: "2" } },
      "none",
    ],
    [
      "never ends the autoscaler's round by a maximum below the minimum",
      { labels: { ...scaled, max_node_count: "1" }, minNodeCount: 2 },
      "none",
    ],
    ["without the label is not scaled", { labels: { min_node_count: "1", max_node_count: "5" } }, "none"],
    ["whose label is false is not scaled", { labels: { auto_scaling_enabled: "false", max_node_count: "5" } }, "none"],
  ])("%s", (_, changes, expected) => {
    expect(discovered(deploymentOf(changes))).toEqual(expected);
  });

  it.each([
    ["has a node where none was requested", scaled, undefined, 1],
    ["gets its last node back", scaled, 0, 1],
    ["has none where none was requested and nothing scales it", {}, undefined, 0],
  ])("%s", (_, labels, replicas, expected) => {
    const given = { labels, nodeCount: 0 };
    const { metadata } = deploymentOf(given);
    const pools: StandingPools =
      replicas === undefined ? new Map() : new Map([[metadata.name, { replicas, annotations: metadata.annotations }]]);
    expect(deploymentOf(given, pools).spec.replicas).toBe(expected);
  });

  it("is valid for the autoscaler whatever its bounds and numbers are", () => {
    const count = fc.nat(20);
    const text = count.map(String);
    fc.assert(
      fc.property(
        fc.record({ min: count, max: fc.option(count), nodes: count, least: fc.option(text), most: fc.option(text) }),
        ({ min, max, nodes, least, most }) => {
          const labels = {
            ...scaled,
            ...(least === null ? {} : { min_node_count: least }),
            ...(most === null ? {} : { max_node_count: most }),
          };
          const bounds = { minNodeCount: min, ...(max === null || max === 0 ? {} : { maxNodeCount: max }) };
          const deployment = deploymentOf({ labels, nodeCount: nodes, ...bounds });
          expect(() => discovered(deployment)).not.toThrow();
          expect(deployment.spec.replicas).toBeGreaterThan(0);
          // The quota counts what the group has now and may come to, and no more.
          const counted = Math.max(nodes, Number(deployment.metadata.annotations?.[MAX]));
          expect(mostNodes({ ...group, labels, nodeCount: nodes, ...bounds }, {})).toBe(counted);
        },
      ),
    );
  });
});

it("a group without labels of its own is scaled, and counted by the quota, by those of its cluster", () => {
  const labels = { ...scaled, max_node_count: "4" };
  expect(mostNodes(group, labels)).toBe(4);
  expect(mostNodes({ ...group, labels: {} }, labels)).toBe(2);
});

it("the autoscaler's number, written by the scale subresource, remains until the user asks for another", async () => {
  const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  try {
    const labels = { ...scaled, min_node_count: "1", max_node_count: "5" };
    const apply = (given: Partial<MagnumNodeGroup>, pools?: StandingPools) =>
      client.apply(MachineDeployment, deploymentOf({ labels, ...given }, pools), { fieldManager: "causeway-magnum" });
    const made = await apply({});
    const { name } = made.metadata;
    const path = `/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machinedeployments/${name}/scale`;
    const scale = (await client.request("GET", path)) as { readonly spec: { readonly replicas: number } };
    expect(scale.spec.replicas).toBe(2);
    const contentType = "application/merge-patch+json";
    await client.request("PATCH", path, { body: { spec: { replicas: 4 } }, contentType });
    const standing = async (): Promise<StandingPools> => {
      const { metadata, spec } = await client.get(MachineDeployment, { namespace: "default", name });
      return new Map([[name, { replicas: spec.replicas, annotations: metadata.annotations }]]);
    };
    expect((await apply({}, await standing())).spec.replicas).toBe(4);
    // The number that was requested before is requested again.
    const resizedAt = "2026-11-01T12:30:00Z";
    expect((await apply({ resizedAt }, await standing())).spec.replicas).toBe(2);
    await client.request("PATCH", path, { body: { spec: { replicas: 4 } }, contentType });
    expect((await apply({ resizedAt }, await standing())).spec.replicas).toBe(4);
    expect((await apply({ nodeCount: 3 }, await standing())).spec.replicas).toBe(3);
  } finally {
    await client.close();
    await server.close();
  }
});
