/** How large the row of one cluster may become, whatever it is made of: larger objects are refused by API servers. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { reportedHealthOf } from "./resources/reported-health.ts";
import { openStage, type Json, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
});
afterAll(() => stage.close());

const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  stage.call("demo", method, path, { body });
const detailOf = ({ body }: Reply): string => String((body["errors"] as readonly Json[] | undefined)?.[0]?.["detail"]);

/** A complete cluster of a new template. */
async function completeCluster() {
  const template = {
    name: "small",
    coe: "kubernetes",
    image_id: "cirros",
    flavor_id: "m1.small",
    external_network_id: "public",
  };
  const { body } = await call("POST", "/v1/clustertemplates", template);
  const created = await call("POST", "/v1/clusters", { name: "large", cluster_template_id: body["uuid"] });
  const uuid = String(created.body["uuid"]);
  const row = async (): Promise<MagnumCluster> => {
    const { items } = await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
    if (items[0] === undefined) throw new Error("the cluster was not written");
    return items[0];
  };
  const { namespace = "", name, generation: observedGeneration } = (await row()).metadata;
  const status = { status: "CREATE_COMPLETE", created: true, observedGeneration, apiAddress: "https://x" };
  await stage.client.patch(
    MagnumCluster,
    { namespace, name },
    { type: "merge", body: { status } },
    { subresource: "status" },
  );
  return { path: `/v1/clusters/${uuid}`, key: { namespace, name }, row };
}

/** The longest status of a cluster with 100 node groups of 10 nodes each. */
const longestStatus = {
  status: "UPDATE_IN_PROGRESS",
  reason: "r".repeat(4_096),
  nodeGroups: Array.from({ length: 100 }, (_, at) => ({
    uuid: `6e8ae3a5-0b4c-4f0e-9d26-${String(at).padStart(12, "0")}`,
    status: "UPDATE_IN_PROGRESS",
    reason: "r".repeat(4_096),
    readyNodes: 10,
    addresses: Array.from({ length: 10 }, () => "2001:db8:1234:5678:9abc:def0:1234:5678"),
  })),
};

/** Labels that are almost all keys, which an API server keeps twice: in the object and among its managed fields. */
const longKeys = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}-`.padEnd(150, "k"), ""]));

it("node groups are refused with 409 when the row of their cluster would be too large, until there is room", async () => {
  const { path, key, row } = await completeCluster();
  const add = (at: number) =>
    call("POST", `${path}/nodegroups`, { name: `group-${at}`, node_count: 0, labels: longKeys });
  const replies: Reply[] = [];
  while (replies.length < 100 && replies.at(-1)?.status !== 409) {
    const reply = await add(replies.length);
    expect([202, 409]).toContain(reply.status);
    replies.push(reply);
  }
  const refused = replies.at(-1) as Reply;
  expect(detailOf(refused)).toMatch(
    /^Cluster large would have \d+ KiB, and at most 512 are accepted: delete node groups, or give them fewer labels\.$/,
  );
  expect((await row()).spec.nodeGroups).toHaveLength(replies.length);
  expect(Buffer.byteLength(JSON.stringify((await row()).spec))).toBeGreaterThan(480 * 1024);
  const status = { type: "merge", body: { status: longestStatus } } as const;
  await stage.client.patch(MagnumCluster, key, status, { subresource: "status" });
  await stage.client.patch(
    MagnumCluster,
    key,
    { type: "merge", body: { status: { status: "UPDATE_COMPLETE", nodeGroups: [] } } },
    { subresource: "status" },
  );
  // A change that makes it no larger is accepted, a deletion too, and so is the group when another one is gone.
  expect(
    (await call("PATCH", `${path}/nodegroups/group-0`, [{ op: "add", path: "/max_node_count", value: 3 }])).status,
  ).toBe(202);
  expect((await call("DELETE", `${path}/nodegroups/group-1`)).status).toBe(204);
  expect((await add(replies.length)).status).toBe(409);
  const nodeGroups = (await row()).spec.nodeGroups.filter(({ deletedAt }) => deletedAt === undefined);
  await stage.client.patch(MagnumCluster, key, { type: "merge", body: { spec: { nodeGroups } } });
  expect((await add(replies.length)).status).toBe(202);
});

it("the reason of a reported health is cut to 16 KiB", async () => {
  const { path, row } = await completeCluster();
  const reason = Object.fromEntries([1, 2, 3].map((at) => [`node-${at}`, "é".repeat(4_000)]));
  const patch = [
    { op: "replace", path: "/health_status", value: "UNHEALTHY" },
    { op: "replace", path: "/health_status_reason", value: reason },
  ];
  expect((await call("PATCH", path, patch)).status).toBe(202);
  const { status, reason: kept = {} } = reportedHealthOf(await row()) ?? {};
  expect(status).toBe("UNHEALTHY");
  expect(kept["node-1"]).toBe(reason["node-1"]);
  expect(kept["node-2"]).toMatch(/^é{4000}$/);
  expect(kept["node-3"]).toMatch(/^é+…$/);
  const bytes = Object.entries(kept).reduce((sum, [key, text]) => sum + Buffer.byteLength(key + text), 0);
  expect(bytes).toBeLessThanOrEqual(16 * 1024);
  expect(bytes).toBeGreaterThan(16 * 1024 - 8);
});
