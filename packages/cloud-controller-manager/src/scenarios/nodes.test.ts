import { describe, expect, test, vi } from "vitest";
import { Event, Node } from "@causeway/kubernetes";
import { fastClock, type World } from "../testing/world.ts";
import { shutdownTaint, uninitializedTaint } from "../node/taints.ts";
import { ownWorlds } from "./own-world.ts";
import { pause } from "./stage.ts";

// It waits in real time.
vi.setConfig({ testTimeout: 300_000 });

const start = ownWorlds();
const started = (servers: number) => start({ prefix: "n", servers, timeout: 30_000 });

async function whatToBoot(w: World): Promise<{ flavor: string; image: string }> {
  const [flavor] = await w.cloud.compute.flavors.all();
  const [image] = await w.cloud.image.images.all({ name: "cirros" });
  return { flavor: flavor?.id ?? "", image: image?.id ?? "" };
}

async function initialised(w: World, name: string): Promise<Node | undefined> {
  const node = await w.client.get(Node, key(name));
  return node.spec?.taints?.some((taint) => taint.key === uninitializedTaint) ? undefined : node;
}

const key = (name: string) => ({ namespace: "", name });

describe("Nodes of the cloud controller", () => {
  test("are initialised by lists alone: no call for a single one, and no write in the cloud", async () => {
    // No list comes by itself in this time: all that there are belong to the twelve nodes.
    const intervals = { fast: 20, fastest: 20, slow: 3_600_000 };
    const { w, cloud, work } = await start({ prefix: "n", servers: 12, timeout: 30_000, intervals });
    work();
    const before = cloud.calls.length;
    w.run();
    await w.joinAll();
    expect(work()).toEqual([]);
    const reads = cloud.calls.slice(before).filter((c) => c.path.includes("/servers"));
    expect(reads).not.toEqual([]);
    expect(reads.length).toBeLessThan(3);
    expect(reads.map((c) => c.path).filter((path) => !path.endsWith("/servers/detail"))).toEqual([]);
    const [server] = w.infrastructure.servers;
    const node = await w.client.get(Node, key("n-node-0"));
    expect(node.spec).toMatchObject({ providerID: `openstack:///${server?.id}` });
    expect(node.status?.addresses?.map((a) => a.type)).toEqual(["InternalIP", "Hostname"]);
    expect(node.metadata.labels).toMatchObject({
      "topology.kubernetes.io/region": "RegionOne",
      "topology.kubernetes.io/zone": "nova",
    });
  });

  test("are initialised in a cloud without Octavia; its Services get an event", async () => {
    const { w } = await started(1);
    w.run({}, { octavia: false });
    await w.joinAll();
    await w.createService("web");
    const message = await w.until("the event", async () => {
      const events = await w.client.list(Event, { namespace: "default" });
      return events.items.find((e) => e.reason === "SyncLoadBalancerFailed")?.message;
    });
    expect(message).toMatch(/no load balancing service \(Octavia\)/);
    await w.remove("web");
  });

  test("of a server that is gone go only when the cloud has denied it several times and the kubelet is not Ready", async () => {
    const { w } = await started(2);
    w.run({}, { clock: fastClock(50) });
    await w.joinAll();
    for (const server of w.infrastructure.servers) await w.cloud.compute.servers.delete(server.id);
    const conditions = [{ type: "Ready", status: "Unknown", lastHeartbeatTime: new Date().toISOString() }];
    const body = { status: { conditions } };
    await w.client.patch(Node, key("n-node-0"), { type: "merge", body }, { subresource: "status" });
    await w.until("the end of the first", async () =>
      (await w.client.find(Node, key("n-node-0"))) ? undefined : true,
    );
    expect(await w.client.find(Node, key("n-node-1"))).toBeDefined();
    await w.until("its event", async () =>
      (await w.eventsOf("n-node-0")).includes("DeletingNode") ? true : undefined,
    );
  });

  test("whose kubelet falls silent are read at once: what became of the server is known long before the next list", async () => {
    const { w, cloud } = await start({
      prefix: "n",
      servers: 2,
      intervals: { fast: 20, fastest: 20, slow: 3_600_000 },
    });
    w.run({}, { clock: fastClock(20) });
    await w.joinAll();
    const silent = (name: string) => {
      const conditions = [{ type: "Ready", status: "Unknown", lastHeartbeatTime: new Date().toISOString() }];
      return w.client.patch(
        Node,
        key(name),
        { type: "merge", body: { status: { conditions } } },
        { subresource: "status" },
      );
    };
    const [stopped, gone] = w.infrastructure.servers;
    await w.cloud.compute.serverActions.stop(stopped?.id ?? "");
    await w.cloud.compute.servers.delete(gone?.id ?? "");
    await silent("n-node-0");
    await silent("n-node-1");
    await w.until("the taint", async () => {
      const node = await w.client.get(Node, key("n-node-0"));
      return node.spec?.taints?.some((t) => t.key === shutdownTaint) ? true : undefined;
    });
    await w.until("its end", async () => ((await w.client.find(Node, key("n-node-1"))) ? undefined : true));
    const lists = () => cloud.calls.filter((call) => call.path.includes("/servers/detail")).length;
    await pause(6_500);
    const before = lists();
    await pause(1_000);
    expect(lists()).toBe(before);
  });

  test("of a stopped server have the shutdown taint until it is started again", async () => {
    const { w } = await started(1);
    w.run();
    await w.joinAll();
    const id = w.infrastructure.servers[0]?.id ?? "";
    const tainted = async () =>
      (await w.client.get(Node, key("n-node-0"))).spec?.taints?.some((t) => t.key.endsWith("/shutdown")) === true;
    await w.cloud.compute.serverActions.stop(id);
    await w.until("the taint", async () => ((await tainted()) ? true : undefined));
    await w.cloud.compute.serverActions.start(id);
    await w.until("its end", async () => ((await tainted()) ? undefined : true));
  });

  test("have the addresses of their trunk's subports, by the rules of those networks", async () => {
    const { w } = await started(1);
    const { network } = w.cloud;
    const net = await network.networks.create({ name: "storage" });
    await network.subnets.create({ name: "storage", network_id: net.id, ip_version: 4, cidr: "10.88.0.0/24" });
    const below = await network.ports.create({ name: "below", network_id: net.id });
    const parent = await network.ports.create({ name: "parent", network_id: w.infrastructure.subnet.network_id });
    const trunk = await network.trunks.create({ name: "trunk", port_id: parent.id });
    await network.addSubPorts(trunk.id, [{ port_id: below.id, segmentation_type: "vlan", segmentation_id: 7 }]);
    const { flavor, image } = await whatToBoot(w);
    const body = { name: "n-trunk", flavorRef: flavor, imageRef: image, networks: [{ port: parent.id }] };
    const server = await w.cloud.compute.servers.create(body);
    w.run();
    await w.join({ ...server, name: "n-trunk" });
    const node = await w.until("its taint's end", async () => {
      const found = await w.client.get(Node, key("n-trunk"));
      return found.spec?.providerID === undefined ? undefined : found;
    });
    const internal = (node.status?.addresses ?? []).filter((a) => a.type === "InternalIP").map((a) => a.address);
    expect(internal).toEqual([parent.fixed_ips[0]?.ip_address, below.fixed_ips[0]?.ip_address]);
    await w.cloud.compute.servers.delete(server.id);
    await w.until("the server's end", async () => ((await w.cloud.compute.servers.find(server.id)) ? undefined : true));
    await network.trunks.delete(trunk.id);
    for (const port of [parent, below]) await network.ports.delete(port.id);
    await network.networks.delete(net.id);
  });

  test("whose name two servers have get a warning and are not initialised until one of the two is deleted", async () => {
    const { w } = await started(2);
    w.run();
    const [first, second] = w.infrastructure.servers;
    await w.cloud.compute.servers.update(second?.id ?? "", { name: "n-node-0" });
    if (first) await w.join(first);
    await w.until("the word", async () =>
      (await w.eventsOf("n-node-0")).includes("AmbiguousServer") ? true : undefined,
    );
    expect((await w.client.get(Node, key("n-node-0"))).spec?.providerID ?? "").toBe("");
    await w.cloud.compute.servers.update(second?.id ?? "", { name: "n-node-1" });
    await w.until("its providerID", async () => (await w.client.get(Node, key("n-node-0"))).spec?.providerID);
  });

  test("are initialised by one controller and given up by another where the two run apart, as in a migration", async () => {
    const { w } = await started(2);
    const lifecycle = w.run({}, { controllers: new Set(["cloud-node-lifecycle"] as const), clock: fastClock(50) });
    for (const server of w.infrastructure.servers) await w.join(server);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await w.client.get(Node, key("n-node-0"))).spec?.providerID ?? "").toBe("");
    const node = w.run({}, { controllers: new Set(["cloud-node"] as const), clock: fastClock(50) });
    await w.until("its providerID", async () => (await w.client.get(Node, key("n-node-0"))).spec?.providerID);
    await lifecycle.stop();
    await w.cloud.compute.servers.delete(w.infrastructure.servers[0]?.id ?? "");
    const body = { status: { conditions: [{ type: "Ready", status: "False" }] } };
    await w.client.patch(Node, key("n-node-0"), { type: "merge", body }, { subresource: "status" });
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(await w.client.find(Node, key("n-node-0"))).toBeDefined();
    await node.stop();
    w.run({}, { controllers: new Set(["cloud-node-lifecycle"] as const), clock: fastClock(50) });
    await w.until("its end", async () => ((await w.client.find(Node, key("n-node-0"))) ? undefined : true));
  });

  test("are initialised while Octavia answers with errors, or not at all", async () => {
    const { w, cloud } = await started(2);
    const [first, second] = w.infrastructure.servers;
    cloud.setFaults((call) =>
      call.service === "load-balancer" ? { when: "before", status: 503, body: {} } : undefined,
    );
    w.run();
    await w.createService("web");
    if (first) await w.join(first);
    await w.until("the first", () => initialised(w, "n-node-0"));
    cloud.setFaults(undefined);
    cloud.setDelay("request.load-balancer", 20_000);
    if (second) await w.join(second);
    await w.until("the second", () => initialised(w, "n-node-1"));
    expect((await w.service("web")).status?.loadBalancer?.ingress ?? []).toEqual([]);
    cloud.setDelay("request.load-balancer", 0);
  });

  test("remain though lists lack their server for a while: only three denials in a row are believed", async () => {
    const { w, cloud } = await started(1);
    const speed = 20;
    let gone = false;
    let until = Number.POSITIVE_INFINITY;
    let after = 0;
    w.run({}, { clock: fastClock(speed) });
    await w.joinAll();
    cloud.setFaults((call) => {
      if (call.method !== "GET" || !call.path.includes("/servers/")) return undefined;
      if (!call.path.includes("/servers/detail"))
        return gone ? { when: "before", status: 404, body: { itemNotFound: { code: 404, message: "no" } } } : undefined;
      // Denials are five seconds apart: there is time for two.
      if (until === Number.POSITIVE_INFINITY) until = Date.now() + 9_000 / speed;
      if (gone || Date.now() < until) return { when: "before", status: 200, body: { servers: [] } };
      after++;
      return undefined;
    });
    const silence = { status: { conditions: [{ type: "Ready", status: "Unknown" }] } };
    await w.client.patch(Node, key("n-node-0"), { type: "merge", body: silence }, { subresource: "status" });
    await w.until("enough reconciles", async () => (after >= 3 ? true : undefined));
    await pause(300);
    expect(await w.client.find(Node, key("n-node-0"))).toBeDefined();
    gone = true;
    await w.until("its end", async () => ((await w.client.find(Node, key("n-node-0"))) ? undefined : true));
  });

  test("remain while lists are empty and their server is returned by its id", async () => {
    const { w, cloud } = await started(1);
    w.run({}, { clock: fastClock(100) });
    await w.joinAll();
    let gone = false;
    let lists = 0;
    cloud.setFaults((call) => {
      if (call.method !== "GET" || !call.path.includes("/servers/")) return undefined;
      if (!call.path.includes("/servers/detail"))
        return gone ? { when: "before", status: 404, body: { itemNotFound: { code: 404, message: "no" } } } : undefined;
      lists++;
      return { when: "before", status: 200, body: { servers: [] } };
    });
    const silence = { status: { conditions: [{ type: "Ready", status: "Unknown" }] } };
    await w.client.patch(Node, key("n-node-0"), { type: "merge", body: silence }, { subresource: "status" });
    // Several times as many as are believed of a server that is gone.
    await w.until("lists", async () => (lists >= 15 ? true : undefined));
    await pause(1_000);
    expect(await w.client.find(Node, key("n-node-0"))).toBeDefined();
    gone = true;
    await w.until("its end", async () => ((await w.client.find(Node, key("n-node-0"))) ? undefined : true));
  });

  test("remain while the cloud is away", async () => {
    const { w, cloud } = await started(1);
    w.run({}, { clock: fastClock(50) });
    await w.joinAll();
    cloud.setFaults((call) => (call.path.includes("/servers") ? { when: "before", status: 404, body: {} } : undefined));
    const body = { status: { conditions: [{ type: "Ready", status: "False" }] } };
    await w.client.patch(Node, key("n-node-0"), { type: "merge", body }, { subresource: "status" });
    await new Promise((resolve) => setTimeout(resolve, 800));
    cloud.setFaults(undefined);
    expect(await w.client.find(Node, key("n-node-0"))).toBeDefined();
  });
});
