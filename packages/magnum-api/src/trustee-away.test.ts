/** The account that makes users of clusters fails while clusters are created, and no process leads. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
let admin: Cloud;
let template: unknown;

beforeAll(async () => {
  stage = await openStage({
    isFollower: true,
    trustees: (text) => ({
      account: {
        ...loadCloudsYaml({ cloud: "simulator-admin", text }),
        auth: { type: "password", username: "admin", userDomain: { id: "default" }, password: "an old one" },
      },
      domain: "clusters",
      roles: ["member"],
    }),
  });
  admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text: stage.simulator.cloudsYaml }));
  await admin.identity.domains.create({ name: "clusters" });
  const body = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
  const made = await stage.call("demo", "POST", "/v1/clustertemplates", {
    body: { ...body, external_network_id: "public" },
  });
  template = made.body["uuid"];
});
afterAll(async () => {
  await admin.close();
  await stage.close();
});

it("a create that fails as the account of trustees does leaves no row that counts in the quota", async () => {
  const [project] = await admin.identity.projects.all({ name: "demo" });
  const quota = { project_id: project?.id, resource: "Cluster", hard_limit: 1 };
  expect((await stage.call("admin", "POST", "/v1/quotas", { body: quota })).status).toBe(201);
  const body = { name: "c", cluster_template_id: template };
  const create = async () => (await stage.call("demo", "POST", "/v1/clusters", { body })).status;
  const statuses = [await create(), await create()];
  expect((await stage.client.list(MagnumCluster)).items).toEqual([]);
  // A quota that is used up is 403.
  expect(statuses[1]).toBe(statuses[0]);
  expect(statuses[0]).toBeGreaterThanOrEqual(500);
  expect((await stage.call("demo", "DELETE", `/v1/clustertemplates/${String(template)}`)).status).toBe(204);
});
