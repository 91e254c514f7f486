import { describe, expect, test } from "vitest";
import type { LoadBalancerCreate } from "@causeway/openstack";
import { aFloatingIp } from "../testing/model-parts.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService, aSubnet, tcp80, udp53 } from "../testing/objects.ts";
import type { LoadBalancerConfig } from "../config/config.ts";
import type { Observed } from "./observed.ts";
import { floatingIpDescription, loadBalancerName } from "./parameters/names.ts";
import { plan } from "./plan.ts";
import { groupDescription } from "./security-group/names.ts";

const os = (name: string) => `loadbalancer.openstack.org/${name}`;
const internal = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };
const nodes = [
  aNode("n1", { address: "10.0.0.1" }),
  aNode("n2", { address: "10.0.0.2" }),
  aNode("n3", { address: "10.0.0.3" }),
];
const finalizers = ["service.kubernetes.io/load-balancer-cleanup"];

interface Given {
  readonly spec?: Parameters<typeof aService>[0];
  readonly annotations?: Record<string, string>;
  readonly config?: Partial<LoadBalancerConfig>;
  readonly nodes?: typeof nodes;
  readonly change?: Partial<Observed>;
}

function probe({ spec, annotations, config, nodes: own = nodes, change }: Given = {}): Observed {
  return { ...new ModelWorld(aService(spec, annotations, { finalizers }), own, config).observe(), ...change };
}

function created(given: Given = {}): LoadBalancerCreate {
  const [step] = plan(probe(given), 0).steps;
  if (step?.type !== "create-load-balancer") throw new Error(`${step?.type} instead of a create`);
  return step.body;
}

const reasons = (given: Given) => (plan(probe(given), 0).events ?? []).map((e) => e.reason);
const membersOf = (body: LoadBalancerCreate) => body.listeners?.[0]?.default_pool?.members ?? [];

