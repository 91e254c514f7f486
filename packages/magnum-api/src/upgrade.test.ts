/** Two upgrades of one cluster at the same time. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { openStage, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
});
afterAll(() => stage.close());

const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  stage.call("demo", method, path, { body });

async function newTemplate(kube_tag: string): Promise<string> {
  const { body } = await call("POST", "/v1/clustertemplates", {
    name: kube_tag,
    coe: "kubernetes",
    image_id: "cirros",
    flavor_id: "m1.small",
    external_network_id: "public",
    labels: { kube_tag },
  });
  return String(body["uuid"]);
}

it("of upgrades at the same time one is accepted, and none takes the version of another back", async () => {
  const from = await newTemplate("v1.34.0");
  const targets = await Promise.all(["v1.34.1", "v1.34.2", "v1.34.3", "v1.34.4"].map(newTemplate));
  const { body } = await call("POST", "/v1/clusters", { cluster_template_id: from });
  const uuid = String(body["uuid"]);
  const row = async () => {
    const { items } = await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
    if (items[0] === undefined) throw new Error("the cluster was not written");
    return items[0];
  };
  const { namespace = "", name, generation: observedGeneration } = (await row()).metadata;
  // As its controller leaves a complete cluster.
  const status = { status: "CREATE_COMPLETE", created: true, observedGeneration };
  const merge = { type: "merge", body: { status } } as const;
  await stage.client.patch(MagnumCluster, { namespace, name }, merge, { subresource: "status" });
  const replies = await Promise.all(
    targets.map((cluster_template) => call("POST", `/v1/clusters/${uuid}/actions/upgrade`, { cluster_template })),
  );
  const accepted = replies.flatMap(({ status: each }, at) => (each === 202 ? [targets[at]] : []));
  expect(replies.map(({ status: each }) => each).toSorted((a, b) => a - b)).toEqual([202, 400, 400, 400]);
  const { templateUUID, version } = (await row()).spec;
  expect([templateUUID]).toEqual(accepted);
  expect(version).toBe(`v1.34.${targets.indexOf(templateUUID) + 1}`);
});
