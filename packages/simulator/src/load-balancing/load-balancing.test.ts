import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import type { KernelOptions } from "../kernel/kernel.ts";
import { neutron, place } from "../network/testing.ts";
import { balancerCloud, octavia, settle, type Octavia } from "./testing.ts";

async function balancer(call: Octavia, subnet: string, more: object = {}) {
  const given = { name: "lb", vip_subnet_id: subnet, provider: "ovn", ...more };
  return call("POST", "/loadbalancers", { loadbalancer: given });
}

async function readyBalancer(options: KernelOptions = {}, more: object = {}) {
  const cloud = balancerCloud(options);
  const call = octavia(cloud, "demo");
  const net = neutron(cloud, "demo");
  const where = await place(net);
  const { id } = await balancer(call, where.subnet, more);
  await settle();
  return { cloud, call, net, id, ...where };
}

const pool = (listener: string) => ({
  pool: { listener_id: listener, protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" },
});

test("one call creates a fully populated load balancer; a cascade delete leaves nothing", async () => {
  const cloud = balancerCloud();
  const call = octavia(cloud, "demo");
  const { subnet } = await place(neutron(cloud, "demo"));
  const before = cloud.kernel.inventory();
  const members = [{ address: "10.0.0.50", protocol_port: 30000 }];
  const inner = { name: "p", protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT", members };
  const listeners = [{ name: "l", protocol: "TCP", protocol_port: 80, default_pool: inner }];
  const made = await balancer(call, subnet, { listeners });
  expect(made.status).toBe(201);
  expect(made.one).toMatchObject({
    provisioning_status: "PENDING_CREATE",
    listeners: [{ name: "l" }],
    pools: [{ name: "p" }],
  });
  await settle();
  const shown = await call("GET", `/loadbalancers/${made.id}`);
  expect(shown.one).toMatchObject({ provisioning_status: "ACTIVE", operating_status: "ONLINE" });
  const tree = await call("GET", `/loadbalancers/${made.id}/status`);
  expect(tree.one["loadbalancer"]).toMatchObject({
    listeners: [{ provisioning_status: "ACTIVE", pools: [{ members: [{ operating_status: "NO_MONITOR" }] }] }],
  });
  expect((await call("DELETE", `/loadbalancers/${made.id}`)).fault).toContain("it has children");
  expect((await call("DELETE", `/loadbalancers/${made.id}?cascade=true`)).status).toBe(204);
  await settle();
  expect((await call("GET", `/loadbalancers/${made.id}`)).status).toBe(404);
  expect(cloud.kernel.inventory()).toEqual(before);
});

test("a pool without a name fails a fully populated create, and leaves no port behind", async () => {
  const { call, cloud, subnet } = await readyBalancer();
  const before = cloud.kernel.inventory();
  const pools = [{ protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" }];
  expect(await balancer(call, subnet, { pools })).toMatchObject({
    status: 400,
    fault: "Validation failure: Pools must be named when creating a fully populated loadbalancer.",
  });
  expect(cloud.kernel.inventory()).toEqual(before);
});

test("/v2.0 is the same as /v2", async () => {
  const { cloud, id } = await readyBalancer();
  const answer = await cloud.as("demo")("GET", `/load-balancer/v2.0/lbaas/loadbalancers/${id}`);
  expect(answer.status).toBe(200);
});

test("amphora is slow and the load balancer immutable until it is done", async () => {
  const clock = new VirtualClock();
  const { call, id, cloud } = await readyBalancer({ clock, profile: "real" }, { provider: "amphora" });
  const listener = { listener: { loadbalancer_id: id, protocol: "HTTP", protocol_port: 80 } };
  expect(await call("POST", "/listeners", listener)).toMatchObject({
    status: 409,
    fault: `Load Balancer ${id} is immutable and cannot be updated.`,
  });
  expect(await call("DELETE", `/loadbalancers/${id}`)).toMatchObject({
    status: 409,
    fault: `Invalid state PENDING_CREATE of loadbalancer resource ${id}`,
  });
  await clock.advance(4000);
  await settle();
  expect((await call("POST", "/listeners", listener)).one["provisioning_status"]).toBe("PENDING_CREATE");
  await clock.advance(2500);
  await settle();
  expect((await call("GET", "/listeners")).list[0]).toMatchObject({ provisioning_status: "ACTIVE" });
  expect(cloud.kernel.failures).toEqual([]);
});

test("members are replaced as a batch, or only added to", async () => {
  const { call, id } = await readyBalancer();
  const listener = await call("POST", "/listeners", {
    listener: { loadbalancer_id: id, protocol: "TCP", protocol_port: 80 },
  });
  await settle();
  const { id: poolId } = await call("POST", "/pools", pool(listener.id));
  await settle();
  const put = async (query: string, ...addresses: string[]) => {
    const members = addresses.map((address) => ({ address, protocol_port: 30000 }));
    const answer = await call("PUT", `/pools/${poolId}/members${query}`, { members });
    await settle();
    const list = await call("GET", `/pools/${poolId}/members`);
    return {
      status: answer.status,
      fault: answer.fault,
      addresses: list.list.map((m) => String(m["address"] as string)).sort(),
    };
  };
  expect(await put("", "10.0.0.50", "10.0.0.51")).toMatchObject({ status: 202, addresses: ["10.0.0.50", "10.0.0.51"] });
  const kept = (await call("GET", `/pools/${poolId}/members?address=10.0.0.51`)).list[0]?.["id"];
  expect(await put("", "10.0.0.51", "10.0.0.52")).toMatchObject({ addresses: ["10.0.0.51", "10.0.0.52"] });
  expect((await call("GET", `/pools/${poolId}/members?address=10.0.0.51`)).list[0]?.["id"]).toBe(kept);
  expect(await put("?additive_only=true", "10.0.0.53")).toMatchObject({
    addresses: ["10.0.0.51", "10.0.0.52", "10.0.0.53"],
  });
  expect(await put("", "10.0.0.9", "10.0.0.9")).toMatchObject({
    status: 409,
    fault: "Another member on this pool is already using ip 10.0.0.9 on protocol_port 30000",
  });
  expect(await put("")).toMatchObject({ addresses: [] });
});

const refusals: readonly [what: string, path: string, body: (id: string) => object, status: number, fault: string][] = [
  [
    "HTTP on OVN",
    "/listeners",
    (id) => ({ listener: { loadbalancer_id: id, protocol: "HTTP", protocol_port: 8 } }),
    501,
    "OVN provider does not support HTTP protocol",
  ],
  [
    "allowed_cidrs on OVN",
    "/listeners",
    (id) => ({ listener: { loadbalancer_id: id, protocol: "TCP", protocol_port: 8, allowed_cidrs: ["10.0.0.0/8"] } }),
    501,
    "allowed_cidrs",
  ],
  [
    "a port of no range",
    "/listeners",
    (id) => ({ listener: { loadbalancer_id: id, protocol: "TCP", protocol_port: 0 } }),
    400,
    "greater or equal to 1",
  ],
  [
    "an unknown attribute",
    "/listeners",
    (id) => ({ listener: { loadbalancer_id: id, protocol: "TCP", protocol_port: 8, zz: 1 } }),
    400,
    "Unknown attribute for argument listener_.listener: zz",
  ],
  [
    "a missing attribute",
    "/listeners",
    (id) => ({ listener: { loadbalancer_id: id, protocol: "TCP" } }),
    400,
    "Mandatory field missing.",
  ],
  [
    "ROUND_ROBIN on OVN",
    "/pools",
    (id) => ({ pool: { loadbalancer_id: id, protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } }),
    501,
    "ROUND_ROBIN",
  ],
  [
    "a pool of nothing",
    "/pools",
    () => ({ pool: { protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" } }),
    400,
    "Must provide at least one of",
  ],
  [
    "a second load balancer at the address",
    "/loadbalancers",
    () => ({ loadbalancer: { vip_subnet_id: "?", vip_address: "zz" } }),
    400,
    "vip_subnet_id",
  ],
  ["no VIP", "/loadbalancers", () => ({ loadbalancer: {} }), 400, "VIP must contain one of"],
  [
    "an unknown subnet",
    "/loadbalancers",
    () => ({ loadbalancer: { vip_subnet_id: "00000000-0000-0000-0000-000000000000" } }),
    400,
    "not found.",
  ],
];

test("an unknown provider is refused", async () => {
  const { call, subnet } = await readyBalancer();
  const answer = await call("POST", "/loadbalancers", { loadbalancer: { vip_subnet_id: subnet, provider: "no" } });
  expect(answer.status).toBe(400);
  expect(answer.fault).toBe("Provider 'no' is not enabled.");
});

test.each(refusals)("Octavia's simulator refuses %s", async (_, path, body, status, fault) => {
  const { call, id, cloud } = await readyBalancer();
  const before = cloud.kernel.inventory();
  const answer = await call("POST", path, body(id));
  expect(answer.status).toBe(status);
  expect(answer.fault).toContain(fault);
  expect(cloud.kernel.inventory()).toEqual(before);
  expect((await call("GET", `/loadbalancers/${id}`)).one["provisioning_status"]).toBe("ACTIVE");
});

test("the same port twice is a conflict, unless the transport differs", async () => {
  const { call, id } = await readyBalancer();
  const listen = async (protocol: string) => {
    const answer = await call("POST", "/listeners", { listener: { loadbalancer_id: id, protocol, protocol_port: 80 } });
    await settle();
    return answer;
  };
  expect((await listen("TCP")).status).toBe(201);
  expect((await listen("UDP")).status).toBe(201);
  expect(await listen("TCP")).toMatchObject({
    status: 409,
    fault: "Another Listener on this Load Balancer is already using protocol TCP and protocol_port 80",
  });
});

test("provisioning can be ordered to fail or to stick", async () => {
  const { cloud, call, subnet } = await readyBalancer();
  cloud.kernel.settings.outcomes = [
    { operation: "loadbalancer.create", name: "bad", outcome: "error" },
    { operation: "loadbalancer.create", name: "slow", outcome: "stuck" },
  ];
  const bad = await balancer(call, subnet, { name: "bad" });
  const slow = await balancer(call, subnet, { name: "slow" });
  await settle();
  expect((await call("GET", `/loadbalancers/${bad.id}`)).one).toMatchObject({
    provisioning_status: "ERROR",
    operating_status: "ERROR",
  });
  expect((await call("PUT", `/loadbalancers/${bad.id}`, { loadbalancer: { name: "x" } })).status).toBe(409);
  expect((await call("DELETE", `/loadbalancers/${bad.id}`)).status).toBe(204);
  expect((await call("GET", `/loadbalancers/${slow.id}`)).one["provisioning_status"]).toBe("PENDING_CREATE");
});

test("a failed member degrades its pool, listener and load balancer", async () => {
  const { cloud, call, id } = await readyBalancer();
  const made = await call("POST", "/pools", {
    pool: { loadbalancer_id: id, protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" },
  });
  await settle();
  const members = ["10.0.0.50", "10.0.0.51"].map((address) => ({ address, protocol_port: 1 }));
  await call("PUT", `/pools/${made.id}/members`, { members });
  await settle();
  const monitor = { pool_id: made.id, type: "TCP", delay: 5, timeout: 3, max_retries: 3 };
  expect((await call("POST", "/healthmonitors", { healthmonitor: monitor })).status).toBe(201);
  await settle();
  cloud.kernel.settings.outcomes = [{ operation: "member.health", name: "10.0.0.51", outcome: "error" }];
  expect((await call("GET", `/pools/${made.id}`)).one["operating_status"]).toBe("DEGRADED");
  expect((await call("GET", `/loadbalancers/${id}`)).one["operating_status"]).toBe("DEGRADED");
});

test("another project sees nothing and may do nothing; a reader reads", async () => {
  const { cloud, id } = await readyBalancer();
  const alt = octavia(cloud, "alt");
  expect((await alt("GET", "/loadbalancers")).list).toEqual([]);
  expect((await alt("GET", `/loadbalancers/${id}`)).status).toBe(403);
  expect((await alt("DELETE", `/loadbalancers/${id}`)).status).toBe(403);
  const reader = octavia(cloud, "demo:reader,load-balancer_observer");
  expect((await reader("GET", `/loadbalancers/${id}`)).status).toBe(200);
  expect((await reader("DELETE", `/loadbalancers/${id}`)).status).toBe(403);
});

test("lists of Octavia are filtered by tags and fields, and paged with a link", async () => {
  const { call, subnet } = await readyBalancer();
  await balancer(call, subnet, { name: "two", tags: ["a", "b"] });
  await settle();
  const names = async (query: string) =>
    (await call("GET", `/loadbalancers?${query}`)).list.map((b) => String(b["name"] as string));
  expect(await names("tags=a,b")).toEqual(["two"]);
  expect(await names("not-tags=a")).toEqual(["lb"]);
  expect(await names("name=lb")).toEqual(["lb"]);
  expect(await names("sort=name:desc&fields=name")).toEqual(["two", "lb"]);
  expect((await call("GET", "/loadbalancers?zz=1")).status).toBe(400);
  const first = await call("GET", "/loadbalancers?limit=1&fields=id");
  const rest = await names(`marker=${first.list[0]?.["id"] as string}`);
  expect([...(await names("limit=1")), ...rest].sort()).toEqual(["lb", "two"]);
});

test("a create over quota is refused with Octavia's message", async () => {
  const { cloud, call, subnet } = await readyBalancer();
  cloud.kernel.setQuota("demo", "load_balancer", 1);
  expect(await balancer(call, subnet)).toMatchObject({
    status: 403,
    fault: "Quota has been met for resources: Load Balancer",
  });
});
