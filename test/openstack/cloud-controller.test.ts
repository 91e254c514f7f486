/**
 * The cloud controller manager between an API server of ours and a real OpenStack: nodes and load balancers, with both
 * providers.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { World } from "@causeway/cloud-controller-manager/testing";
import { Node } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { inventory } from "../support/inventory.ts";

const config = loadCloudsYaml({ cloud: process.env["OS_CLOUD"] ?? "devcloud" });
const prefix = `ccm-${randomBytes(3).toString("hex")}`;

describe("the cloud controller manager on a real OpenStack", () => {
  let world: World;
  let cloud: Cloud;
  let before: string[];

  beforeAll(async () => {
    cloud = connectCloud(config);
    before = ours(await inventory(cloud));
    world = await World.start({
      server: await startApiServer(),
      config,
      prefix,
      servers: 2,
      timeout: 600_000,
      pollEvery: 500,
    });
  });

  afterAll(async () => {
    await world?.close();
    await cloud?.close();
  });

  test("initialises nodes from Nova and Neutron", async () => {
    const manager = world.run({ provider: "ovn" });
    await world.joinAll();
    for (const server of world.infrastructure.servers) {
      const node = await world.client.get(Node, { namespace: "", name: server.name });
      expect(node.spec?.providerID).toBe(`openstack:///${server.id}`);
      expect(node.status?.addresses?.find((a) => a.type === "InternalIP")?.address).toMatch(/^10\.77\.0\./);
      expect(node.metadata.labels).toMatchObject({
        "topology.kubernetes.io/region": "RegionOne",
        "topology.kubernetes.io/zone": "nova",
        "node.kubernetes.io/instance-type": expect.stringMatching(/./),
      });
    }
    await manager.stop();
  });

  test("routes to the nodes' pods, and takes the routes back when the nodes go", async () => {
    const { routerId, servers } = world.infrastructure;
    const { network } = world.cloud;
    const manager = world.run({ enabled: false }, { config: { routerId }, clusterCidr: "10.244.0.0/16" });
    const stranger = { destination: "192.168.7.0/24", nexthop: "10.77.0.250" };
    await network.addRoutes(routerId, [stranger]);
    const routes = async () => (await network.routers.get(routerId)).routes.map((r) => r.destination).sort();
    for (const [i, { name }] of servers.entries()) {
      const spec = { podCIDR: `10.244.${i}.0/24`, podCIDRs: [`10.244.${i}.0/24`] };
      await world.client.patch(Node, { namespace: "", name }, { type: "merge", body: { spec } });
    }
    await world.until("routes", async () => ((await routes()).length === 3 ? true : undefined));
    expect(await routes()).toEqual(["10.244.0.0/24", "10.244.1.0/24", "192.168.7.0/24"]);
    for (const [i, { id, name }] of servers.entries()) {
      const node = await world.until(`the event of ${name}`, async () => {
        const found = await world.client.get(Node, { namespace: "", name });
        return found.status?.conditions?.some((c) => c.type === "NetworkUnavailable" && c.status === "False")
          ? found
          : undefined;
      });
      expect(node.metadata.name).toBe(name);
      const [port] = await network.ports.all({ device_id: id });
      expect(port?.allowed_address_pairs.map((p) => p.ip_address)).toEqual([`10.244.${i}.0/24`]);
    }
    console.log("routes", JSON.stringify(manager.cloud.stats().byRoute));
    for (const { name } of servers) await world.client.delete(Node, { namespace: "", name });
    await world.until("their end", async () => ((await routes()).length === 1 ? true : undefined));
    await network.removeRoutes(routerId, [stranger]);
    await manager.stop();
    const again = world.run({ enabled: false });
    await world.joinAll();
    await again.stop();
  });

  for (const provider of ["ovn", "amphora"]) {
    test(`serves, changes and gives back a load balancer of ${provider}`, async () => {
      const manager = world.run({ provider });
      const name = `web-${provider}`;
      const ports = [
        { name: "http", port: 80, protocol: "TCP" as const },
        { name: "dns", port: 53, protocol: "UDP" as const },
      ];
      await world.createService(name, { ports, sessionAffinity: "ClientIP" });
      const service = await world.served(name);
      expect(service.status?.loadBalancer?.ingress?.[0]).toMatchObject({
        ip: expect.stringMatching(/^172\.24\.4\./),
        ipMode: "VIP",
      });
      expect(await world.members()).toHaveLength(4);
      expect(manager.cloud.stats().byRoute["POST load-balancer /loadbalancers"]).toBe(1);

      const writes = manager.cloud.stats().writes;
      await world.change(name, { metadata: { labels: { touched: "again" } } });
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect(manager.cloud.stats().writes).toBe(writes);

      await world.change(name, { spec: { ports: [{ name: "http", port: 80, protocol: "TCP" }] } });
      await world.settled("one listener", (lb) => lb.listeners.length === 1 && lb.pools.length === 1);

      const [server] = world.infrastructure.servers;
      const label = (value: string | null) => ({
        metadata: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": value } },
      });
      const key = { namespace: "", name: server?.name ?? "" };
      await world.client.patch(Node, key, { type: "merge", body: label("true") });
      await world.settled("one member", async () => (await world.members()).length === 1);
      await world.client.patch(Node, key, { type: "merge", body: label(null) });
      await world.settled("two members", async () => (await world.members()).length === 2);

      const monitors = async () => {
        const all = await world.cloud.loadBalancing.healthMonitors.all();
        return all.filter((monitor) => monitor.name.includes(`_${prefix}_`));
      };
      const annotate = (key: string, value: string) =>
        world.change(name, { metadata: { annotations: { [`loadbalancer.openstack.org/${key}`]: value } } });
      await annotate("enable-health-monitor", "true");
      await world.settled("a monitor", async () => (await monitors()).length === 1);
      await annotate("health-monitor-delay", "7");
      await world.settled("its delay", async () => (await monitors())[0]?.delay === 7);

      await world.remove(name);
      expect(await world.loadBalancers()).toEqual([]);
      console.log(provider, JSON.stringify(manager.cloud.stats().byRoute));
      await manager.stop();
    });
  }

  test("keeps a security group on the nodes' ports, and takes it away with its Service", async () => {
    const manager = world.run({ provider: "ovn", manageSecurityGroups: true });
    await world.createService("guarded", { loadBalancerSourceRanges: ["192.0.2.0/24"] });
    await world.served("guarded");
    const groups = async () => {
      const all = await world.cloud.network.securityGroups.all();
      return all.filter((group) => group.description.includes(`in cluster ${prefix}`));
    };
    const [group, ...more] = await groups();
    expect(more).toEqual([]);
    const rules = group?.security_group_rules.filter((rule) => rule.direction === "ingress") ?? [];
    expect(rules.map((rule) => rule.remote_ip_prefix)).toEqual(["192.0.2.0/24"]);
    for (const { id } of world.infrastructure.servers) {
      const [port] = await world.cloud.network.ports.all({ device_id: id });
      expect(port?.security_groups).toContain(group?.id);
    }
    console.log("security group", JSON.stringify(manager.cloud.stats().byRoute));
    await world.remove("guarded");
    expect(await groups()).toEqual([]);
    await manager.stop();
  });

  test("a listener has the access list of its Service, and follows it", async () => {
    const manager = world.run({ provider: "amphora" });
    const given = ["192.0.2.0/24", "198.51.100.7/32"];
    await world.createService("listed", { loadBalancerSourceRanges: given });
    await world.served("listed");
    const listeners = async () => {
      const own = new Set((await world.loadBalancers()).map(({ id }) => id));
      const all = await world.cloud.loadBalancing.listeners.all();
      return all.filter(({ loadbalancers }) => loadbalancers.some(({ id }) => own.has(id)));
    };
    const allowed = async () => (await listeners()).map(({ allowed_cidrs }) => (allowed_cidrs ?? []).toSorted());
    expect(await allowed()).toEqual([given]);
    const [before] = await listeners();
    await world.change("listed", { spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] } });
    await world.settled("a shorter list", async () => (await allowed()).join() === "192.0.2.0/24");
    await world.change("listed", { spec: { loadBalancerSourceRanges: null } });
    await world.settled("no list", async () => ["", "0.0.0.0/0"].includes((await allowed()).join()));
    expect((await listeners()).map(({ id }) => id)).toEqual([before?.id]);
    await world.remove("listed");
    await manager.stop();
  });

  test("leaves nothing", async () => {
    await world.close();
    expect(ours(await inventory(cloud))).toEqual(before);
    const descriptions = (await cloud.network.floatingIps.all()).map((ip) => ip.description);
    expect(descriptions.filter((text) => text.includes(prefix))).toEqual([]);
  });
});

/** Others may work in the same project. */
function ours(lines: readonly string[]): string[] {
  return lines.filter((line) => line.includes(prefix));
}
