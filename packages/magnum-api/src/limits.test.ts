/** What one project may have, so that it does not fill the management cluster. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MagnumCluster, MagnumClusterTemplate } from "@causeway/api";
import { openStage, type Json, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

const listIn = (body: Json, name: string) => body[name] as readonly Json[];
/** What clients print of a refusal. */
const titleOf = ({ body }: Reply): string => String(listIn(body, "errors")[0]?.["title"]);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ maxTemplates: 4, maxNodes: 10, isFollower: true });
});
afterAll(() => stage.close());

const call = (method: string, path: string, body?: unknown, who = "demo"): Promise<Reply> =>
  stage.call(who, method, path, { body });
const templates = "/v1/clustertemplates";
const template = {
  name: "small",
  coe: "kubernetes",
  image_id: "cirros",
  flavor_id: "m1.small",
  external_network_id: "public",
};

describe("templates of a project", () => {
  it("are limited, at once for requests at the same time, and a deleted one makes room", async () => {
    const answers = await Promise.all(Array.from({ length: 7 }, () => call("POST", templates, template)));
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 403);
    expect([made.length, refused.length]).toEqual([4, 3]);
    for (const each of refused)
      expect(titleOf(each)).toBe(
        "Resource limit exceeded: You have reached the maximum cluster templates per project, 4",
      );
    expect((await stage.client.list(MagnumClusterTemplate)).items).toHaveLength(4);
    expect((await call("POST", templates, template, "alt")).status).toBe(201);
    for (const { body } of made)
      expect((await call("DELETE", `${templates}/${String(body["uuid"])}`)).status).toBe(204);
    expect((await call("POST", templates, template)).status).toBe(201);
  });
});

describe("labels of one object", () => {
  const large = Object.fromEntries([1, 2, 3].map((at) => [`note${at}`, "x".repeat(12_000)]));
  const why = "labels are refused: together they have 36015 bytes, and at most 32768 are accepted";

  it("have at most 32 KiB together, those of the template included", async () => {
    const reply = await call("POST", templates, { ...template, labels: large });
    expect([reply.status, titleOf(reply)]).toEqual([400, why]);
    expect((await call("POST", templates, { ...template, labels: large }, "reader")).status).toBe(403);
    const { note1, ...rest } = large;
    const made = await call("POST", templates, { ...template, labels: rest });
    expect(made.status).toBe(201);
    const path = `${templates}/${String(made.body["uuid"])}`;
    const patched = await call("PATCH", path, [{ op: "add", path: "/labels/note1", value: note1 }]);
    expect([patched.status, titleOf(patched)]).toEqual([400, why]);
    const create = (more: object) => call("POST", "/v1/clusters", { cluster_template_id: made.body["uuid"], ...more });
    const merged = await create({ labels: { note1 }, merge_labels: true });
    expect([merged.status, titleOf(merged)]).toEqual([400, why]);
    expect((await create({ labels: { note1 } })).status).toBe(202);
  });
});

