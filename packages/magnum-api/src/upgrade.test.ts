/** Upgrades: two of one cluster at the same time, and what they keep of the template that there was. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { openStage, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
});
afterAll(() => stage.close());

const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  stage.call("demo", method, path, { body });

async function newTemplate(kube_tag: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { body } = await call("POST", "/v1/clustertemplates", {
    name: kube_tag,
    coe: "kubernetes",
    image_id: "cirros",
    flavor_id: "m1.small",
    external_network_id: "public",
    labels: { kube_tag },
    ...more,
  });
  return String(body["uuid"]);
}

/**
 * A cluster as its controller leaves it when it is complete, and its row as it is at a time. `version`: in place of the
 * template's, as of a cluster from before newer ones were served.
 */
async function completeCluster(cluster_template_id: string, version?: string) {
  const { body } = await call("POST", "/v1/clusters", { cluster_template_id });
  const uuid = String(body["uuid"]);
  const row = async (): Promise<MagnumCluster> => {
    const { items } = await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
    if (items[0] === undefined) throw new Error("the cluster was not written");
    return items[0];
  };
  if (version !== undefined) {
    const { namespace = "", name } = (await row()).metadata;
    await stage.client.patch(MagnumCluster, { namespace, name }, { type: "merge", body: { spec: { version } } });
  }
  const { namespace = "", name, generation: observedGeneration } = (await row()).metadata;
  const status = { status: "CREATE_COMPLETE", created: true, observedGeneration };
  const merge = { type: "merge", body: { status } } as const;
  await stage.client.patch(MagnumCluster, { namespace, name }, merge, { subresource: "status" });
  return { uuid, row };
}

it("of upgrades at the same time one is accepted, and none takes the version of another back", async () => {
  const from = await newTemplate("v1.34.0");
  const targets = await Promise.all(["v1.34.1", "v1.34.2", "v1.34.3", "v1.34.4"].map((tag) => newTemplate(tag)));
  const { uuid, row } = await completeCluster(from);
  const replies = await Promise.all(
    targets.map((cluster_template) => call("POST", `/v1/clusters/${uuid}/actions/upgrade`, { cluster_template })),
  );
  const accepted = replies.flatMap(({ status: each }, at) => (each === 202 ? [targets[at]] : []));
  expect(replies.map(({ status: each }) => each).toSorted((a, b) => a - b)).toEqual([202, 400, 400, 400]);
  const { templateUUID, version } = (await row()).spec;
  expect([templateUUID]).toEqual(accepted);
  expect(version).toBe(`v1.34.${targets.indexOf(templateUUID) + 1}`);
});

it("an upgrade takes the new template's image and version, and keeps the cluster's network and machines", async () => {
  const from = { http_proxy: "http://a:3128", no_proxy: "a", insecure_registry: "a:5000", docker_volume_size: 5 };
  const { uuid, row } = await completeCluster(await newTemplate("v1.34.0", { name: "first", ...from }));
  const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml }));
  const [network] = await cloud.network.networks.all({ "router:external": true });
  await cloud.close();
  const to = await newTemplate("v1.34.1", {
    name: "second",
    external_network_id: network?.id,
    dns_nameserver: "1.1.1.1",
    docker_volume_size: 9,
    http_proxy: "http://b:3128",
    https_proxy: "http://b:3128",
    no_proxy: "b",
    insecure_registry: "b:5000",
    tags: "new",
  });
  const reply = await call("POST", `/v1/clusters/${uuid}/actions/upgrade`, { cluster_template: to });
  expect(reply.status).toBe(202);
  const { spec } = await row();
  expect(spec).toMatchObject({ templateUUID: to, version: "v1.34.1", template: { tags: "new" } });
  const { externalNetworkID, dnsNameserver, dockerVolumeSize } = spec.template;
  expect({ externalNetworkID, dnsNameserver, dockerVolumeSize }).toEqual({
    externalNetworkID: "public",
    dnsNameserver: undefined,
    dockerVolumeSize: 5,
  });
  // They are on every node: another one would replace the nodes of all groups.
  const { httpProxy, httpsProxy, noProxy, insecureRegistry } = spec.template;
  expect({ httpProxy, httpsProxy, noProxy, insecureRegistry }).toEqual({
    httpProxy: "http://a:3128",
    httpsProxy: undefined,
    noProxy: "a",
    insecureRegistry: "a:5000",
  });
});

describe("an upgrade that is not one version up", () => {
  const unfit = "Cluster Template is not valid for upgrade: ";
  const back = `${unfit}a control plane cannot be downgraded`;
  const skip = `${unfit}a control plane is upgraded by one minor version at a time`;

  it.each<[string, string, number, string]>([
    ["v1.34.1", "v1.34.0", 409, `${back} (from v1.34.1 to v1.34.0).`],
    ["v1.35.0", "v1.34.9", 409, `${back} (from v1.35.0 to v1.34.9).`],
    ["v1.32.9", "v1.34.0", 409, `${skip} (from v1.32.9 to v1.34.0).`],
    ["v1.34.0", "v1.36.0", 409, `${skip} (from v1.34.0 to v1.36.0).`],
    ["v1.34.0", "v1.33.1", 409, `${back} (from v1.34.0 to v1.33.1).`],
    ["v1.34.0", "v1.35.0", 400, "The version of Kubernetes is not served: label kube_tag=v1.35.0; served: v1.34.x."],
  ])("from %s to %s is refused with %i, and the row remains as it is", async (from, to, status, detail) => {
    const { uuid, row } = await completeCluster(await newTemplate("v1.34.0"), from);
    const before = await row();
    const cluster_template = await newTemplate(to);
    const reply = await call("POST", `/v1/clusters/${uuid}/actions/upgrade`, { cluster_template });
    const errors = reply.body["errors"] as readonly { readonly detail: string }[];
    expect([reply.status, errors[0]?.detail]).toEqual([status, detail]);
    expect((await row()).spec).toEqual(before.spec);
  });
});

it.each([
  ["v1.34.0", "v1.34.1"],
  ["v1.33.9", "v1.34.0"],
])("an upgrade from %s to %s, which leaves out no minor version, is accepted", async (from, to) => {
  const { uuid, row } = await completeCluster(await newTemplate("v1.34.0"), from);
  const cluster_template = await newTemplate(to);
  const reply = await call("POST", `/v1/clusters/${uuid}/actions/upgrade`, { cluster_template });
  expect([reply.status, (await row()).spec.version]).toEqual([202, to]);
});

it.each(["UPDATE_FAILED", "CREATE_FAILED"])("an upgrade in state %s is refused as such", async (state) => {
  const { uuid, row } = await completeCluster(await newTemplate("v1.34.0"));
  const { namespace = "", name } = (await row()).metadata;
  const merge = { type: "merge", body: { status: { status: state } } } as const;
  await stage.client.patch(MagnumCluster, { namespace, name }, merge, { subresource: "status" });
  const cluster_template = await newTemplate("v1.34.1");
  const reply = await call("POST", `/v1/clusters/${uuid}/actions/upgrade`, { cluster_template });
  const [error] = reply.body["errors"] as readonly { readonly title: string; readonly detail: string }[];
  const title = `Upgrading a cluster when status is "${state}" is not supported`;
  expect([reply.status, error?.title]).toEqual([400, title]);
  expect(error?.detail).toBe(
    `${title}. The work on it continues: it is complete when the cause that status_reason names is gone.`,
  );
});
