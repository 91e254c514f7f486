import { describe, expect, test } from "vitest";
import { internal, os, pause, refuse, setStage, tcp, udp } from "./stage.ts";

const stage = setStage(3);
const providers = ["amphora", "ovn"];

/** A Service that is served, with what it was made of, and no write since. */
async function served(config: Parameters<ReturnType<typeof stage>["run"]>[0], spec = {}, annotations = {}) {
  const { w, run, writes, hears, messagesOf, cloud, skip } = stage();
  run(config);
  const service = await w.createService("web", spec, annotations);
  await w.served("web");
  const [lb] = await w.loadBalancers();
  await pause(50);
  writes();
  return { w, writes, hears, messagesOf, cloud, skip, lb, service };
}

describe.each(providers)("a served Service on %s", (provider) => {
  test("a port comes with listener, pool and members and goes with them; the other is not touched", async () => {
    const { w, writes } = await served({ provider }, { ports: [tcp(80)] });
    await w.change("web", { spec: { ports: [tcp(80), tcp(443)] } });
    await w.settled("both", async () => (await w.members()).length === 6);
    expect(writes()).toEqual(["POST /listeners", "POST /pools", "PUT /pools/ID/members"]);
    await w.change("web", { spec: { ports: [tcp(80)] } });
    await w.settled("one", (lb) => lb.listeners.length + lb.pools.length === 2);
    expect(writes()).toEqual(["DELETE /pools/ID", "DELETE /listeners/ID"]);
  });

  test("a listener that is not tagged ours remains", async () => {
    const { w, lb, writes } = await served({ provider }, { ports: [tcp(80)] });
    const theirs = await w.cloud.loadBalancing.listeners.create({
      loadbalancer_id: lb?.id ?? "",
      protocol: "TCP",
      protocol_port: 9999,
      tags: ["another-owner"],
    });
    await w.settled("theirs next to ours", (now) => now.listeners.length === 2);
    await w.change("web", { spec: { ports: [tcp(81)] } });
    await w.settled("81", async (now) => now.listeners.length === 2 && (await w.members()).length === 3);
    expect(writes()).not.toContain("DELETE /loadbalancers/ID");
    expect(await w.cloud.loadBalancing.listeners.find(theirs.id)).toBeDefined();
  });

  test("another port number keeps load balancer and floating IP", async () => {
    const { w, lb, writes } = await served({ provider }, { ports: [tcp(80)] });
    const [ip] = await w.cloud.network.floatingIps.all();
    await w.change("web", { spec: { ports: [tcp(8080)] } });
    await w.settled("8080", async () => (await w.members()).length === 3 && (await ports(w)).includes(8080));
    expect(writes().filter((call) => call.includes("floatingips"))).toEqual([]);
    expect((await w.loadBalancers())[0]?.id).toBe(lb?.id);
    expect((await w.cloud.network.floatingIps.all()).map((f) => f.id)).toEqual([ip?.id]);
  });

  test("another session affinity is the pool's persistence, changed in place", async () => {
    const { w, writes } = await served({ provider });
    await w.change("web", { spec: { sessionAffinity: "ClientIP" } });
    const persistence = async () => (await w.cloud.loadBalancing.pools.all())[0]?.session_persistence?.type;
    await w.settled("by source", async () => (await persistence()) === "SOURCE_IP");
    await w.change("web", { spec: { sessionAffinity: "None" } });
    await w.settled("none", async () => (await persistence()) === undefined);
    expect(writes()).toEqual(["PUT /pools/ID", "PUT /pools/ID"]);
  });

  test("nodes that come or are excluded are one batch of all members for each pool", async () => {
    const { w, writes } = await served({ provider }, { ports: [tcp(80), tcp(443)] });
    await w.label("c-node-2", { "node.kubernetes.io/exclude-from-external-load-balancers": "true" });
    await w.settled("four", async () => (await w.members()).length === 4);
    await w.label("c-node-2", { "node.kubernetes.io/exclude-from-external-load-balancers": null });
    await w.settled("six", async () => (await w.members()).length === 6);
    expect(writes()).toEqual(Array.from({ length: 4 }, () => "PUT /pools/ID/members"));
  });

  test("a node that the autoscaler removes is no member; one that is not Ready remains", async () => {
    const { w } = await served({ provider });
    await w.taint("c-node-0", "node.kubernetes.io/not-ready");
    await w.taint("c-node-1", "ToBeDeletedByClusterAutoscaler");
    await w.settled("two", async () => (await w.members()).length === 2);
    expect((await w.members()).map((m) => m.name).toSorted()).toEqual(["c-node-0", "c-node-2"]);
  });

  test("local traffic with a monitor, reconciled again, costs nothing", async () => {
    const { w, writes } = await served({ provider, createMonitor: true }, { externalTrafficPolicy: "Local" });
    await w.settled("its monitor", async () => (await w.cloud.loadBalancing.healthMonitors.all()).length === 1);
    await pause(200);
    writes();
    await w.change("web", { metadata: { labels: { touched: "again" } } });
    await pause(400);
    expect(writes()).toEqual([]);
  });

  test("from internal to external it gets a floating IP, and back it loses it", async () => {
    const { w, writes } = await served({ provider }, {}, internal);
    const key = "service.beta.kubernetes.io/openstack-internal-load-balancer";
    await w.change("web", { metadata: { annotations: { [key]: "false" } } });
    await w.until("the floating IP", async () =>
      (await w.service("web")).status?.loadBalancer?.ingress?.[0]?.ip?.startsWith("172.24.4.") === true
        ? true
        : undefined,
    );
    await w.change("web", { metadata: { annotations: { [key]: "true" } } });
    await w.until("the VIP", async () =>
      (await w.service("web")).status?.loadBalancer?.ingress?.[0]?.ip?.startsWith("10.77.") === true ? true : undefined,
    );
    expect(writes()).toEqual(["POST /floatingips", "DELETE /floatingips/ID"]);
  });

  test("another loadBalancerIP replaces the floating IP by the wanted one", async () => {
    const { w } = await served({ provider });
    const [network] = await w.cloud.network.networks.all({ name: "public" });
    const wanted = await w.cloud.network.floatingIps.create({ floating_network_id: network?.id ?? "" });
    await w.change("web", { spec: { loadBalancerIP: wanted.floating_ip_address } });
    await w.until("the wanted address", async () =>
      (await w.service("web")).status?.loadBalancer?.ingress?.[0]?.ip === wanted.floating_ip_address ? true : undefined,
    );
    expect(await w.cloud.network.floatingIps.all()).toHaveLength(1);
    await w.remove("web");
    await w.cloud.network.floatingIps.delete(wanted.id);
  });

  test("tags of others remain on listener and load balancer", async () => {
    const { w, lb } = await served({ provider });
    const [listener] = await w.cloud.loadBalancing.listeners.all();
    await w.cloud.loadBalancing.listeners.update(listener?.id ?? "", { tags: ["theirs", ...(listener?.tags ?? [])] });
    await w.settled("the tag");
    await w.cloud.loadBalancing.loadBalancers.update(lb?.id ?? "", { tags: ["theirs"] });
    await w.settled(
      "both tags",
      (now) => now.tags.includes("kube_service_c_default_web") && now.tags.includes("theirs"),
    );
    await w.change("web", { metadata: { annotations: { [os("connection-limit")]: "7" } } });
    const limit = async () => (await w.cloud.loadBalancing.listeners.all())[0];
    await w.settled("the limit", async () => (await limit())?.connection_limit === 7);
    expect((await limit())?.tags.toSorted()).toEqual(["kube_service_c_default_web", "theirs"]);
  });

  test("a hostname annotation is all that is published", async () => {
    const { w } = await served({ provider }, {}, { [os("hostname")]: "web.example.org" });
    expect((await w.service("web")).status?.loadBalancer?.ingress).toEqual([{ hostname: "web.example.org" }]);
  });

  test("a hostname annotation that is no DNS name is reported once, and the address is published", async () => {
    const { w, messagesOf } = await served({ provider }, {}, { [os("hostname")]: "Bad_Host Name" });
    expect((await w.service("web")).status?.loadBalancer?.ingress).toEqual([{ ip: expect.any(String), ipMode: "VIP" }]);
    await pause(500);
    expect(await messagesOf("web", "LoadBalancerHostnameIgnored")).toHaveLength(1);
    expect(await messagesOf("web", "EnsuredLoadBalancer")).toHaveLength(1);
  });

  test("changes its load balancer as soon as that is ACTIVE, and never while it is PENDING", async () => {
    const { w, cloud, skip, lb, writes } = await served({ provider }, { ports: [tcp(80)] });
    cloud.setDelay(`loadbalancer.${provider}.update`, 600_000);
    await w.cloud.loadBalancing.loadBalancers.update(lb?.id ?? "", { description: "changed by hand" });
    await pause(400);
    writes();
    await w.change("web", { spec: { ports: [tcp(80), tcp(443)] } });
    await pause(300);
    expect(writes()).toEqual([]);
    cloud.setDelay(`loadbalancer.${provider}.update`, 0);
    skip(600_000);
    await w.until("the listener", async () => ((await ports(w)).includes(443) ? true : undefined));
    await w.settled("members", async () => (await w.members()).length === 6);
  });

  test("a 409 is tried again in place, soon, without a warning", async () => {
    const { w, cloud, messagesOf } = await served({ provider });
    refuse(cloud, "POST /listeners", {
      status: 409,
      message: "Load Balancer 1 is immutable and cannot be updated.",
      times: 2,
    });
    await w.change("web", { spec: { ports: [tcp(80), tcp(443)] } });
    await w.settled("both", async () => (await w.members()).length === 6);
    expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
  });

  test("a 429 is tried again not before the time that it names", async () => {
    const { w, cloud, messagesOf } = await served({ provider });
    refuse(cloud, "POST /listeners", { status: 429, message: "slow down", headers: { "retry-after": "1" } });
    const begin = Date.now();
    await w.change("web", { spec: { ports: [tcp(80), tcp(443)] } });
    await w.settled("both", async () => (await w.members()).length === 6);
    expect(Date.now() - begin).toBeGreaterThan(1_000);
    expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
  });

  test("a token that is refused is replaced once, and the call repeated", async () => {
    const { w, cloud, messagesOf } = await served({ provider });
    refuse(cloud, "POST /listeners", { status: 401, message: "The request you have made requires authentication." });
    const before = cloud.calls.length;
    await w.change("web", { spec: { ports: [tcp(80), tcp(443)] } });
    await w.settled("both", async () => (await w.members()).length === 6);
    const since = cloud.calls.slice(before);
    expect(since.filter((call) => call.method === "POST" && call.path.includes("auth/tokens"))).toHaveLength(1);
    expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
  });
});