describe("nodes of a project", () => {
  const clusters = "/v1/clusters";
  const alt = (method: string, path: string, body?: unknown) => call(method, path, body, "alt");
  const reached = (here: number | string, others: number) =>
    `Resource limit exceeded: You have reached the maximum nodes per project, 10: this cluster would have ${here}, and the others have ${others}`;

  async function rowOf(uuid: string): Promise<MagnumCluster> {
    const { items } = await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
    if (items[0] === undefined) throw new Error("the cluster was not written");
    return items[0];
  }

  /** Completes the cluster, as its controller would, and changes it. */
  async function change(uuid: string, method: string, path: string, body?: unknown): Promise<Reply> {
    const { namespace = "", name, generation: observedGeneration } = (await rowOf(uuid)).metadata;
    const status = { status: "CREATE_COMPLETE", created: true, observedGeneration, apiAddress: "https://x" };
    const merge = { type: "merge", body: { status } } as const;
    await stage.client.patch(MagnumCluster, { namespace, name }, merge, { subresource: "status" });
    return alt(method, `${clusters}/${uuid}${path}`, body);
  }

  /** What the controller does when the nodes of deleted groups are gone. */
  async function removeDeleted(uuid: string): Promise<void> {
    const { metadata, spec } = await rowOf(uuid);
    const nodeGroups = spec.nodeGroups.filter(({ deletedAt }) => deletedAt === undefined);
    const merge = { type: "merge", body: { spec: { nodeGroups } } } as const;
    await stage.client.patch(MagnumCluster, { namespace: metadata.namespace ?? "", name: metadata.name }, merge);
  }

  it("are limited over all clusters and node groups, whichever request adds them", async () => {
    const { body } = await alt("GET", templates);
    const cluster_template_id = listIn(body, "clustertemplates")[0]?.["uuid"];
    const create = (node_count: number, labels = {}) =>
      alt("POST", clusters, { cluster_template_id, node_count, labels });
    const seen = ({ status, ...reply }: Reply) => (status === 403 ? titleOf({ status, ...reply }) : status);
    expect(seen(await create(11))).toBe(reached(11, 0));
    const answers = await Promise.all([create(4), create(4), create(4)]);
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(2);
    expect(answers.map(seen)).toContain(reached(4, 8));
    const uuid = String(answers.find(({ status }) => status === 202)?.body["uuid"]);
    // An autoscaler may make as many as its bound.
    const scaled = { auto_scaling_enabled: "true", max_node_count: "9" };
    expect(seen(await create(1, scaled))).toBe(reached(9, 8));
    // Its maximum is never below its minimum.
    const least = { auto_scaling_enabled: "true", min_node_count: "9" };
    expect(seen(await create(1, least))).toBe(reached(9, 8));

    const patch = (value: number) => change(uuid, "PATCH", "", [{ op: "replace", path: "/node_count", value }]);
    expect(seen(await patch(7))).toBe(reached(7, 4));
    const resize = (node_count: number) => change(uuid, "POST", "/actions/resize", { node_count });
    expect(seen(await resize(7))).toBe(reached(7, 4));
    expect(seen(await resize(3))).toBe(202);

    const group = { name: "more", node_count: 2, labels: scaled, max_node_count: 3 };
    const addGroup = (more: object) => change(uuid, "POST", "/nodegroups", { ...group, ...more });
    expect(seen(await addGroup({ max_node_count: 4 }))).toBe(reached(7, 4));
    expect(seen(await addGroup({}))).toBe(202);
    const bound = [{ op: "replace", path: "/max_node_count", value: 4 }];
    expect(seen(await change(uuid, "PATCH", "/nodegroups/more", bound))).toBe(reached(7, 4));
    expect(seen(await resize(2))).toBe(202);
    expect(seen(await change(uuid, "PATCH", "/nodegroups/more", bound))).toBe(202);

    // 6 here and 4 in the other cluster: no room for more than one node at a time.
    const upgrade = (max_batch_size: number) =>
      change(uuid, "POST", "/actions/upgrade", { cluster_template: cluster_template_id, max_batch_size });
    expect(seen(await upgrade(1_000))).toBe(reached("7 (1 of them by max_batch_size)", 4));
    expect(seen(await upgrade(1))).toBe(202);
    expect(seen(await change(uuid, "DELETE", "/nodegroups/more"))).toBe(204);
    // The nodes of a deleted group count until they are gone, its maximum does not.
    expect(seen(await resize(5))).toBe(reached(7, 4));
    await removeDeleted(uuid);
    // A group of two has never more than two at once.
    expect(seen(await upgrade(1_000))).toBe(202);
    expect(seen(await resize(4))).toBe(reached("7 (3 of them by max_batch_size)", 4));
    expect(seen(await resize(3))).toBe(202);
  });
});
