/** Attributes and names in the forms that clients send: removed, encoded, and to sort by. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { openStage, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
let path: string;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
  path = await completeCluster();
});
afterAll(() => stage.close());

const call = (method: string, to: string, body?: unknown, version?: string): Promise<Reply> =>
  stage.call("demo", method, to, { body, version });
const template = { coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" };

/** The path of a cluster of three nodes, in the state in which its controller leaves it. */
async function completeCluster(): Promise<string> {
  const made = await call("POST", "/v1/clustertemplates", template);
  const { body } = await call("POST", "/v1/clusters", { cluster_template_id: made.body["uuid"], node_count: 3 });
  return `/v1/clusters/${String(body["uuid"])}`;
}

/** As its controller, says that the cluster is as it is to be. */
async function complete(): Promise<void> {
  const labelSelector = `magnum.causeway.dev/uuid=${path.split("/").at(-1) ?? ""}`;
  const [row] = (await stage.client.list(MagnumCluster, { labelSelector })).items;
  if (row === undefined) throw new Error("the cluster was not written");
  const { namespace = "", name, generation: observedGeneration } = row.metadata;
  const status = { status: "UPDATE_COMPLETE", created: true, apiAddress: "https://203.0.113.1:6443" };
  const merge = { type: "merge", body: { status: { ...status, observedGeneration } } } as const;
  await stage.client.patch(MagnumCluster, { namespace, name }, merge, { subresource: "status" });
  await expect.poll(async () => (await call("GET", path)).body["status"]).toBe("UPDATE_COMPLETE");
}

const remove = (field: string) => [{ op: "remove", path: `/${field}` }];

it("a removed node_count is 1, at a microversion without zero nodes, too", async () => {
  for (const version of ["1.13", "1.9"]) {
    await complete();
    expect((await call("PATCH", path, [{ op: "replace", path: "/node_count", value: 3 }])).status).toBe(202);
    await complete();
    expect((await call("PATCH", path, remove("node_count"), version)).status).toBe(202);
    expect((await call("GET", path)).body["node_count"]).toBe(1);
  }
});

it.each<[string, number]>([
  ["create_timeout", 202],
  ["master_count", 202],
  ["keypair", 202],
  ["flavor_id", 400],
  ["name", 400],
])("a removed %s, which cannot change, gets %i: whether it is the default decides", async (field, status) => {
  await complete();
  expect((await call("PATCH", path, remove(field))).status).toBe(status);
});

it("removed bounds, labels and taints of a node group are as those of a new one", async () => {
  await complete();
  const given = { min_node_count: 1, max_node_count: 4, node_labels: { a: "b" }, node_count: 2 };
  expect((await call("POST", `${path}/nodegroups`, { name: "more", ...given })).status).toBe(202);
  for (const field of ["min_node_count", "max_node_count", "node_labels", "node_taints"]) {
    await complete();
    expect([field, (await call("PATCH", `${path}/nodegroups/more`, remove(field))).status]).toEqual([field, 202]);
  }
  const { body } = await call("GET", `${path}/nodegroups/more`);
  expect(body).toMatchObject({ min_node_count: 0, max_node_count: null, node_labels: {}, node_taints: [] });
});

/** Labels whose names have 100 characters. */
const labelsOf = (count: number, value: (index: number) => string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const key = `${"p".repeat(40)}.io/${"k".repeat(53)}${String(index).padStart(3, "0")}`;
      return [key, value(index)];
    }),
  );
const whole = labelsOf(64, () => "v".repeat(28));

it.each<[string, Readonly<Record<string, string>>, number]>([
  ["64 node labels of 8,192 characters", whole, 202],
  ["a character more than that", labelsOf(64, (index) => "v".repeat(index === 0 ? 29 : 28)), 409],
  ["65 node labels", labelsOf(65, () => ""), 409],
])("a node group with %s", async (title, node_labels, expected) => {
  await complete();
  const name = `labels-${title.length}`;
  const made = await call("POST", `${path}/nodegroups`, { name, node_labels });
  await complete();
  const patch = [{ op: "replace", path: "/node_labels", value: node_labels }];
  const changed = await call("PATCH", `${path}/nodegroups/default-worker`, patch);
  expect([made.status, changed.status]).toEqual([expected, expected]);
  const limit = "has at most 64 node labels, of 8192 characters together; remove some";
  if (expected !== 202) for (const { body } of [made, changed]) expect(JSON.stringify(body)).toContain(limit);
});

it.each<[string, number]>([
  ["1.9", 400],
  ["1.10", 202],
])("a node group without nodes at microversion %s gets %i", async (version, status) => {
  await complete();
  const body = { name: `zero-${version.replace(".", "-")}`, node_count: 0 };
  expect((await call("POST", `${path}/nodegroups`, body, version)).status).toBe(status);
});

it("a node group whose name has a slash and a space is reached by its encoded name", async () => {
  await complete();
  const name = "pool a/b";
  expect((await call("POST", `${path}/nodegroups`, { name })).status).toBe(202);
  await complete();
  const own = `${path}/nodegroups/${encodeURIComponent(name)}`;
  const shown = await call("GET", own);
  expect([shown.status, shown.body["name"]]).toEqual([200, name]);
  expect((await call("GET", `${path}/nodegroups/pool%20a/b`)).status).toBe(404);
  expect((await call("GET", `${path}/nodegroups/%`)).status).toBe(404);
  expect((await call("DELETE", own)).status).toBe(204);
});

const clusterKeys = ["docker_volume_size", "coe_version", "master_flavor_id", "status_reason", "api_address"];
const templateKeys = ["apiserver_port", "network_driver", "master_lb_enabled", "user_id", "tags"];
it.each([...clusterKeys.map((key) => ["clusters", key]), ...templateKeys.map((key) => ["clustertemplates", key])])(
  "%s are sorted by %s, as upstream's table has it",
  async (what, key) => expect((await call("GET", `/v1/${what}?sort_key=${key}`)).status).toBe(200),
);