describe("the create", () => {
  test("has names and descriptions of at most 255 characters, however long the cluster's name is", () => {
    const long = probe();
    const lbName = loadBalancerName("c".repeat(300), long.service);
    const [step] = plan({ ...long, clusterName: "c".repeat(300), lbName }, 0).steps;
    if (step?.type !== "create-load-balancer") throw new Error(`${step?.type} instead of a create`);
    const { name, description, listeners } = step.body;
    const texts = [name, description ?? "", listeners?.[0]?.name ?? "", listeners?.[0]?.default_pool?.name ?? ""];
    expect(texts.map((text) => text.length)).toEqual([255, 255, 255, 255]);
    expect(floatingIpDescription("c".repeat(300), long.service)).toHaveLength(255);
    expect(groupDescription("c".repeat(300), long.service)).toHaveLength(255);
  });

  test("has each tag once, also one that repeats the load balancer's name", () => {
    const body = created({ annotations: { [os("tags")]: "mine,kube_service_c1_default_web,mine" } });
    expect(body.tags?.filter((tag) => tag === "mine")).toEqual(["mine"]);
    expect(new Set(body.tags).size).toBe(body.tags?.length);
    expect(new Set(body.listeners?.[0]?.tags).size).toBe(body.listeners?.[0]?.tags?.length);
  });

  test("carries listeners, pools and members, with the names and tags that other tools know", () => {
    const body = created({ spec: { ports: [tcp80, udp53] } });
    expect(body).toMatchObject({
      name: "kube_service_c1_default_web",
      description: "Kubernetes external service default/web from cluster c1",
      tags: ["kube_service_c1_default_web", "k8s-owner=c1/0b0c-1"],
      vip_subnet_id: "node-subnet",
    });
    const tags = ["kube_service_c1_default_web"];
    expect(body.listeners?.map((l) => [l.name, l.protocol, l.protocol_port, l.tags, l.default_pool?.name])).toEqual([
      ["listener_0_kube_service_c1_default_web", "TCP", 80, tags, "pool_0_kube_service_c1_default_web"],
      ["listener_1_kube_service_c1_default_web", "UDP", 53, tags, "pool_1_kube_service_c1_default_web"],
    ]);
    expect(membersOf(body)).toEqual(
      nodes.map((n, i) => ({
        name: n.metadata.name,
        address: `10.0.0.${i + 1}`,
        protocol_port: 30080,
        subnet_id: "node-subnet",
      })),
    );
  });

  test.each<[string, Given, Partial<LoadBalancerCreate>]>([
    [
      "a subnet annotation",
      { annotations: { [os("subnet-id")]: "a" }, config: { subnetId: "c" } },
      { vip_subnet_id: "a" },
    ],
    ["a network in cloud.conf", { config: { networkId: "n" } }, { vip_network_id: "n" }],
    [
      "a network annotation before cloud.conf's subnet",
      { annotations: { [os("network-id")]: "n" }, config: { subnetId: "c" } },
      { vip_network_id: "n" },
    ],
    ["a port", { annotations: { [os("port-id")]: "p" }, config: { subnetId: "c" } }, { vip_port_id: "p" }],
    [
      "an internal address",
      { annotations: internal, spec: { loadBalancerIP: "10.0.0.9" } },
      { vip_subnet_id: "node-subnet", vip_address: "10.0.0.9" },
    ],
    ["an external address", { spec: { loadBalancerIP: "172.24.4.9" } }, { vip_subnet_id: "node-subnet" }],
  ])("is placed by %s", (_what, given, expected) => {
    const body = created(given);
    const { vip_subnet_id, vip_network_id, vip_port_id, vip_address } = body;
    expect(JSON.parse(JSON.stringify({ vip_subnet_id, vip_network_id, vip_port_id, vip_address }))).toEqual(expected);
  });

  test("puts members into the member subnet, else the VIP's, else the nodes'", () => {
    const subnet = (given: Given) => membersOf(created(given))[0]?.subnet_id;
    expect(subnet({ annotations: { [os("member-subnet-id")]: "m", [os("subnet-id")]: "a" } })).toBe("m");
    expect(subnet({ annotations: { [os("subnet-id")]: "a" }, config: { subnetId: "c" } })).toBe("a");
    expect(subnet({ config: { memberSubnetId: "m", subnetId: "c" } })).toBe("m");
    expect(subnet({})).toBe("node-subnet");
  });

  test("for OVN has its one algorithm and none of what it refuses", () => {
    const given: Given = {
      config: { provider: "ovn", flavorId: "f", availabilityZone: "z", createMonitor: true, method: "ROUND_ROBIN" },
      spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] },
    };
    const body = created(given);
    expect(body.provider).toBe("ovn");
    expect(body).not.toHaveProperty("flavor_id");
    expect(body).not.toHaveProperty("availability_zone");
    const [listener] = body.listeners ?? [];
    expect(listener).not.toHaveProperty("allowed_cidrs");
    expect(listener).not.toHaveProperty("timeout_client_data");
    expect(listener?.default_pool).not.toHaveProperty("healthmonitor");
    expect(listener?.default_pool?.lb_algorithm).toBe("SOURCE_IP_PORT");
    expect(reasons(given)).toEqual([
      "EnsuringLoadBalancer",
      "LoadBalancerSourceRangesIgnored",
      "LoadBalancerAvailabilityZonesIgnored",
      "LoadBalancerFlavorIgnored",
    ]);
  });

  test("for amphora has all of them, with the monitor inside", () => {
    const body = created({
      config: { provider: "amphora", flavorId: "f", createMonitor: true },
      annotations: { [os("availability-zone")]: "z", [os("health-monitor-delay")]: "9" },
      spec: { loadBalancerSourceRanges: ["10.0.0.0/8"], sessionAffinity: "ClientIP" },
    });
    expect(body).toMatchObject({ flavor_id: "f", availability_zone: "z" });
    expect(body.listeners?.[0]).toMatchObject({
      allowed_cidrs: ["10.0.0.0/8"],
      timeout_client_data: 50_000,
      default_pool: {
        lb_algorithm: "ROUND_ROBIN",
        session_persistence: { type: "SOURCE_IP" },
        healthmonitor: { type: "TCP", delay: 9, timeout: 3, max_retries: 1, max_retries_down: 3 },
      },
    });
  });

  test("asks the health check port of nodes where traffic is local", () => {
    const body = created({
      config: { createMonitor: true },
      spec: { externalTrafficPolicy: "Local", healthCheckNodePort: 32_000 },
    });
    expect(body.listeners?.[0]?.default_pool?.healthmonitor).toMatchObject({ type: "HTTP", url_path: "/healthz" });
    expect(membersOf(body)[0]?.monitor_port).toBe(32_000);
  });

  test("is never silent about local traffic that nothing checks", () => {
    const spec = { externalTrafficPolicy: "Local" as const, healthCheckNodePort: 32_000 };
    expect(reasons({ spec })).toContain("LoadBalancerLocalTrafficUnchecked");
    expect(reasons({ spec, config: { createMonitor: true } })).not.toContain("LoadBalancerLocalTrafficUnchecked");
    const ovn = { provider: "ovn", createMonitor: true };
    expect(reasons({ spec, config: ovn })).toContain("LoadBalancerLocalTrafficUnchecked");
  });

  test.each<[string, Given, unknown]>([
    [
      "TCP and UDP of one number side by side",
      { spec: { ports: [tcp80, { ...udp53, port: 80 }] } },
      [
        ["TCP", "TCP"],
        ["UDP", "UDP"],
      ],
    ],
    ["HTTP for X-Forwarded-For", { annotations: { [os("x-forwarded-for")]: "true" } }, [["HTTP", "HTTP"]]],
    [
      "PROXY on TCP only",
      { annotations: { [os("proxy-protocol")]: "true" }, spec: { ports: [tcp80, udp53] } },
      [
        ["TCP", "PROXY"],
        ["UDP", "UDP"],
      ],
    ],
    ["PROXY version 2", { annotations: { [os("proxy-protocol")]: "v2" } }, [["TCP", "PROXYV2"]]],
    [
      "TLS that ends there",
      { annotations: { [os("default-tls-container-ref")]: "ref" } },
      [["TERMINATED_HTTPS", "HTTP"]],
    ],
    ["SCTP", { spec: { ports: [{ ...tcp80, protocol: "SCTP" }] } }, [["SCTP", "SCTP"]]],
    ["a boolean that is none as the default", { annotations: { [os("x-forwarded-for")]: "yes" } }, [["TCP", "TCP"]]],
  ])("has %s", (_what, given, expected) => {
    expect(created(given).listeners?.map((l) => [l.protocol, l.default_pool?.protocol])).toEqual(expected);
  });
});

