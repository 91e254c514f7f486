import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
import { routeOf } from "../testing/calls.ts";
import { internal, os, ownerOf, pause, setStage, tcp, udp, withOctavia } from "./stage.ts";

const stage = setStage(3);
const providers = ["amphora", "ovn"];

const listenersOf = async () => {
  const { w } = stage();
  const all = await w.cloud.loadBalancing.listeners.all();
  return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
};
const poolsOf = async () => {
  const { w } = stage();
  return (await w.cloud.loadBalancing.pools.all()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

test.each(["created", "freed"])(
  "a floating IP that was %s just before its Service is attached at once, without a refused POST or a warning",
  async (how) => {
    const { w, run, writes, messagesOf } = stage();
    run({ provider: "ovn" });
    await w.createService("warm");
    await w.served("warm");
    const [network] = await w.cloud.network.networks.all({ name: "public" });
    const other = await w.cloud.network.ports.create({ name: "other", network_id: w.infrastructure.subnet.network_id });
    const floating_network_id = network?.id ?? "";
    const early = { floating_network_id, port_id: other.id };
    const ip = await w.cloud.network.floatingIps.create(how === "freed" ? early : { floating_network_id });
    if (how === "freed") {
      await pause(1_000);
      await w.cloud.network.floatingIps.update(ip.id, { port_id: null });
    }
    writes();
    await w.createService("web", { loadBalancerIP: ip.floating_ip_address });
    const service = await w.served("web");
    expect(service.status?.loadBalancer?.ingress?.[0]?.ip).toBe(ip.floating_ip_address);
    expect(writes()).toEqual(["POST /loadbalancers", "PUT /floatingips/ID"]);
    expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
    await w.remove("web");
    await w.cloud.network.floatingIps.delete(ip.id);
    await w.cloud.network.ports.delete(other.id);
  },
);

describe.each(providers)("a new Service on %s", (provider) => {
  test("creates two listeners, two pools and three members each with one POST for two ports and three nodes", async () => {
    const { w, run, writes } = stage();
    run({ provider });
    writes();
    await w.createService("web", { ports: [tcp(80), tcp(443)] });
    await w.served("web");
    expect(writes()).toEqual(["POST /loadbalancers", "POST /floatingips"]);
    const [lb] = await w.loadBalancers();
    expect(lb?.tags.toSorted()).toEqual([await ownerOf(w, "web"), "kube_service_c_default_web"]);
    expect([await listenersOf(), await poolsOf()].map((all) => all.length)).toEqual([2, 2]);
    expect((await poolsOf()).map((pool) => pool.members.length)).toEqual([3, 3]);
  });

  test("listeners are named by index and load balancer, members by their nodes and at node ports", async () => {
    const { w, run } = stage();
    run({ provider });
    const service = await w.createService("web", { ports: [tcp(80), tcp(443)] });
    await w.served("web");
    expect((await listenersOf()).map((l) => l.name)).toEqual([
      "listener_0_kube_service_c_default_web",
      "listener_1_kube_service_c_default_web",
    ]);
    const nodePorts = (service.spec.ports ?? []).map((p) => p.nodePort);
    const members = await w.members();
    expect(new Set(members.map((m) => m.protocol_port))).toEqual(new Set(nodePorts));
    expect(new Set(members.map((m) => m.name))).toEqual(new Set(["c-node-0", "c-node-1", "c-node-2"]));
  });

  test("VIP and members are where the nodes are, or where the Service says", async () => {
    const { w, run } = stage();
    run({ provider });
    const { subnet } = w.infrastructure;
    await w.createService("web", {}, internal);
    await w.served("web");
    expect((await w.loadBalancers())[0]?.vip_subnet_id).toBe(subnet.id);
    expect((await w.members())[0]?.subnet_id).toBe(subnet.id);
    await w.remove("web");
    const other = await w.cloud.network.subnets.create({
      name: "c-other",
      network_id: subnet.network_id,
      ip_version: 4,
      cidr: "10.78.0.0/24",
    });
    await w.createService(
      "there",
      {},
      { ...internal, [os("subnet-id")]: other.id, [os("member-subnet-id")]: subnet.id },
    );
    await w.served("there");
    expect((await w.loadBalancers())[0]?.vip_subnet_id).toBe(other.id);
    expect((await w.members())[0]?.subnet_id).toBe(subnet.id);
    await w.remove("there");
    await w.createService("net", {}, { ...internal, [os("network-id")]: subnet.network_id });
    await w.served("net");
    expect((await w.loadBalancers())[0]?.vip_network_id).toBe(subnet.network_id);
    await w.remove("net");
    await w.cloud.network.subnets.delete(other.id);
  });

  test("an internal one costs no call of floating IPs and is published by its VIP", async () => {
    const { w, run, writes } = stage();
    run({ provider });
    writes();
    await w.createService("web", {}, internal);
    const service = await w.served("web");
    expect(writes()).toEqual(["POST /loadbalancers"]);
    const [lb] = await w.loadBalancers();
    expect(service.status?.loadBalancer?.ingress).toEqual([{ ip: lb?.vip_address, ipMode: "VIP" }]);
  });

  test("an external one has one floating IP of ours on its VIP, and id and address as annotations", async () => {
    const { w, run } = stage();
    const [network] = await w.cloud.network.networks.all({ name: "public" });
    run({ provider, floatingNetworkId: network?.id ?? "" });
    await w.createService("web");
    const service = await w.served("web");
    const [lb] = await w.loadBalancers();
    const [ip] = await w.cloud.network.floatingIps.all();
    expect(ip?.port_id).toBe(lb?.vip_port_id);
    expect(ip?.description).toMatch(/^Floating IP for Kubernetes external service default\/web/);
    expect(service.status?.loadBalancer?.ingress?.[0]?.ip).toBe(ip?.floating_ip_address);
    expect(service.metadata.annotations).toMatchObject({
      [os("load-balancer-id")]: lb?.id,
      [os("load-balancer-address")]: ip?.floating_ip_address,
    });
  });

  test("TCP and UDP of one number are two listeners that do not meet", async () => {
    const { w, run } = stage();
    run({ provider });
    await w.createService("dns", { ports: [tcp(53), udp(53)] });
    await w.served("dns");
    expect((await listenersOf()).map((l) => [l.protocol, l.protocol_port])).toEqual([
      ["TCP", 53],
      ["UDP", 53],
    ]);
  });

  test("SCTP has an SCTP listener, pool, and a monitor where the provider can have one", async () => {
    const { w, run, hears } = stage();
    run({ provider, createMonitor: true });
    await w.createService("sctp", { ports: [{ name: "s", port: 9, protocol: "SCTP" }] });
    await w.served("sctp");
    expect((await listenersOf()).map((l) => l.protocol)).toEqual(["SCTP"]);
    expect((await poolsOf()).map((p) => p.protocol)).toEqual(["SCTP"]);
    const monitors = await w.cloud.loadBalancing.healthMonitors.all();
    expect(monitors.map((m) => m.type)).toEqual(provider === "ovn" ? [] : ["SCTP"]);
    if (provider === "ovn") expect(await hears("sctp", "LoadBalancerHealthMonitorIgnored")).toMatch(/SCTP/);
  });

  test("monitors have the defaults 5, 3, 1 and 3, which annotations replace", async () => {
    const { w, run } = stage();
    run({ provider, createMonitor: true });
    await w.createService("web", {}, { [os("health-monitor-delay")]: "9" });
    await w.served("web");
    const monitors = () => w.cloud.loadBalancing.healthMonitors.all();
    await w.settled("its monitor", async () => (await monitors()).length === 1);
    expect((await monitors())[0]).toMatchObject({
      type: "TCP",
      delay: 9,
      timeout: 3,
      max_retries: 1,
      max_retries_down: 3,
    });
  });

  test("local traffic that nothing checks is never silent", async () => {
    const { w, run, hears } = stage();
    run({ provider });
    await w.createService("web", { externalTrafficPolicy: "Local" });
    expect(await hears("web", "LoadBalancerLocalTrafficUnchecked")).toMatch(/externalTrafficPolicy/);
  });

  test("only selected nodes with an address of the family are members", async () => {
    const { w, run } = stage();
    run({ provider });
    await w.label("c-node-1", { pool: "lb", ssd: "" });
    await w.createService("web", {}, { [os("node-selector")]: "pool=lb,ssd" });
    await w.served("web");
    expect((await w.members()).map((m) => m.name)).toEqual(["c-node-1"]);
  });

  test("without a node no load balancer is created, and an event reports it", async () => {
    const { w, run, hears, writes } = stage();
    run({ provider });
    writes();
    await w.createService("web", {}, { [os("node-selector")]: "none=here" });
    await hears("web", "UnAvailableLoadBalancer");
    expect(writes()).toEqual([]);
    await w.label("c-node-0", { none: "here" });
    await w.served("web");
  });

  test("a provider of serial calls gets the bare load balancer first, then one thing at a time", async () => {
    const { w, run, writes } = stage();
    run({ provider, serialApiCalls: true });
    writes();
    await w.createService("web", {}, internal);
    await w.settled("three members", async () => (await w.members()).length === 3);
    expect(writes()).toEqual([
      "POST /loadbalancers",
      "POST /listeners",
      "POST /pools",
      "POST /pools/ID/members",
      "POST /pools/ID/members",
      "POST /pools/ID/members",
    ]);
    expect((await w.members())[0]?.name).toMatch(/^member_c-node-\d_10\.77\.0\.\d+_\d+$/);
  });

  test("session affinity is the pool's persistence by source address", async () => {
    const { w, run } = stage();
    run({ provider });
    await w.createService("web", { sessionAffinity: "ClientIP" });
    await w.served("web");
    expect((await poolsOf())[0]?.session_persistence).toMatchObject({ type: "SOURCE_IP" });
  });

  test("gets another load balancer, after the first with all its parts was deleted, when that goes to ERROR while it is made", async () => {
    const { w, cloud, run, hears, writes } = stage();
    cloud.setOutcomes([{ operation: "loadbalancer.create", outcome: "error" }]);
    run({ provider });
    writes();
    await w.createService("web", {}, internal);
    await hears("web", "SyncLoadBalancerFailed", /ERROR/);
    cloud.setOutcomes([]);
    await w.served("web");
    expect(writes().slice(0, 2)).toEqual(["POST /loadbalancers", "DELETE /loadbalancers/ID"]);
    expect(await w.loadBalancers()).toHaveLength(1);
  });

  test("is published soon after its slow load balancer is ACTIVE", async () => {
    const { w, cloud, run } = stage();
    cloud.setDelay(`loadbalancer.${provider}.create`, 900);
    run({ provider });
    await w.createService("web", {}, internal);
    await w.settled("it");
    const active = Date.now();
    await w.served("web");
    expect(Date.now() - active).toBeLessThan(20_000);
    cloud.setDelay(`loadbalancer.${provider}.create`, 0);
  });
});

describe("a new Service", () => {
  test("internal-lb in cloud.conf is not undone by an annotation", async () => {
    const { w, run } = stage();
    run({ provider: "ovn", internal: true });
    await w.createService("web", {}, { "service.beta.kubernetes.io/openstack-internal-load-balancer": "false" });
    await w.served("web");
    expect(await w.cloud.network.floatingIps.all()).toEqual([]);
  });

  test("the second matching floating subnet is used when the first has no address left", async () => {
    const { w, cloud, run, messagesOf } = stage();
    const admin = connectCloud(loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator-admin" }));
    const [network] = await w.cloud.network.networks.all({ name: "public" });
    await admin.network.networks.update(network?.id ?? "", { shared: true });
    const body = { network_id: network?.id ?? "", ip_version: 4 as const };
    const full = await admin.network.subnets.create({ ...body, name: "spare-1", cidr: "172.30.1.0/24" });
    const free = await admin.network.subnets.create({ ...body, name: "spare-2", cidr: "172.30.2.0/24" });
    let first = true;
    cloud.setFaults((call) => {
      if (routeOf(call) !== "POST /floatingips" || !first) return undefined;
      first = false;
      const message = "No more IP addresses available on the subnet.";
      const body = { NeutronError: { type: "IpAddressGenerationFailure", message, detail: "" } };
      return { when: "before", status: 409, body };
    });
    run({ provider: "ovn", floatingNetworkId: network?.id ?? "" });
    await w.createService("web", {}, { [os("floating-subnet")]: "spare-*" });
    await w.served("web");
    const [ip] = await w.cloud.network.floatingIps.all();
    expect(ip?.floating_ip_address).toMatch(/^172\.30\.[12]\./);
    expect([first, await messagesOf("web", "SyncLoadBalancerFailed")]).toEqual([false, []]);
    await w.remove("web");
    for (const subnet of [full, free]) await admin.network.subnets.delete(subnet.id);
    await admin.network.networks.update(network?.id ?? "", { shared: false });
    await admin.close();
  });

  test("a floating subnet of another network fails before anything is made", async () => {
    const { w, run, hears, writes } = stage();
    const [network] = await w.cloud.network.networks.all({ name: "public" });
    run({ provider: "ovn", floatingNetworkId: network?.id ?? "" });
    writes();
    await w.createService("web", {}, { [os("floating-subnet-id")]: w.infrastructure.subnet.id });
    expect(await hears("web", "SyncLoadBalancerFailed")).toMatch(/not of network/);
    expect(writes()).toEqual([]);
  });

  test("a free floating IP of the project is attached; one in use is not detached from its port", async () => {
    const { w, run, hears, writes } = stage();
    const [network] = await w.cloud.network.networks.all({ name: "public" });
    const made = await w.cloud.network.floatingIps.create({ floating_network_id: network?.id ?? "" });
    run({ provider: "ovn" });
    writes();
    await w.createService("web", { loadBalancerIP: made.floating_ip_address });
    await w.served("web");
    expect(writes()).toEqual(["POST /loadbalancers", "PUT /floatingips/ID"]);
    await w.createService("thief", { loadBalancerIP: made.floating_ip_address });
    expect(await hears("thief", "SyncLoadBalancerFailed")).toMatch(/used by another port/);
    const lb = (await w.loadBalancers()).find((l) => l.name.endsWith("_web"));
    expect((await w.cloud.network.floatingIps.get(made.id)).port_id).toBe(lb?.vip_port_id);
    await w.remove("thief");
    await w.remove("web");
    expect((await w.cloud.network.floatingIps.get(made.id)).port_id).toBeNull();
    await w.cloud.network.floatingIps.delete(made.id);
  });

  test("an availability zone is not sent to an API that is too old for it, and an event reports it", async () => {
    const { w, cloud, run, hears } = stage();
    withOctavia(cloud, "2.13");
    run({ provider: "amphora" });
    await w.createService("web", {}, { [os("availability-zone")]: "az1", ...internal });
    expect(await hears("web", "LoadBalancerAvailabilityZonesIgnored")).toMatch(/availability zones/);
    await w.served("web");
  });

  test("what OVN does not support is not sent, and events report flavors, zones, timeouts, source ranges", async () => {
    const { w, run, messagesOf } = stage();
    run({ provider: "ovn" });
    const annotations = {
      [os("flavor-id")]: "f",
      [os("availability-zone")]: "z",
      [os("timeout-client-data")]: "100",
      [os("lb-method")]: "ROUND_ROBIN",
    };
    await w.createService("web", { loadBalancerSourceRanges: ["10.0.0.0/8"] }, annotations);
    await w.served("web");
    expect((await w.loadBalancers())[0]).toMatchObject({ provider: "ovn", flavor_id: null, availability_zone: null });
    const [listener] = await listenersOf();
    expect(listener).toMatchObject({ timeout_client_data: 50_000, allowed_cidrs: null });
    for (const what of ["Flavor", "AvailabilityZones", "Timeouts", "SourceRanges", "LbMethod"])
      expect(await messagesOf("web", `LoadBalancer${what}Ignored`), what).toHaveLength(1);
  });

  test("where no provider is configured one is always named: amphora if the cloud has it, else OVN", async () => {
    const { w, run } = stage();
    run({});
    await w.createService("web", {}, internal);
    await w.served("web");
    expect((await w.loadBalancers())[0]?.provider).toBe("amphora");
  });

  test("on a cloud with OVN alone, that is requested with its own method", async () => {
    const { w, cloud, run } = stage();
    withOctavia(cloud, "2.26", ["ovn"]);
    run({});
    await w.createService("web", {}, internal);
    await w.served("web");
    expect((await w.loadBalancers())[0]?.provider).toBe("ovn");
    expect((await poolsOf())[0]?.lb_algorithm).toBe("SOURCE_IP_PORT");
  });

  test("a Service chooses its provider by itself", async () => {
    const { w, run } = stage();
    run({ provider: "amphora" });
    await w.createService("web", {}, { ...internal, [os("provider")]: "ovn", [os("tags")]: "team-a, prod" });
    await w.served("web");
    const [lb] = await w.loadBalancers();
    expect(lb?.provider).toBe("ovn");
    expect(lb?.tags.toSorted()).toEqual([await ownerOf(w, "web"), "kube_service_c_default_web", "prod", "team-a"]);
  });
});
