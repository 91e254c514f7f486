import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { EndpointSlice, Service, type Endpoint } from "@causeway/kubernetes";
import { GATEWAY_CONTROLLER } from "../names.ts";
import { Gateway, GatewayClass, HTTPRoute } from "../objects/gateway.ts";
import { installGatewayKinds } from "../testing/gateway-kinds.ts";
import { Packets } from "../testing/packets.ts";
import { IngressWorld, to } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
let w: IngressWorld;
let packets: Packets;

beforeAll(async () => {
  w = await IngressWorld.start({ dataPath: true });
  packets = new Packets(w);
  await installGatewayKinds(w.client);
});
afterAll(async () => {
  await w.close();
  packets.close();
});

const READY = { ready: true, serving: true, terminating: false };
const STARTING = { ready: false, serving: false, terminating: false };
const ENDING = { ready: false, serving: true, terminating: true };
const pod = (address: string, conditions: Endpoint["conditions"]): Endpoint => ({
  addresses: [address],
  conditions: { ...conditions },
  targetRef: { kind: "Pod", namespace: "default", name: `pod-${address}` },
});

/** A Service without node ports, and its pods as its EndpointSlice has them. */
async function service(name: string): Promise<(endpoints: Endpoint[]) => Promise<void>> {
  const ports = [{ name: "http", port: 80, protocol: "TCP" as const }];
  const metadata = { name, namespace: "default" };
  await w.client.create(Service, { apiVersion: "v1", kind: "Service", metadata, spec: { type: "ClusterIP", ports } });
  const labels = { "kubernetes.io/service-name": name };
  await w.client.create(EndpointSlice, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...metadata, labels },
    addressType: "IPv4",
    ports: [{ name: "http", protocol: "TCP", port: 8080 }],
    endpoints: [],
  });
  return async (endpoints) => {
    await w.client.patch(EndpointSlice, metadata, { type: "merge", body: { endpoints } });
  };
}

async function memberAddresses(pool: (member: { address: string; protocol_port: number }) => boolean) {
  const found: string[] = [];
  for (const { id } of await w.cloud.loadBalancing.pools.all())
    for (const member of await w.cloud.loadBalancing.members(id).all()) if (pool(member)) found.push(member.address);
  return found.sort();
}
const on = (prefix: string) => memberAddresses(({ address }) => address.startsWith(prefix));

test("members are the Service's pods, and a rolling update fails no request", async () => {
  const stop = w.run({ members: "pods" });
  const set = await service("web");
  const [a, b, c, d] = ["10.88.1.1", "10.88.1.2", "10.88.1.3", "10.88.1.4"] as const;
  for (const [address, text] of [
    [a, "old"],
    [b, "old"],
    [c, "new"],
    [d, "new"],
  ] as const)
    await packets.servePod(address, 8080, text);
  await set([pod(a, READY), pod(b, READY)]);
  await w.ingress("web", { rules: [{ host: "web.example", http: { paths: [to("web")] } }] });
  const address = await w.address("web");
  const seen = () => packets.seen(address, { host: "web.example" });
  await w.until("the first response", async () => (await seen().catch(() => "")) === "old");
  expect(await on("10.88.1.")).toEqual([a, b]);

  const answers: string[] = [];
  let over = false;
  const client = (async () => {
    while (!over) {
      answers.push(await seen().catch(String));
      await new Promise((done) => setTimeout(done, 5));
    }
  })();
  // As a Deployment replaces its pods: one starts, is ready, an old one ends, and serves until its preStop hook is
  // over.
  for (const [fresh, old, rest] of [
    [c, a, [b]],
    [d, b, [c]],
  ] as const) {
    const stay = rest.map((each) => pod(each, READY));
    await set([...stay, pod(old, READY), pod(fresh, STARTING)]);
    await set([...stay, pod(old, READY), pod(fresh, READY)]);
    await w.until(`${fresh} as member`, async () => (await on("10.88.1.")).includes(fresh));
    await set([...stay, pod(old, ENDING), pod(fresh, READY)]);
    await w.until(`${old} to be no member`, async () => !(await on("10.88.1.")).includes(old));
    await w.until("requests without it", async () => packets.openRequests(old) === 0);
    packets.stopPod(old, 8080);
    await set([...stay, pod(fresh, READY)]);
  }
  await w.until("only new pods", async () => (await seen()) === "new");
  const before = answers.length;
  await w.until("some requests more", async () => answers.length > before + 20);
  over = true;
  await client;
  expect([...new Set(answers)].toSorted()).toEqual(["new", "old"]);
  expect(answers.length).toBeGreaterThan(20);

  // All of them end: what still serves remains, as behind kube-proxy.
  await set([pod(c, ENDING), pod(d, STARTING)]);
  await w.until("one member", async () => (await on("10.88.1.")).length === 1);
  expect(await seen()).toBe("new");
  await set([]);
  await w.until("no member", async () => (await on("10.88.1.")).length === 0);
  expect(await seen()).toBe("503");
  await w.clear();
  await stop();
});

