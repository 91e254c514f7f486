import { expect, test } from "vitest";
import { networkCloud, neutron, place, type Neutron } from "./testing.ts";

interface Scene {
  readonly network: string;
  readonly subnet: string;
  readonly router: string;
  readonly external: string;
  readonly port: string;
  readonly group: string;
}

async function scene(call: Neutron): Promise<Scene> {
  const where = await place(call, { routed: true });
  const port = await call("POST", "/ports", { port: { network_id: where.network } });
  const group = await call("POST", "/security-groups", { security_group: { name: "g" } });
  return { ...where, port: port.id, group: group.id };
}

const nowhere = "00000000-0000-0000-0000-000000000000";
type Ask = (s: Scene) => readonly [method: string, path: string, body?: object];
const subnet = (s: Scene, more: object) => ({ subnet: { network_id: s.network, ip_version: 4, ...more } });
const rule = (s: Scene, more: object) => ({
  security_group_rule: { security_group_id: s.group, direction: "ingress", ...more },
});
const port = (s: Scene, more: object) => ({ port: { network_id: s.network, ...more } });

const refusals: readonly [what: string, ask: Ask, status: number, type: string][] = [
  ["an unknown attribute", () => ["POST", "/networks", { network: { zz: 1 } }], 400, "HTTPBadRequest"],
  ["a body of another kind", () => ["POST", "/networks", { net: {} }], 400, "HTTPBadRequest"],
  [
    "a shared network of a user",
    () => ["POST", "/networks", { network: { shared: true } }],
    403,
    "PolicyNotAuthorized",
  ],
  ["an unknown filter", () => ["GET", "/networks?zz=1"], 400, "HTTPBadRequest"],
  ["an unknown marker", () => ["GET", "/networks?limit=1&marker=zz"], 404, "NetworkNotFound"],
  ["a limit of letters", () => ["GET", "/networks?limit=a"], 400, "BadRequest"],
  ["an unknown path", () => ["GET", "/zz"], 404, "HTTPNotFound"],
  [
    "the external network's name",
    (s) => ["PUT", `/networks/${s.external}`, { network: { name: "x" } }],
    403,
    "PolicyNotAuthorized",
  ],
  ["a network with ports", (s) => ["DELETE", `/networks/${s.network}`], 409, "NetworkInUse"],
  ["a subnet with ports", (s) => ["DELETE", `/subnets/${s.subnet}`], 409, "SubnetInUse"],
  ["a CIDR that is none", (s) => ["POST", "/subnets", subnet(s, { cidr: "10.0.0.0/33" })], 400, "InvalidInput"],
  ["a CIDR that overlaps", (s) => ["POST", "/subnets", subnet(s, { cidr: "10.0.0.0/16" })], 400, "InvalidInput"],
  ["an IPv6 CIDR as IPv4", (s) => ["POST", "/subnets", subnet(s, { cidr: "fd00::/64" })], 400, "InvalidInput"],
  [
    "a gateway inside the pool",
    (s) => [
      "POST",
      "/subnets",
      subnet(s, { cidr: "10.1.0.0/24", allocation_pools: [{ start: "10.1.0.1", end: "10.1.0.9" }] }),
    ],
    409,
    "GatewayConflictWithAllocationPools",
  ],
  [
    "a subnet's new CIDR",
    (s) => ["PUT", `/subnets/${s.subnet}`, { subnet: { cidr: "10.9.0.0/24" } }],
    400,
    "HTTPBadRequest",
  ],
  [
    "an address that is in use",
    (s) => ["POST", "/ports", port(s, { fixed_ips: [{ ip_address: "10.0.0.1" }] })],
    409,
    "IpAddressAlreadyAllocated",
  ],
  [
    "an address of no subnet",
    (s) => ["POST", "/ports", port(s, { fixed_ips: [{ ip_address: "9.9.9.9" }] })],
    400,
    "InvalidIpForNetwork",
  ],
  [
    "the broadcast address",
    (s) => ["POST", "/ports", port(s, { fixed_ips: [{ subnet_id: s.subnet, ip_address: "10.0.0.255" }] })],
    400,
    "InvalidIpForSubnet",
  ],
  [
    "a port on the external network",
    (s) => ["POST", "/ports", { port: { network_id: s.external } }],
    403,
    "HTTPForbidden",
  ],
  [
    "a host for a user's port",
    (s) => ["PUT", `/ports/${s.port}`, { port: { "binding:host_id": "h" } }],
    403,
    "PolicyNotAuthorized",
  ],
  [
    "a group that is not there",
    (s) => ["POST", "/ports", port(s, { security_groups: [nowhere] })],
    404,
    "SecurityGroupNotFound",
  ],
  [
    "groups without port security",
    (s) => ["POST", "/ports", port(s, { port_security_enabled: false, security_groups: [s.group] })],
    400,
    "PortSecurityAndIPRequiredForSecurityGroups",
  ],
  [
    "a router on a subnet twice",
    (s) => ["PUT", `/routers/${s.router}/add_router_interface`, { subnet_id: s.subnet }],
    400,
    "BadRequest",
  ],
  ["a router with interfaces", (s) => ["DELETE", `/routers/${s.router}`], 409, "RouterInUse"],
  [
    "a gateway to an inner network",
    (s) => ["POST", "/routers", { router: { external_gateway_info: { network_id: s.network } } }],
    400,
    "BadRequest",
  ],
  [
    "a route to nowhere",
    (s) => [
      "PUT",
      `/routers/${s.router}`,
      { router: { routes: [{ destination: "10.5.0.0/16", nexthop: "9.9.9.9" }] } },
    ],
    400,
    "InvalidRoutes",
  ],
  [
    "a floating IP of an inner network",
    (s) => ["POST", "/floatingips", { floatingip: { floating_network_id: s.network } }],
    400,
    "BadRequest",
  ],
  [
    "a floating IP on a lost port",
    (s) => ["POST", "/floatingips", { floatingip: { floating_network_id: s.external, port_id: nowhere } }],
    404,
    "PortNotFound",
  ],
  [
    "a second default group",
    () => ["POST", "/security-groups", { security_group: { name: "default" } }],
    409,
    "SecurityGroupDefaultAlreadyExists",
  ],
  [
    "the rule that every group has",
    (s) => ["POST", "/security-group-rules", rule(s, { direction: "egress" })],
    409,
    "SecurityGroupRuleExists",
  ],
  [
    "ports without protocol",
    (s) => ["POST", "/security-group-rules", rule(s, { port_range_min: 1, port_range_max: 2 })],
    400,
    "SecurityGroupProtocolRequiredWithPorts",
  ],
  [
    "ports the wrong way round",
    (s) => ["POST", "/security-group-rules", rule(s, { protocol: "tcp", port_range_min: 2, port_range_max: 1 })],
    400,
    "SecurityGroupInvalidPortRange",
  ],
  [
    "an unknown protocol",
    (s) => ["POST", "/security-group-rules", rule(s, { protocol: "zz" })],
    400,
    "SecurityGroupRuleInvalidProtocol",
  ],
  [
    "an IPv6 prefix in an IPv4 rule",
    (s) => ["POST", "/security-group-rules", rule(s, { remote_ip_prefix: "fd00::/8" })],
    400,
    "SecurityGroupRuleParameterConflict",
  ],
  ["a tag that is not there", (s) => ["DELETE", `/networks/${s.network}/tags/zz`], 404, "TagNotFound"],
  ["tags of nothing", () => ["PUT", "/networks/zz/tags", { tags: [] }], 404, "TagResourceNotFound"],
  ["another's quota", () => ["GET", "/quotas/alt"], 403, "PolicyNotAuthorized"],
];

