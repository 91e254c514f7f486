import { describe, expect, test } from "vitest";
import type { Volume } from "@causeway/openstack";
import { description, networkName, securityGroupName, serverOwnerKey } from "../resources/naming.ts";
import {
  attached,
  balancer,
  estate,
  floatingIp,
  groups,
  inside,
  interfaceOf,
  network,
  node,
  on,
  own,
  plan,
  router,
  whole,
  type Content,
} from "../testing/sweep-world.ts";

describe("the plan of a sweep of a cluster with everything", () => {
  test("finds everything of a cluster that is gone, in the order in which it can be deleted", () => {
    const name = networkName("default-web");
    const cluster = "default-web";
    expect(whole(estate)).toEqual([
      { kind: "server", id: "s", name: "web-a", cluster },
      { kind: "volume", id: "v", name: "web-a-root", cluster },
      { kind: "trunk", id: "trunk", name: "web-a-0", cluster, subports: ["sub"] },
      { kind: "port", id: "p", name: "web-a-0", cluster },
      { kind: "load balancer", id: "lb", name: `${name}-kubeapi`, cluster },
      { kind: "floating IP", id: "fip", name: "172.24.4.9", cluster },
      { kind: "router", id: "rtr", name, cluster, interfaces: ["sub"], routes: [inside] },
      { kind: "network", id: "net", name, cluster },
      { kind: "security group", id: "controlplane", name: "k8s-cluster-default-web-secgroup-controlplane", cluster },
      { kind: "security group", id: "worker", name: "k8s-cluster-default-web-secgroup-worker", cluster },
      { kind: "security group", id: "bastion", name: "k8s-cluster-default-web-secgroup-bastion", cluster },
    ]);
  });

  const kinds = [
    "networks",
    "routers",
    "ports",
    "floatingIps",
    "loadBalancers",
    "securityGroups",
    "servers",
    "volumes",
  ];
  test.each(kinds)("finds a cluster of which only %s are left", (kind) => {
    const left = { [kind]: kind === "ports" ? [{ ...own, device_id: "" }] : estate[kind as "networks"] };
    const found = whole(left);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found.map((one) => one.cluster))).toEqual(new Set(["default-web"]));
    expect(whole({ ...left, living: ["default-web"] })).toEqual([]);
  });

  test("finds upstream's network, which has no description, by the cluster's subnet on it", () => {
    const bare = { ...network, description: "" };
    expect(plan({ networks: [bare], subnets: estate.subnets })).toEqual(["network net"]);
    expect(plan({ networks: [bare] })).toEqual([]);
  });

  test("finds what a cluster created whose spec names its network, with its owner in the descriptions", () => {
    const owned = <T extends { readonly description: string | null }>(resource: T): T => ({
      ...resource,
      description: `${resource.description} (0b0c-1)`,
    });
    const content = { loadBalancers: [owned(balancer)], floatingIps: [owned(floatingIp)] };
    expect(plan({ ...content, securityGroups: groups.map(owned) })).toEqual(
      plan({ loadBalancers: [balancer], floatingIps: [floatingIp], securityGroups: groups }),
    );
    expect(plan({ securityGroups: groups.map(owned) })).toHaveLength(3);
  });

  test("lists clusters by name", () => {
    const servers = ["b/x", "a/y", "a/x"].map((owner) => node(owner, "n", { [serverOwnerKey]: owner }));
    expect(whole({ servers }).map((one) => one.cluster)).toEqual(["a-x", "a-y", "b-x"]);
  });

  const others: [string, Content][] = [
    ["networks", { networks: [{ ...network, description: "mine" }] }],
    ["routers of another name", { routers: [{ ...router, name: "other" }] }],
    ["routers of another project", { routers: [{ ...router, project_id: "other" }] }],
    ["floating IPs", { floatingIps: [{ ...floatingIp, description: "mine" }] }],
    ["floating IPs of another project", { floatingIps: [{ ...floatingIp, project_id: "other" }] }],
    ["load balancers of another name", { loadBalancers: [{ ...balancer, name: "other" }] }],
    ["load balancers without a mark", { loadBalancers: [{ ...balancer, description: "mine" }] }],
    ["security groups of another description", { securityGroups: groups.map((g) => ({ ...g, description: "mine" })) }],
    ["security groups of another role", { securityGroups: groups.map((g) => ({ ...g, name: `${g.name}x` })) }],
    ["servers of another cluster", { servers: [node("s", "web-a", { [serverOwnerKey]: "default/web2" })] }],
    ["servers that Nova has deleted", { servers: estate.servers.map((s) => ({ ...s, status: "DELETED" })) }],
    ["servers that Nova will delete", { servers: estate.servers.map((s) => ({ ...s, status: "SOFT_DELETED" })) }],
    ["volumes without a mark", { volumes: [{ ...estate.volumes[0], metadata: {} } as Volume] }],
    ["ports without a mark", { ports: [{ ...own, description: "mine" }] }],
    ["ports of another project", { ports: [{ ...own, project_id: "other" }] }],
    ["subnets alone, which go with their network", { subnets: estate.subnets }],
    [
      "descriptions of a cluster without a namespace",
      { floatingIps: [{ ...floatingIp, description: description("web") }] },
    ],
  ];
  test.each(others)("finds no %s", (_, content) => {
    const found = whole({ networks: [network], ...content });
    expect(found.filter((one) => one.cluster === "default-web" && one.kind !== "network")).toEqual([]);
  });

  test("finds no cluster whose name has no namespace", () => {
    expect(whole({ floatingIps: [{ ...floatingIp, description: description("web") }] })).toEqual([]);
  });

  const named = { name: securityGroupName("my-web", "worker"), description: "Cluster API managed group" };
  const servers = [node("s", "n", { [serverOwnerKey]: "my/web" })];
  const port = { ...on({ description: description("my-web") }), network_id: "elsewhere" };
  test.each<[string, Content, boolean]>([
    ["a floating IP", { floatingIps: [{ ...floatingIp, description: description("my-web") }] }, true],
    ["a security group", { securityGroups: groups.slice(0, 1).map((g) => ({ ...g, ...named })) }, true],
    ["a server", { servers }, true],
    ["a floating IP of another cluster", { floatingIps: [floatingIp] }, false],
    ["a security group of another cluster", { securityGroups: groups }, false],
  ])("finds a port whose cluster has a name that ends another's with %s of the cluster", (_, content, expected) => {
    const found = whole({ ...content, ports: [port], living: ["default-my-web"] });
    expect(found.some((one) => one.kind === "port")).toBe(expected);
  });

  test("finds no port of another cluster on the network, and no server by a port elsewhere", () => {
    const other = { ...on({ description: description("shop") }), id: "q" };
    expect(plan({ networks: [network], ports: [other] })).toEqual(["network net kept"]);
    const far = { ...own, network_id: "elsewhere", device_id: "t" };
    expect(plan({ networks: [network], servers: [node("t", "web-a")], ports: [far] })).toEqual(["network net"]);
  });

  test("removes the interfaces of the router alone from it, not those of others and not its gateway", () => {
    const gateway = on({ device_id: "rtr", device_owner: "network:router_gateway", fixed_ips: [{ subnet_id: "g" }] });
    const theirs = {
      ...interfaceOf("other"),
      fixed_ips: [{ subnet_id: "h", ip_address: "10.7.0.1" }],
      network_id: "n",
    };
    const found = whole({ ...estate, ports: [...estate.ports, { ...gateway, network_id: "public" }, theirs] });
    expect(found.find((one) => one.kind === "router")?.interfaces).toEqual(["sub"]);
  });

  const foreign = (id: string, more: object = {}) => ({ ...on({ device_id: "x", ...more }), id });
  const ports = "in use by ports that are not the cluster's:";
  const mine = "so another management cluster may have it; --running deletes it all the same";
  const kept: [string, Content, string, string | undefined][] = [
    [
      "a network with a port of another owner",
      { networks: [network], ports: [foreign("a", { device_owner: "compute:nova" })] },
      "net",
      `${ports} a (compute:nova)`,
    ],
    [
      "a router with a port of another owner on the network",
      { ...estate, ports: [...estate.ports, foreign("a", { name: "their" })] },
      "rtr",
      `${ports} their (no owner)`,
    ],
    [
      "a network with many such ports, of which it names five",
      { networks: [network], ports: ["f", "e", "d", "c", "b", "a"].map((id) => foreign(id)) },
      "net",
      `${ports} a (no owner), b (no owner), c (no owner), d (no owner), e (no owner) and 1 more`,
    ],
    [
      "a network with five such ports, and names them all",
      { networks: [network], ports: ["e", "d", "c", "b", "a"].map((id) => foreign(id)) },
      "net",
      `${ports} a (no owner), b (no owner), c (no owner), d (no owner), e (no owner)`,
    ],
    [
      "a network with the port of another load balancer",
      { networks: [network], loadBalancers: [{ ...balancer, vip_port_id: "other" }], ports: [foreign("vip")] },
      "net",
      `${ports} vip (no owner)`,
    ],
    [
      "a network with an interface of a router that is not the cluster's",
      { networks: [network], routers: [{ ...router, id: "other", name: "other" }], ports: [interfaceOf("other")] },
      "net",
      "router other has an interface on it",
    ],
    [
      "no network whose foreign ports are elsewhere",
      { networks: [network], ports: [{ ...foreign("a"), network_id: "n" }] },
      "net",
      undefined,
    ],
    [
      "a security group that a port of another owner uses",
      { securityGroups: groups, ports: [foreign("a", { security_groups: ["worker"] })] },
      "worker",
      `${ports} a (no owner)`,
    ],
    [
      "no security group that only others' ports do not use",
      { securityGroups: groups, ports: [foreign("a")] },
      "worker",
      undefined,
    ],
    [
      "no security group whose users go with their servers",
      {
        securityGroups: groups,
        servers: estate.servers,
        ports: [foreign("a", { device_id: "s", security_groups: ["worker"] })],
      },
      "worker",
      undefined,
    ],
    ["a server that runs", { ...estate, running: false }, "s", `1 of the cluster's servers run, ${mine}`],
    [
      "all else of a cluster whose servers run",
      { ...estate, running: false },
      "fip",
      `1 of the cluster's servers run, ${mine}`,
    ],
    [
      "a volume that other servers have, too",
      { ...estate, volumes: [attached("s", "t", "u")] },
      "v",
      "attached to server t, u",
    ],
  ];
  test.each(kept)("keeps %s", (_, content, id, reason) => {
    expect(whole(content).find((one) => one.id === id)?.kept).toBe(reason);
  });
});