describe("members of a Service's pool", () => {
  test.each<[string, Given, string[]]>([
    ["of all nodes", {}, ["n1", "n2", "n3"]],
    [
      "not of one that is excluded",
      {
        nodes: [
          ...nodes,
          aNode("x", {
            address: "10.0.0.7",
            labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" },
          }),
        ],
      },
      ["n1", "n2", "n3"],
    ],
    [
      "not of one that the autoscaler removes",
      { nodes: [...nodes, aNode("x", { taints: ["ToBeDeletedByClusterAutoscaler"] })] },
      ["n1", "n2", "n3"],
    ],
    [
      "not of one that is not initialised",
      { nodes: [...nodes, aNode("x", { taints: ["node.cloudprovider.kubernetes.io/uninitialized"] })] },
      ["n1", "n2", "n3"],
    ],
    [
      "of one whose exclusion is false",
      {
        nodes: ["false", "False", "F", "0"].map((value) =>
          aNode(value, { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": value } }),
        ),
      },
      ["0", "F", "False", "false"],
    ],
    [
      "of one without a providerID",
      { nodes: [{ ...aNode("x"), spec: {} }], annotations: { [os("subnet-id")]: "s" } },
      ["x"],
    ],
    ["of one that is not Ready", { nodes: [aNode("x", { taints: ["node.kubernetes.io/not-ready"] })] }, ["x"]],
    [
      "not of one without an address of the family",
      { nodes: [...nodes, aNode("x", { address: "fd00::1" }), aNode("y", { address: "" })] },
      ["n1", "n2", "n3"],
    ],
    [
      "of selected ones",
      {
        annotations: { [os("node-selector")]: "pool=lb, ssd" },
        nodes: [...nodes, aNode("x", { labels: { pool: "lb", ssd: "" } }), aNode("y", { labels: { pool: "lb" } })],
      },
      ["x"],
    ],
  ])("are %s", (_what, given, expected) => {
    expect(membersOf(created(given)).map((m) => m.name)).toEqual(expected);
  });

  test("that are none, of no node, make no load balancer", () => {
    const none = plan(probe({ nodes: [] }), 0);
    expect(none.steps).toEqual([]);
    expect(none.wait?.until).toBeGreaterThan(0);
    expect(reasons({ nodes: [] })).toEqual(["UnAvailableLoadBalancer", "SyncLoadBalancerFailed"]);
  });
});

describe("a Service is refused before anything is made for", () => {
  test.each<[string, Given, RegExp]>([
    ["no ports", { spec: { ports: [] } }, /no ports/],
    [
      "a floating network that is not there",
      { annotations: { [os("floating-network-id")]: "x" }, change: { externalNetwork: undefined } },
      /no floating network x/,
    ],
    [
      "a floating subnet of another network",
      {
        annotations: { [os("floating-subnet-id")]: "s" },
        change: { namedFloatingSubnet: aSubnet("s", { network_id: "other" }) },
      },
      /not of network/,
    ],
    [
      "a floating subnet that is not there",
      { annotations: { [os("floating-subnet-id")]: "s" } },
      /no floating subnet s/,
    ],
    ["a floating subnet pattern that fits none", { annotations: { [os("floating-subnet")]: "x*" } }, /wanted name/],
  ])("%s", (_what, given, message) => {
    const { steps, events, wait } = plan(probe(given), 0);
    expect(steps).toEqual([]);
    expect(events?.map((e) => [e.type, e.reason])).toEqual([["Warning", "SyncLoadBalancerFailed"]]);
    expect(events?.[0]?.message).toMatch(message);
    expect(wait?.until).toBeGreaterThan(0);
  });

  test.each<[string, Given, string]>([
    ["switched off in cloud.conf", { config: { enabled: false } }, "load balancers are switched off in cloud.conf"],
    ["without Octavia", { change: { octavia: false } }, "the cloud has no load balancing service (Octavia)"],
    [
      "source ranges that are none",
      { spec: { loadBalancerSourceRanges: ["lan", "10.0.0.1/8", "wan"] } },
      "source ranges are not CIDRs: lan, wan",
    ],
    [
      "more than one problem",
      {
        annotations: { [os("class")]: "gold", [os("proxy-protocol")]: "true", [os("x-forwarded-for")]: "true" },
      },
      'there is no LoadBalancerClass "gold" in cloud.conf; proxy-protocol and x-forwarded-for cannot be combined',
    ],
    [
      "TLS that cannot end there",
      { change: { tlsProblem: "the secret is not readable" } },
      "the secret is not readable",
    ],
    [
      "what OVN cannot do",
      { config: { provider: "ovn" }, annotations: { [os("x-forwarded-for")]: "true" } },
      "load balancer provider ovn does not support x-forwarded headers; use another one, or remove the annotation",
    ],
    [
      "more that OVN cannot do",
      {
        annotations: {
          [os("provider")]: "ovn",
          [os("default-tls-container-ref")]: "ref",
          [os("proxy-protocol")]: "v2",
        },
      },
      "load balancer provider ovn does not support TLS termination, the PROXY protocol; use another one, or remove the annotation",
    ],
  ])("%s, with a message that names it, until the next check", (_what, given, message) => {
    expect(plan(probe(given), 1000)).toEqual({
      steps: [],
      status: { loadBalancer: {} },
      events: [
        { type: "Warning", reason: "SyncLoadBalancerFailed", message: `Error syncing load balancer: ${message}` },
      ],
      wait: { for: "the blocking condition to clear", until: 61_000 },
    });
  });

  test.each<[string, Given]>([
    [
      "UDP alone for OVN",
      { config: { provider: "ovn" }, annotations: { [os("proxy-protocol")]: "v2" }, spec: { ports: [udp53] } },
    ],
    ["TCP without wishes for OVN", { config: { provider: "ovn" } }],
    [
      "an internal Service, where no floating network is found",
      { annotations: { ...internal, [os("floating-network-id")]: "x" }, change: { externalNetwork: undefined } },
    ],
    [
      "a floating subnet that is gone, where the Service has its address",
      { annotations: { [os("floating-subnet-id")]: "s" }, change: { floatingIp: aFloatingIp("ip", "172.24.4.7") } },
    ],
    [
      "a floating subnet of the external network",
      {
        annotations: { [os("floating-subnet-id")]: "s" },
        change: { namedFloatingSubnet: aSubnet("s", { network_id: "public" }) },
      },
    ],
    [
      "a floating subnet where there is no external network",
      { annotations: { [os("floating-subnet-id")]: "s" }, change: { externalNetwork: undefined, floatingSubnets: [] } },
    ],
  ])("not %s", (_what, given) => {
    expect(plan(probe(given), 0).steps.map((step) => step.type)).toEqual(["create-load-balancer"]);
  });

  test("two load balancers of one name: nothing is changed", () => {
    const world = new ModelWorld(aService(), nodes);
    world.converge();
    const [lb] = world.balancers;
    const two = { ...world.observe(), loadBalancers: lb ? [lb, { ...lb, id: "other" }] : [] };
    expect(plan(two, 0).steps).toEqual([]);
    expect(plan(two, 0).events?.[0]?.message).toMatch(/2 load balancers are named/);
  });

  test("a port that another Service has on the same load balancer, whatever speaks on it", () => {
    const world = new ModelWorld(aService(), nodes);
    world.converge();
    world.listeners = world.listeners.map((l) => ({ ...l, protocol: "HTTP", tags: ["kube_service_c1_default_other"] }));
    expect(plan(world.observe(), 0).steps).toEqual([]);
    expect(plan(world.observe(), 0).events?.[0]?.message).toMatch(/TCP 80 .* in use/);
    const both = { ...udp53, port: 81 };
    world.change({ ports: [tcp80, both] });
    const [one] = world.listeners;
    if (!one) throw new Error("no listener");
    world.listeners = [one, { ...one, id: "udp", protocol: "UDP", protocol_port: 81 }];
    expect(plan(world.observe(), 0).events?.[0]?.message).toContain(": TCP 80, UDP 81 of load balancer");
  });
});