test.each(refusals)("%s is refused and changes nothing", async (_, ask, status, type) => {
  const cloud = networkCloud();
  const demo = neutron(cloud, "demo");
  const [method, path, body] = ask(await scene(demo));
  const before = cloud.kernel.inventory();
  const answer = await demo(method, path, body);
  expect([answer.status, answer.type, answer.message]).toEqual([status, type, expect.any(String)]);
  expect(cloud.kernel.inventory()).toEqual(before);
});

test("resources of another project are not found", async () => {
  const cloud = networkCloud();
  const s = await scene(neutron(cloud, "demo"));
  const alt = neutron(cloud, "alt");
  for (const path of [
    `/networks/${s.network}`,
    `/subnets/${s.subnet}`,
    `/ports/${s.port}`,
    `/routers/${s.router}`,
    `/security-groups/${s.group}`,
  ]) {
    expect((await alt("GET", path)).status).toBe(404);
    expect((await alt("DELETE", path)).status).toBe(404);
  }
  expect((await alt("GET", "/networks")).list.map((n) => n["name"])).toEqual(["public"]);
  expect((await alt("GET", "/ports")).list).toEqual([]);
  const admin = neutron(cloud, "admins:admin");
  expect((await admin("GET", `/ports/${s.port}`)).one["binding:vif_type"]).toBe("unbound");
});

test("a bulk create is atomic", async () => {
  const cloud = networkCloud();
  const demo = neutron(cloud, "demo");
  const { network } = await place(demo, { cidr: "10.0.0.0/29" });
  const ports = (n: number) => ({ ports: Array.from({ length: n }, () => ({ network_id: network })) });
  const before = cloud.kernel.inventory();
  expect(await demo("POST", "/ports", ports(5))).toMatchObject({ status: 409, type: "IpAddressGenerationFailure" });
  expect(cloud.kernel.inventory()).toEqual(before);
  expect((await demo("GET", `/ports?network_id=${network}&device_owner=`)).list).toEqual([]);
  expect((await demo("POST", "/ports", ports(4))).list).toHaveLength(4);
});

test("a create over quota is refused before anything is created", async () => {
  const cloud = networkCloud();
  const demo = neutron(cloud, "demo");
  cloud.kernel.setQuota("demo", "router", 1);
  expect((await demo("POST", "/routers", { router: {} })).status).toBe(201);
  expect(await demo("POST", "/routers", { router: {} })).toMatchObject({
    status: 409,
    type: "OverQuota",
    message: "Quota exceeded for resources: ['router'].",
  });
});
