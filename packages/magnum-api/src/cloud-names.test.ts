/** What requests name in the caller's cloud is looked up before they are accepted. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster, MagnumClusterTemplate } from "@causeway/api";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { Simulator } from "@causeway/simulator";
import { openStage, type Json, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

const textIn = (body: Json, name: string): string => String(body[name] as string);
const listIn = (body: Json, name: string) => body[name] as readonly Json[];
/** The words of a refusal. */
const detailOf = ({ body }: Reply): string => textIn(listIn(body, "errors")[0] ?? {}, "detail");

let stage: Stage;
let client: KubernetesClient;
let simulator: Simulator;

beforeAll(async () => {
  stage = await openStage();
  ({ client, simulator } = stage);
});
afterAll(() => stage.close());

type Call = readonly [who: string, method: string, path: string, body?: unknown];
const call = (...[who, method, path, body]: Call): Promise<Reply> => stage.call(who, method, path, { body });

const template = {
  name: "small",
  coe: "kubernetes",
  image_id: "cirros",
  flavor_id: "m1.small",
  external_network_id: "public",
};

async function newTemplate(more: object = {}): Promise<string> {
  const { status, body } = await call("demo", "POST", "/v1/clustertemplates", {
    ...template,
    ...more,
  });
  expect(status).toBe(201);
  return textIn(body, "uuid");
}

async function newCluster(more: object = {}): Promise<string> {
  const { status, body } = await call("demo", "POST", "/v1/clusters", {
    cluster_template_id: await newTemplate(),
    ...more,
  });
  expect([status, body]).toEqual([202, { uuid: expect.any(String) }]);
  return textIn(body, "uuid");
}

async function endpointOf(type: string): Promise<string> {
  const response = await fetch(`${simulator.authUrl}/auth/catalog`, {
    headers: { "x-auth-token": stage.tokens.get("admin") ?? "" },
  });
  const { catalog } = (await response.json()) as {
    catalog: { type: string; endpoints: { interface: string; url: string }[] }[];
  };
  const found = catalog.find((one) => one.type === type)?.endpoints.find((one) => one.interface === "public");
  return found?.url ?? "";
}

async function newNetwork(who: string): Promise<string> {
  const response = await fetch(`${await endpointOf("network")}/v2.0/networks`, {
    method: "POST",
    headers: { "x-auth-token": stage.tokens.get(who) ?? "", "content-type": "application/json" },
    body: JSON.stringify({ network: { name: `of-${who}` } }),
  });
  const { network } = (await response.json()) as { network: { id: string } };
  return network.id;
}

it("clusters refuse names that are not in the caller's cloud, in Magnum's words", async () => {
  const cluster = { cluster_template_id: await newTemplate() };
  const flavor = { name: "diskless", ram: 512, vcpus: 1, disk: 0, id: "diskless" };
  const made = await fetch(`${await endpointOf("compute")}/flavors`, {
    method: "POST",
    headers: { "x-auth-token": stage.tokens.get("admin") ?? "", "content-type": "application/json" },
    body: JSON.stringify({ flavor }),
  });
  expect(made.status).toBe(200);
  const network = await newNetwork("alt");
  const own = await newNetwork("demo");
  const cases: readonly [object, string][] = [
    [{ flavor_id: "nope" }, "Unable to find flavor nope."],
    [{ keypair: "nope" }, "Unable to find keypair nope."],
    [{ fixed_network: "nope" }, "Unable to find fixed network nope."],
    [{ fixed_network: network }, `Unable to find fixed network ${network}.`],
    [{ fixed_network: own, fixed_subnet: "nope" }, "Unable to find fixed subnet nope."],
    [{ flavor_id: "diskless" }, "Flavor with zero root volume size is not supported when boot_volume_size is zero."],
  ];
  for (const [more, detail] of cases) {
    const answer = await call("demo", "POST", "/v1/clusters", { ...cluster, ...more });
    expect(detailOf(answer)).toBe(detail);
  }
  const fits = { flavor_id: "diskless", labels: { boot_volume_size: "10" }, fixed_network: own };
  expect((await call("demo", "POST", "/v1/clusters", { ...cluster, ...fits })).status).toBe(202);
});

it("clusters refuse a subnet of their nodes that overlaps the networks of pods or services", async () => {
  const cluster = { cluster_template_id: await newTemplate() };
  const fixed_network = await newNetwork("demo");
  const subnets = `${await endpointOf("network")}/v2.0/subnets`;
  const newSubnet = async (name: string, cidr: string): Promise<void> => {
    const made = await fetch(subnets, {
      method: "POST",
      headers: { "x-auth-token": stage.tokens.get("demo") ?? "", "content-type": "application/json" },
      body: JSON.stringify({ subnet: { network_id: fixed_network, name, ip_version: 4, cidr } }),
    });
    expect(made.status).toBe(201);
  };
  const create = (more: object) => call("demo", "POST", "/v1/clusters", { ...cluster, fixed_network, ...more });
  await newSubnet("inner", "10.100.7.0/24");
  const pods = "calico_ipv4pool=10.100.0.0/16 (the default)";
  // Without a name it is the only one of the network.
  for (const [more, named] of [
    [{ fixed_subnet: "inner" }, "fixed_subnet inner"],
    [{}, `fixed_network ${fixed_network}`],
  ] as const) {
    const refused = await create(more);
    const detail = `The networks of nodes and pods overlap: ${named} with 10.100.7.0/24 and ${pods}.`;
    expect([refused.status, detailOf(refused)]).toEqual([400, detail]);
  }
  expect((await create({ labels: { flannel_network_cidr: "10.42.0.0/16" } })).status).toBe(202);
  await newSubnet("served", "10.254.9.0/24");
  const services = await create({ fixed_subnet: "served" });
  expect([services.status, detailOf(services)]).toEqual([400, expect.stringContaining("nodes and services overlap")]);
});

