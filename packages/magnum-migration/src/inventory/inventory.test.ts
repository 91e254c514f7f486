import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { leftoversOf } from "../phases/retire/plan.ts";
import { inventoryOf } from "./inventory.ts";
import type { ClusterFacts } from "./read.ts";

const resource = (name: string, type: string, id: string, parent = "") => ({
  resource_name: name,
  resource_type: type,
  physical_resource_id: id,
  parent_resource: parent,
});
const resources = [
  resource("kube_masters", "OS::Heat::ResourceGroup", "g1"),
  resource("kube_minions", "OS::Heat::ResourceGroup", "g2"),
  resource("kube-master", "OS::Nova::Server", "s1", "0"),
  resource("kube-minion", "OS::Nova::Server", "s2", "0"),
  resource("loadbalancer", "OS::Octavia::LoadBalancer", "lb", "api_lb"),
];
const port = (device_id: string) => ({
  id: `p-${device_id}`,
  device_id,
  network_id: "n",
  fixed_ips: [{ subnet_id: "sub", ip_address: "10.0.0.4" }],
});
const server = (id: string) => ({ id, name: id, status: "ACTIVE", flavor: { id: "f" } });

const facts = {
  cluster: {
    uuid: "u",
    name: "web",
    project_id: "p",
    user_id: "x",
    status: "CREATE_COMPLETE",
    stack_id: "st",
    api_address: "https://192.0.2.5:6443",
    coe_version: "v1.34.4",
    cluster_template_id: "t",
    keypair: null,
    labels: { cert_manager_api: "true" },
  },
  template: { coe: "kubernetes", tls_disabled: false },
  groups: [
    { uuid: "a", name: "default-master", role: "master", node_count: 1, stack_id: "st" },
    {
      uuid: "b",
      name: "default-worker",
      role: "worker",
      node_count: 1,
      is_default: true,
      stack_id: "st",
      image_id: "i",
      labels: {},
    },
  ],
  stacks: [{ id: "st", name: "web-abc", status: "CREATE_COMPLETE", resources }],
  servers: [server("s1"), server("s2")],
  ports: [port("s1"), port("s2")],
  balancers: [
    { balancer: { id: "lb", vip_address: "10.0.0.5", vip_subnet_id: "sub" }, port: 6443, poolId: "pool", members: [] },
  ],
  images: [],
} as unknown as ClusterFacts;

type Json = Readonly<Record<string, unknown>>;
const changed = (changes: Json): ClusterFacts =>
  ({ ...(facts as unknown as Json), ...changes }) as unknown as ClusterFacts;
const cluster = facts.cluster as unknown as Json;

