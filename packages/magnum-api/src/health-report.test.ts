/** Reports of health by programs outside, and patches that change nothing: no change of the cluster is in progress. */
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { openStage, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
let uuid: string;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
  const template = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
  const made = await stage.call("demo", "POST", "/v1/clustertemplates", {
    body: { ...template, external_network_id: "public" },
  });
  const body = { name: "reported", cluster_template_id: made.body["uuid"], node_count: 2 };
  uuid = String((await stage.call("demo", "POST", "/v1/clusters", { body })).body["uuid"]);
});
afterAll(() => stage.close());

const call = (method: string, body?: unknown): Promise<Reply> =>
  stage.call("demo", method, `/v1/clusters/${uuid}`, { body });

async function row(): Promise<MagnumCluster> {
  const { items } = await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
  if (items[0] === undefined) throw new Error("the cluster was not written");
  return items[0];
}

async function become(status: string): Promise<void> {
  const { namespace = "", name, generation } = (await row()).metadata;
  const body = { status: { status, created: true, observedGeneration: generation, health: "UNKNOWN" } };
  await stage.client.patch(MagnumCluster, { namespace, name }, { type: "merge", body }, { subresource: "status" });
}
beforeEach(() => become("CREATE_COMPLETE"));

const unhealthy = [
  { op: "replace", path: "/health_status", value: "UNHEALTHY" },
  { op: "replace", path: "/health_status_reason", value: { "node-1.Ready": "False" } },
];

it.each(["CREATE_COMPLETE", "UPDATE_IN_PROGRESS", "UPDATE_FAILED"])(
  "a report of health is shown, also one that an earlier release wrote, and a cluster that is %s remains so",
  async (status) => {
    const { namespace = "", name } = (await row()).metadata;
    const spec = { reportedHealth: { status: "HEALTHY", reason: { api: "ok" } } };
    const annotations = { "magnum.causeway.dev/reported-health": null };
    await stage.client.patch(
      MagnumCluster,
      { namespace, name },
      { type: "merge", body: { metadata: { annotations }, spec } },
    );
    await become(status);
    const before = await call("GET");
    expect(before.body).toMatchObject({ health_status: "HEALTHY", health_status_reason: { api: "ok" } });
    expect((await call("PATCH", unhealthy)).status).toBe(202);
    const after = await call("GET");
    expect(after.body).toMatchObject({
      status,
      health_status: "UNHEALTHY",
      health_status_reason: { "node-1.Ready": "False" },
    });
    expect(Date.parse(String(after.body["updated_at"]))).toBeGreaterThan(0);
  },
);

it.each([
  ["no operation", () => []],
  ["the number of nodes that it has", () => [{ op: "replace", path: "/node_count", value: 2 }]],
  ["that number as a text", () => [{ op: "replace", path: "/node_count", value: "2" }]],
  ["the health that was reported last", () => unhealthy],
])("a patch with %s is accepted in every state, and writes nothing", async (_, patch) => {
  expect((await call("PATCH", unhealthy)).status).toBe(202);
  for (const status of ["CREATE_COMPLETE", "UPDATE_IN_PROGRESS"]) {
    await become(status);
    const { resourceVersion } = (await row()).metadata;
    expect((await call("PATCH", patch())).status).toBe(202);
    expect((await row()).metadata.resourceVersion).toBe(resourceVersion);
    expect((await call("GET")).body["status"]).toBe(status);
  }
});

it("a patch with another number of nodes and a report of health is a change with both", async () => {
  await become("UPDATE_IN_PROGRESS");
  const healthy = { op: "replace", path: "/health_status", value: "HEALTHY" };
  const patch = [{ op: "replace", path: "/node_count", value: 3 }, healthy];
  expect((await call("PATCH", patch)).status).toBe(400);
  await become("UPDATE_COMPLETE");
  expect((await call("PATCH", patch)).status).toBe(202);
  expect((await call("GET")).body).toMatchObject({
    status: "UPDATE_IN_PROGRESS",
    node_count: 3,
    health_status: "HEALTHY",
  });
});
