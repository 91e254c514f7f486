/** What clients see of a node group that is being deleted, before its controller has done anything. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { openStage, type Json, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
});
afterAll(() => stage.close());

const call = (method: string, path: string, body?: unknown) => stage.call("demo", method, path, { body });

/** A complete cluster with a node group "extra" of two nodes. */
async function clusterWithGroup(): Promise<string> {
  const template = { coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" };
  const { body } = await call("POST", "/v1/clustertemplates", template);
  const created = await call("POST", "/v1/clusters", { name: "one", cluster_template_id: body["uuid"] });
  const [row] = (await stage.client.list(MagnumCluster)).items;
  const { namespace = "", name = "", generation: observedGeneration } = row?.metadata ?? {};
  const status = { status: "CREATE_COMPLETE", created: true, observedGeneration, apiAddress: "https://x" };
  const merge = { type: "merge", body: { status } } as const;
  await stage.client.patch(MagnumCluster, { namespace, name }, merge, { subresource: "status" });
  const path = `/v1/clusters/${String(created.body["uuid"])}`;
  expect((await call("POST", `${path}/nodegroups`, { name: "extra", node_count: 2 })).status).toBe(202);
  return path;
}

it("a deleted node group is shown as DELETE_IN_PROGRESS, and is neither changed nor created again", async () => {
  const path = await clusterWithGroup();
  const group = `${path}/nodegroups/extra`;
  const shown = async () => {
    const { status, body } = await call("GET", group);
    return [status, body["status"], body["node_count"]];
  };
  expect((await call("DELETE", group)).status).toBe(204);
  expect(await shown()).toEqual([200, "DELETE_IN_PROGRESS", 2]);
  const [row] = (await stage.client.list(MagnumCluster)).items;
  expect((await call("DELETE", group)).status).toBe(204);
  expect((await stage.client.list(MagnumCluster)).items[0]?.metadata.generation).toBe(row?.metadata.generation);
  expect(await shown()).toEqual([200, "DELETE_IN_PROGRESS", 2]);
  const { body } = await call("GET", `${path}/nodegroups`);
  const listed = (body["nodegroups"] as readonly Json[]).map(({ name, status }) => [name, status]);
  expect(listed).toContainEqual(["extra", "DELETE_IN_PROGRESS"]);
  expect((await call("GET", path)).body["node_count"]).toBe(3);
  expect((await call("POST", `${path}/nodegroups`, { name: "extra" })).status).toBe(409);
  const bounds = [{ op: "replace", path: "/max_node_count", value: 3 }];
  expect((await call("PATCH", group, bounds)).status).toBe(400);
  const resize = { node_count: 1, nodegroup: "extra" };
  expect((await call("POST", `${path}/actions/resize`, resize)).status).toBe(400);
  const { cluster_template_id: template } = (await call("GET", path)).body;
  const upgrade = { cluster_template: template, nodegroup: "extra" };
  const refused = await stage.call("demo", "POST", `${path}/actions/upgrade`, { body: upgrade });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining("is being deleted")]);
});