describe("an inventory", () => {
  test("has masters, workers by node group, the API's load balancer and the network", () => {
    const found = inventoryOf(facts);
    expect(found.findings).toEqual([]);
    expect(found).toMatchObject({
      networkId: "n",
      subnetId: "sub",
      masterUuid: "a",
      api: { id: "lb", poolId: "pool" },
    });
    expect(found.masters.map(({ serverId }) => serverId)).toEqual(["s1"]);
    expect(
      found.groups.map(({ name, machines }) => `${name} ${machines.map(({ serverId }) => serverId).join()}`),
    ).toEqual(["default-worker s2"]);
  });

  test.for<[string, Json, string]>([
    ["another coe", { template: { coe: "swarm" } }, "MIGRATE_DRIVER_UNKNOWN"],
    [
      "a stack of another driver",
      { stacks: [{ id: "st", name: "x", status: "CREATE_COMPLETE", resources: resources.slice(2) }] },
      "MIGRATE_DRIVER_UNKNOWN",
    ],
    ["a cluster that failed", { cluster: { ...cluster, status: "UPDATE_FAILED" } }, "MIGRATE_STATUS"],
    [
      "a stack that failed",
      { stacks: [{ id: "st", name: "x", status: "UPDATE_FAILED", resources }] },
      "MIGRATE_STACK_STATUS",
    ],
    ["no stack", { stacks: [] }, "MIGRATE_STACK_STATUS"],
    ["an older Kubernetes", { cluster: { ...cluster, coe_version: "v1.23.3" } }, "MIGRATE_VERSION"],
    ["no TLS", { template: { coe: "kubernetes", tls_disabled: true } }, "MIGRATE_TLS_DISABLED"],
    ["no load balancer", { balancers: [] }, "MIGRATE_NO_LOAD_BALANCER"],
    [
      "flags of the API server",
      { cluster: { ...cluster, labels: { kubeapi_options: "--anonymous-auth=true" } } },
      "MIGRATE_LABEL_REFUSED",
    ],
    [
      "a server that is off",
      { servers: [{ ...server("s1"), status: "SHUTOFF" }, server("s2")] },
      "MIGRATE_SERVER_NOT_ACTIVE",
    ],
    ["a worker that is missing", { servers: [server("s1")] }, "MIGRATE_COUNT_DIFFERS"],
  ])("is blocked by %s", ([, changes, code]) => {
    const found = inventoryOf(changed(changes)).findings.filter(({ blocks }) => blocks);
    expect(found.map((finding) => finding.code)).toContain(code);
  });

  test("notes that new nodes cannot be made of the image that Heat's have", () => {
    const image = { id: "i", name: "fcos", status: "active", os_distro: "fedora-coreos" };
    const noted = (found: readonly object[]) => inventoryOf(changed({ images: [{ ident: "i", found }] })).findings;
    expect(noted([image])).toMatchObject([
      {
        code: "MIGRATE_NODE_IMAGE_UNFIT",
        message: expect.stringMatching(/^Cluster web: node group default-worker: .*fcos.*--node-image/) as string,
        blocks: false,
      },
    ]);
    expect(noted([])).toMatchObject([{ code: "MIGRATE_NODE_IMAGE_UNKNOWN", blocks: false }]);
    expect(noted([{ ...image, os_distro: "ubuntu" }])).toEqual([]);
  });

  test.each([undefined, "false", "yes"])("notes that import needs the CA's key with cert_manager_api %s", (value) => {
    const labels = value === undefined ? {} : { cert_manager_api: value };
    expect(inventoryOf(changed({ cluster: { ...cluster, labels } })).findings).toMatchObject([
      { code: "MIGRATE_CA_KEY_NEEDED", message: expect.stringContaining("--ca-key FILE") as string, blocks: false },
    ]);
  });
  test("notes that another program heals afterwards", () => {
    const labels = { auto_healing_enabled: "true", cert_manager_api: "True" };
    const { findings } = inventoryOf(changed({ cluster: { ...cluster, labels } }));
    expect(findings).toMatchObject([{ code: "MIGRATE_AUTO_HEALING", blocks: false }]);
  });
});

describe("the shape of stacks as Magnum's driver made them on a real cloud", () => {
  interface Row {
    readonly parent: string;
    readonly name: string;
    readonly type: string;
  }
  const file = new URL("../testing/recorded-driver.json", import.meta.url);
  const rows = JSON.parse(readFileSync(file, "utf8")) as readonly Row[];
  const found = inventoryOf({
    ...facts,
    stacks: [
      {
        id: "st",
        name: "web-abc",
        status: "CREATE_COMPLETE",
        resources: rows.map(({ parent, name, type }) => resource(name, type, `${parent}/${name}`, parent)),
      },
    ],
    servers: [server("N/kube-master")],
    ports: [port("N/kube-master")],
    balancers: ["api_lb", "etcd_lb"].map((of, index) => ({
      balancer: { id: `${of}/loadbalancer`, vip_address: `10.0.0.${index + 5}`, vip_subnet_id: "sub" },
      port: 6443,
      poolId: of,
      members: [],
    })),
  } as unknown as ClusterFacts);

  test("has masters and both load balancers, by the driver's own resource types", () => {
    expect(found.masters.map(({ serverId }) => serverId)).toEqual(["N/kube-master"]);
    expect([found.api?.id, found.etcd?.id]).toEqual(["api_lb/loadbalancer", "etcd_lb/loadbalancer"]);
    expect(found.findings.map(({ code }) => code)).toEqual(["MIGRATE_COUNT_DIFFERS"]);
  });

  test("has masters' servers, addresses, ports, volumes and groups to retire, and no more", () => {
    const all = () => true;
    expect(leftoversOf(found, all, all).map(({ id }) => id)).toEqual([
      "N/kube-master",
      "N/kube_master_floating",
      "etcd_lb/loadbalancer",
      "N/kube_master_eth0",
      "N/docker_volume",
      "N/etcd_volume",
      "/master_nodes_server_group",
      "/secgroup_kube_master",
    ]);
  });
});

test.for(["DELETE_COMPLETE", "UPDATE_FAILED", "CHECK_IN_PROGRESS"])("a stack in %s blocks", (status) => {
  const [stack] = facts.stacks;
  const { findings } = inventoryOf({ ...facts, stacks: [{ ...stack, status }] } as unknown as ClusterFacts);
  expect(findings.map(({ code }) => code)).toContain("MIGRATE_STACK_STATUS");
});