async function ports(w: ReturnType<typeof stage>["w"]): Promise<number[]> {
  return (await w.cloud.loadBalancing.listeners.all()).map((l) => l.protocol_port);
}

describe("a served Service", () => {
  test("other source ranges are the listeners' allowed CIDRs; their order is nothing", async () => {
    const { w, writes } = await served({ provider: "amphora" }, { ports: [tcp(80), udp(53)] });
    const allowed = async () => (await w.cloud.loadBalancing.listeners.all()).map((l) => l.allowed_cidrs ?? []);
    const ranges = ["10.0.0.0/8", "192.168.0.0/16"];
    await w.change("web", { spec: { loadBalancerSourceRanges: ranges } });
    await w.settled("ranges", async () => (await allowed()).every((cidrs) => cidrs.length === 2));
    expect(writes()).toEqual(["PUT /listeners/ID", "PUT /listeners/ID"]);
    await w.change("web", { spec: { loadBalancerSourceRanges: ranges.toReversed() } });
    await pause(300);
    expect(writes()).toEqual([]);
  });

  test("source ranges that name an address of a network are that network, written once", async () => {
    const { w, writes } = await served({ provider: "amphora" }, { ports: [tcp(80)] });
    await w.change("web", { spec: { loadBalancerSourceRanges: ["10.1.2.3/8", "10.0.0.0/8", "192.168.7.1/24"] } });
    const allowed = async () => (await w.cloud.loadBalancing.listeners.all())[0]?.allowed_cidrs?.join(" ");
    await w.settled("ranges", async () => (await allowed()) === "10.0.0.0/8 192.168.7.0/24");
    await pause(300);
    expect(writes()).toEqual(["PUT /listeners/ID"]);
  });

  test("PROXY protocol replaces the pool and keeps the listener", async () => {
    const { w, writes } = await served({ provider: "amphora" });
    await w.change("web", { metadata: { annotations: { [os("proxy-protocol")]: "true" } } });
    const pool = async () => (await w.cloud.loadBalancing.pools.all())[0];
    await w.settled("PROXY", async () => (await pool())?.protocol === "PROXY" && (await w.members()).length === 3);
    expect(writes()).toEqual(["DELETE /pools/ID", "POST /pools", "PUT /pools/ID/members"]);
  });

  test("another method is one PUT of the pool; a refused one is reported, and other changes continue", async () => {
    const { w, writes, hears, cloud } = await served({ provider: "amphora" }, { ports: [tcp(80)] });
    const method = async () => (await w.cloud.loadBalancing.pools.all())[0]?.lb_algorithm;
    await w.change("web", { metadata: { annotations: { [os("lb-method")]: "LEAST_CONNECTIONS" } } });
    await w.settled("the method", async () => (await method()) === "LEAST_CONNECTIONS");
    expect(writes()).toEqual(["PUT /pools/ID"]);
    refuse(cloud, "PUT /pools/ID", { status: 400, message: "SOURCE_IP is not for you" });
    await w.change("web", {
      metadata: { annotations: { [os("lb-method")]: "SOURCE_IP" } },
      spec: { ports: [tcp(80), tcp(443)] },
    });
    expect(await hears("web", "LoadBalancerLbMethodUnknown")).toMatch(/SOURCE_IP is not for you/);
    await w.settled("the other port", async () => (await w.members()).length === 6);
    expect(writes()).toEqual(["PUT /pools/ID", "POST /listeners", "POST /pools", "PUT /pools/ID/members"]);
  });

  test("an unknown method is reported, and the default is used", async () => {
    const { hears, w } = await served({ provider: "amphora" }, {}, { [os("lb-method")]: "FASTEST" });
    expect(await hears("web", "LoadBalancerLbMethodUnknown")).toMatch(/FASTEST/);
    expect((await w.cloud.loadBalancing.pools.all())[0]?.lb_algorithm).toBe("ROUND_ROBIN");
  });

  test("with PROXY the address is of mode Proxy, or a hostname if ingress hostnames are on", async () => {
    const { w, service } = await served({ provider: "amphora", enableIngressHostname: true }, {}, internal);
    expect(service.metadata.name).toBe("web");
    expect((await w.service("web")).status?.loadBalancer?.ingress?.[0]).toMatchObject({ ipMode: "VIP" });
    await w.change("web", { metadata: { annotations: { [os("proxy-protocol")]: "true" } } });
    const vip = (await w.loadBalancers())[0]?.vip_address;
    await w.until("the hostname", async () =>
      (await w.service("web")).status?.loadBalancer?.ingress?.[0]?.hostname === `${vip}.nip.io` ? true : undefined,
    );
  });

  test("with PROXY and no ingress hostnames the address is of mode Proxy", async () => {
    const { w } = await served({ provider: "amphora" }, {}, { [os("proxy-protocol")]: "v2" });
    expect((await w.service("web")).status?.loadBalancer?.ingress?.[0]).toMatchObject({ ipMode: "Proxy" });
  });
});