it("clusters refuse a node group and an upgrade that name what is not there", async () => {
  const uuid = await newCluster({ master_lb_enabled: true });
  const [row] = (await client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` })).items;
  if (row === undefined) throw new Error("the row is not there");
  const key = { namespace: row.metadata.namespace ?? "", name: row.metadata.name };
  // The controller has nothing that would make it complete here.
  const asComplete = async (): Promise<void> => {
    const { metadata } = await client.get(MagnumCluster, key);
    const status = { status: "CREATE_COMPLETE", created: true, apiAddress: "https://203.0.113.1:6443" };
    const body = { status: { ...status, observedGeneration: metadata.generation } };
    await client.patch(MagnumCluster, key, { type: "merge", body }, { subresource: "status" });
  };
  const path = `/v1/clusters/${uuid}`;
  const expectRefusal = async (under: string, body: object, status: number, detail: string): Promise<void> => {
    await expect
      .poll(async () => {
        await asComplete();
        const answer = await call("demo", "POST", `${path}/${under}`, body);
        return [answer.status, detailOf(answer)];
      })
      .toEqual([status, detail]);
  };
  await expectRefusal("nodegroups", { name: "g", image_id: "nope" }, 400, "Image nope could not be found.");
  await expectRefusal("nodegroups", { name: "g", flavor_id: "nope" }, 400, "Unable to find flavor nope.");
  const resize = { node_count: 2, nodegroup: "default-master" };
  const even = "master nodegroup size of 2 is invalid, size cannot be an even number.";
  await expectRefusal("actions/resize", resize, 400, even);
  const template = await newTemplate();
  const [standing] = (
    await client.list(MagnumClusterTemplate, { labelSelector: `magnum.causeway.dev/uuid=${template}` })
  ).items;
  const patch = { spec: { template: { imageID: "gone" } } };
  await client.patch(
    MagnumClusterTemplate,
    { namespace: standing?.metadata.namespace ?? "", name: template },
    { type: "merge", body: patch },
  );
  await expectRefusal(
    "actions/upgrade",
    { cluster_template: template },
    409,
    "Cluster Template is not valid for upgrade: Image gone could not be found.",
  );
  await asComplete();
  await expect
    .poll(async () => {
      await asComplete();
      return (await call("demo", "POST", `${path}/actions/resize`, { ...resize, node_count: 3 })).status;
    })
    .toBe(202);
  expect((await call("demo", "GET", path)).body["master_count"]).toBe(3);
});

it("the driver of a template is the one that it names, or its image, or the default; an unknown one is refused", async () => {
  const image = async (name: string, magnum_driver: string): Promise<void> => {
    const made = await fetch(`${await endpointOf("image")}/v2/images`, {
      method: "POST",
      headers: { "x-auth-token": stage.tokens.get("demo") ?? "", "content-type": "application/json" },
      body: JSON.stringify({ name, os_distro: "ubuntu", magnum_driver }),
    });
    expect(made.status).toBe(201);
  };
  await image("of-capi", "k8s_cluster_api_ubuntu");
  await image("of-nope", "nope");
  const made = (more: object) => call("demo", "POST", "/v1/clustertemplates", { ...template, ...more });
  const known: readonly [object, string][] = [
    [{}, "k8s_causeway"],
    [{ image_id: "of-capi" }, "k8s_cluster_api_ubuntu"],
    [{ image_id: "of-capi", driver: "k8s_fedora_coreos_v1" }, "k8s_fedora_coreos_v1"],
  ];
  for (const [more, driver] of known) expect((await made(more)).body["driver"]).toBe(driver);
  for (const more of [{ driver: "nope" }, { image_id: "of-nope" }])
    expect(detailOf(await made(more))).toBe("Cluster driver nope not supported.");
  const path = `/v1/clustertemplates/${await newTemplate()}`;
  const patch = (operation: object) => call("demo", "PATCH", path, [operation]);
  const refused = await patch({ op: "replace", path: "/driver", value: "nope" });
  expect([refused.status, detailOf(refused)]).toEqual([400, "Cluster driver nope not supported."]);
  const changed = await patch({ op: "replace", path: "/driver", value: "k8s_capi_helm_v1" });
  expect(changed.body["driver"]).toBe("k8s_capi_helm_v1");
  expect((await patch({ op: "remove", path: "/driver" })).body["driver"]).toBe("k8s_causeway");
});
