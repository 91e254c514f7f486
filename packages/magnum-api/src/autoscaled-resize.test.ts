/** Resizes of a group whose number of nodes an autoscaler has changed since the last request. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { labels, Machine, MachineDeployment, MagnumCluster } from "@causeway/api";
import { magnumLabels } from "./cluster/names.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
});
afterAll(() => stage.close());

const call = (method: string, path: string, body?: unknown) => stage.call("demo", method, path, { body });
const soon = { timeout: 30_000, interval: 100 };
const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "m" };

/** A complete cluster whose only group was requested with one number of nodes and scaled to another one. */
async function scaledCluster(name: string, { requested, scaled }: { requested: number; scaled: number }) {
  const template = { coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" };
  const { body } = await call("POST", "/v1/clustertemplates", template);
  const bounds = { auto_scaling_enabled: "true", min_node_count: "1", max_node_count: "9" };
  const request = { name, cluster_template_id: body["uuid"], node_count: requested, labels: bounds };
  const uuid = String((await call("POST", "/v1/clusters", request)).body["uuid"]);
  const row = async (): Promise<MagnumCluster> => {
    const { items } = await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
    if (items[0] === undefined) throw new Error("the cluster was not written");
    return items[0];
  };
  const { metadata, spec } = await row();
  const key = { namespace: metadata.namespace ?? "", name: metadata.name };
  const own = { [labels.clusterName]: key.name, [magnumLabels.nodeGroup]: spec.nodeGroups[0]?.uuid ?? "" };
  const machine = { clusterName: key.name, bootstrap: { dataSecretName: "none" }, infrastructureRef };
  await stage.client.create(MachineDeployment, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineDeployment",
    metadata: { namespace: key.namespace, name: `${key.name}-default`, labels: own },
    spec: { clusterName: key.name, replicas: scaled, selector: { matchLabels: own }, template: { spec: machine } },
  } as MachineDeployment);
  for (let at = 0; at < scaled; at += 1)
    await stage.client.create(Machine, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: { namespace: key.namespace, name: `${name}-${at}`, labels: own },
      spec: machine,
    } as Machine);
  const nodeGroups = [
    { uuid: spec.nodeGroups[0]?.uuid, status: "CREATE_COMPLETE", readyNodes: scaled, nodeCount: scaled, addresses: [] },
  ];
  const status = { status: "CREATE_COMPLETE", created: true, observedGeneration: metadata.generation, nodeGroups };
  await stage.client.patch(MagnumCluster, key, { type: "merge", body: { status } }, { subresource: "status" });
  const change = async (method: string, path: string, given: unknown) => {
    const reply = await call(method, `/v1/clusters/${uuid}${path}`, given);
    const [error] = (reply.body["errors"] ?? []) as readonly { readonly detail?: string }[];
    return `${reply.status} ${error?.detail ?? ""}`.trim();
  };
  return { change, group: async () => (await row()).spec.nodeGroups[0] };
}

it("a resize to a number between the requested one and the autoscaler's removes the nodes that it names", async () => {
  const { change, group } = await scaledCluster("up", { requested: 2, scaled: 4 });
  const resize = { node_count: 3, nodes_to_remove: ["up-3"] };
  await expect.poll(() => change("POST", "/actions/resize", resize), soon).toBe("202");
  expect(await group()).toMatchObject({ nodeCount: 3, nodesToRemove: ["up-3"] });
});

it("a resize to more nodes than the autoscaler wants names none to remove, though more were requested", async () => {
  const { change } = await scaledCluster("down", { requested: 5, scaled: 2 });
  const resize = { node_count: 4, nodes_to_remove: ["down-1"] };
  const refused = "400 nodes_to_remove names 1 nodes, but node_count 4 removes 0 of 2.";
  await expect.poll(() => change("POST", "/actions/resize", resize), soon).toBe(refused);
});

it.each<[string, string, string, unknown]>([
  ["resize", "POST", "/actions/resize", { node_count: 2 }],
  ["patch", "PATCH", "", [{ op: "replace", path: "/node_count", value: 2 }]],
])("a %s back to the number that was requested last is a new request of it", async (name, method, path, given) => {
  const { change, group } = await scaledCluster(name, { requested: 2, scaled: 4 });
  expect(await group()).not.toHaveProperty("resizedAt");
  expect(await change(method, path, given)).toBe("202");
  expect(await group()).toMatchObject({ nodeCount: 2, resizedAt: expect.any(String) as string });
});

it("a node that a resize named still goes first when the group is resized to fewer before it is gone", async () => {
  const { change, group } = await scaledCluster("further", { requested: 4, scaled: 4 });
  const resize = { node_count: 3, nodes_to_remove: ["further-0"] };
  await expect.poll(() => change("POST", "/actions/resize", resize), soon).toBe("202");
  expect(await change("POST", "/actions/resize", { node_count: 2 })).toBe("202");
  expect(await group()).toMatchObject({ nodeCount: 2, nodesToRemove: ["further-0"] });
});