test("a change of pods costs one call for members, and nothing where no load balancer uses them", async () => {
  const stop = w.run({ members: "pods" });
  const [set, other] = [await service("calls"), await service("unused")];
  await set([pod("10.88.2.1", READY)]);
  await w.ingress("calls", { rules: [{ host: "calls.example", http: { paths: [to("calls")] } }] });
  await w.address("calls");
  await w.until("the member", async () => (await on("10.88.2.")).length === 1);
  const settled = async (): Promise<boolean> =>
    (await w.cloud.loadBalancing.loadBalancers.all()).every((lb) => lb.provisioning_status === "ACTIVE");
  await w.until("rest", settled);
  w.calls();
  await set([pod("10.88.2.1", READY), pod("10.88.2.2", READY), pod("10.88.2.3", STARTING)]);
  await w.until("the second member", async () => (await on("10.88.2.")).length === 2);
  await w.until("rest", settled);
  const changes = w.calls().filter((call) => !call.startsWith("GET"));
  expect(changes).toHaveLength(1);
  expect(changes[0]).toMatch(/^(PUT|POST) .*members$/);
  await other([pod("10.88.3.1", READY)]);
  await set([pod("10.88.2.1", READY), pod("10.88.2.2", READY), pod("10.88.2.3", STARTING), pod("10.88.2.4", STARTING)]);
  await new Promise((done) => setTimeout(done, 300));
  expect(w.calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
  await w.clear();
  await stop();
});

test("the security group opens the pods' ports and is on their Neutron ports alone", async () => {
  const [subnet] = await w.cloud.network.subnets.all({ id: w.subnetId });
  const port = async (ip_address: string): Promise<string> => {
    const fixed_ips = [{ subnet_id: w.subnetId, ip_address }];
    const body = { name: ip_address, network_id: subnet?.network_id ?? "", device_id: randomUUID(), fixed_ips };
    return (await w.cloud.network.ports.create(body)).id;
  };
  const ids = [await port("10.88.0.101"), await port("10.88.0.102"), await port("10.88.0.103")];
  const stop = w.run({ members: "pods" }, { manageSecurityGroups: true });
  const set = await service("grouped");
  await set([pod("10.88.0.101", READY), pod("10.88.0.102", STARTING)]);
  await w.ingress("grouped", { rules: [{ host: "g.example", http: { paths: [to("grouped")] } }] });
  await w.address("grouped");
  const opened = async (): Promise<string> => {
    const [group] = await w.cloud.network.securityGroups.all({ name: "kube_ingress_c_default_grouped" });
    const rules = (group?.security_group_rules ?? []).filter(({ direction }) => direction === "ingress");
    const ports = await Promise.all(ids.map((id) => w.cloud.network.ports.get(id)));
    const has = ports.map(({ security_groups }) => security_groups.includes(group?.id ?? "none"));
    return `${rules.map((rule) => rule.port_range_min).join()} ${has.join()}`;
  };
  await w.until("the first two pods", async () => (await opened()) === "8080 true,true,false");
  await set([pod("10.88.0.102", READY), pod("10.88.0.103", READY)]);
  await w.until("the last two pods", async () => (await opened()) === "8080 false,true,true");
  await w.clear();
  await w.until("no group", async () => (await opened()) === " false,false,false");
  await stop();
});

test("a GatewayClass has pods as members by its parameters, next to Gateways of node ports", async () => {
  const stop = w.run();
  const set = await service("api");
  await packets.servePod("10.88.4.1", 8080, "pod");
  await packets.serve("ported", 30_080);
  await set([pod("10.88.4.1", READY)]);
  const apiVersion = "gateway.networking.k8s.io/v1";
  await w.configMap("at-pods", { members: "pods" });
  const controllerName = GATEWAY_CONTROLLER;
  const parametersRef = { group: "", kind: "ConfigMap", namespace: "default", name: "at-pods" };
  await w.client.create(GatewayClass, {
    apiVersion,
    kind: "GatewayClass",
    metadata: { name: "pods" },
    spec: { controllerName, parametersRef },
  });
  await w.client.create(GatewayClass, {
    apiVersion,
    kind: "GatewayClass",
    metadata: { name: "nodes" },
    spec: { controllerName },
  });
  const listeners = [{ name: "http", port: 80, protocol: "HTTP" }];
  const found: Record<string, string> = {};
  for (const [name, backend] of [
    ["pods", "api"],
    ["nodes", "ported"],
  ] as const) {
    const metadata = { name, namespace: "default" };
    await w.client.create(Gateway, {
      apiVersion,
      kind: "Gateway",
      metadata,
      spec: { gatewayClassName: name, listeners },
    });
    await w.client.create(HTTPRoute, {
      apiVersion,
      kind: "HTTPRoute",
      metadata,
      spec: { parentRefs: [{ name }], rules: [{ backendRefs: [{ name: backend, port: 80 }] }] },
    });
    const address = await w.until("an address", async () => {
      const gateway = await w.client.get(Gateway, { namespace: "default", name });
      return gateway.status?.addresses?.[0]?.value;
    });
    found[name] = await w.until("a response", async () => {
      const text = await packets.seen(address, { host: "any.example" }).catch(() => "503");
      return text === "503" ? undefined : text;
    });
  }
  expect(found).toEqual({ pods: "pod", nodes: "ported" });
  await stop();
});
