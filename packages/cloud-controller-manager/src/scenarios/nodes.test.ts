import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Event, Node } from "@causeway/kubernetes";
import { loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { workIn } from "../testing/calls.ts";
import { fastClock, World } from "../testing/world.ts";

let world: World | undefined;
let simulator: Simulator | undefined;

afterEach(async () => {
  await world?.close();
  await simulator?.close();
  world = simulator = undefined;
});

async function started(servers: number): Promise<{ w: World; cloud: Simulator; work: () => string[] }> {
  const cloud = (simulator = await startSimulator({ profile: "instant" }));
  const config = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" });
  const server = await startApiServer();
  const intervals = { fast: 20, fastest: 20, slow: 200 };
  const w = (world = await World.start({ server, config, prefix: "n", servers, intervals }));
  return { w, cloud, work: workIn(cloud.calls) };
}

const key = (name: string) => ({ namespace: "", name });

describe("nodes", () => {
  test("are initialised by lists alone: no call for a single one, and no write in the cloud", async () => {
    const { w, cloud, work } = await started(12);
    work();
    const before = cloud.calls.length;
    w.run();
    await w.joinAll();
    expect(work()).toEqual([]);
    expect(cloud.calls.slice(before).filter((c) => c.path.includes("/servers")).length).toBeLessThan(20);
    const [server] = w.infrastructure.servers;
    const node = await w.client.get(Node, key("n-node-0"));
    expect(node.spec).toMatchObject({ providerID: `openstack:///${server?.id}` });
    expect(node.status?.addresses?.map((a) => a.type)).toEqual(["InternalIP", "Hostname"]);
    expect(node.metadata.labels).toMatchObject({
      "topology.kubernetes.io/region": "RegionOne",
      "topology.kubernetes.io/zone": "nova",
    });
  });

  test("are initialised in a cloud without Octavia; its Services are told", async () => {
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

  test("stay while the cloud is away", async () => {
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
