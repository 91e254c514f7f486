/**
 * Packets through load balancers of a real OpenStack (OVN): they arrive where the Service says, from whom they come,
 * and nowhere else.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { World } from "@causeway/cloud-controller-manager/testing";
import { Node, type Service } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Server } from "@causeway/openstack";
import { Namespaces } from "./packets/namespaces.ts";
import { askOften, type Heard } from "./packets/peer.ts";

const config = loadCloudsYaml({ cloud: process.env["OS_CLOUD"] ?? "devcloud" });
const prefix = `pkt-${randomBytes(3).toString("hex")}`;
/** So many questions at once that both of two members are reached by chance but once in half a million. */
const MANY = 20;
const TCP = { protocol: "tcp", port: 80 } as const;
const UDP = { protocol: "udp", port: 53 } as const;
const BOTH = [TCP, UDP] as const;
const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
/** Milliseconds after which packets go where they should at the latest: the switch may have had to start again. */
const TIMEOUT = 300_000;
const PAUSE = 1_000;
/** This machine's address on the external network. */
const HOST = "172.24.4.1";
/** A cloud whose servers share one machine may be slow to make three of them. */
const SETTING_UP = 1_200_000;

describe("packets through a load balancer", () => {
  const namespaces = new Namespaces();
  let world: World;
  let manager: ReturnType<World["run"]>;
  let nodes: readonly Server[];
  let client: Server;
  let group: string | undefined;
  let service: Service;
  let outside: string;
  let vip: string;

  const pair = (): readonly [Server, Server] => {
    const [one, two] = nodes;
    if (!one || !two) throw new Error("there are not two nodes");
    return [one, two];
  };
  const nodePort = (name: string): number => service.spec.ports?.find((p) => p.name === name)?.nodePort ?? 0;
  const serving = async (node: Server, work: "serve" | "silence"): Promise<void> => {
    for (const name of ["http", "dns"]) await namespaces[work](node, nodePort(name));
  };
  /** A Service of both protocols, which every node answers for at those two ports. */
  const serveAs = async (name: string, [http, dns]: readonly [number, number]): Promise<void> => {
    const ports = [
      { name: "http", port: 80, nodePort: http, protocol: "TCP" as const },
      { name: "dns", port: 53, nodePort: dns, protocol: "UDP" as const },
    ];
    await world.createService(name, { ports });
    service = await world.served(name);
    outside = service.status?.loadBalancer?.ingress?.[0]?.ip ?? "";
    const balancers = await world.loadBalancers();
    vip = balancers.find((lb) => lb.name.endsWith(`_${name}`))?.vip_address ?? "";
    for (const node of nodes) await serving(node, "serve");
  };
  const fromOutside = (where: typeof TCP | typeof UDP): Promise<Heard> =>
    askOften({ ...where, address: outside, count: MANY });
  const fromInside = (where: typeof TCP | typeof UDP): Promise<Heard> =>
    namespaces.ask(client, { ...where, address: vip, count: MANY });
  const inside = (): string => Object.values(client.addresses).flat()[0]?.addr ?? "";
  /**
   * Sends requests until those of one round were served by just these, each of which saw this client; an empty list: by
   * none.
   */
  const untilHeard = async (of: readonly Server[], saw: string, check: () => Promise<Heard>): Promise<void> => {
    const wanted = of.length === 0 ? ["no answer"] : of.map(({ name }) => `${name} saw ${saw}`);
    for (const end = Date.now() + TIMEOUT; ;) {
      const answers = await check();
      const heard = [...new Set(answers.map((a) => (a ? `${a.name} saw ${a.client}` : "no answer")))].toSorted();
      if (isDeepStrictEqual(heard, wanted)) return;
      if (Date.now() > end) expect(heard).toEqual(wanted);
      await sleep(PAUSE);
    }
  };

  beforeAll(async () => {
    const server = await startApiServer();
    world = await World.start({ server, config, prefix, servers: 3, timeout: 600_000, pollEvery: 500 });
    const [one, two, three] = world.infrastructure.servers;
    if (!one || !two || !three) throw new Error("there are not three servers");
    expect(existsSync(`/run/netns/vm-${one.id}`), "the servers of this cloud are network namespaces of this host").toBe(
      true,
    );
    nodes = [one, two];
    client = three;
    group = await openTo(world, [one, two, three]);
    manager = world.run({ provider: "ovn" });
    for (const node of nodes) {
      await world.join(node);
      await world.until(`${node.name} to be initialised`, async () => {
        const { spec } = await world.client.get(Node, { namespace: "", name: node.name });
        return (spec?.taints ?? []).length === 0 ? true : undefined;
      });
    }
    await serveAs("web", [30080, 30053]);
  }, SETTING_UP);

  afterAll(async () => {
    await namespaces.close();
    await world?.close();
    if (world && group !== undefined) await removeGroup(group);
  }, SETTING_UP);

  test("arrive through the floating IP at both nodes, over TCP and UDP, and have the client's address", async () => {
    for (const where of BOTH) await untilHeard(nodes, HOST, () => fromOutside(where));
  });

  test("arrive through the VIP at both nodes, over TCP and UDP, and have the client's address", async () => {
    for (const where of BOTH) await untilHeard(nodes, inside(), () => fromInside(where));
  });

  test("reach no member that is dead, with externalTrafficPolicy Local: only nodes with endpoints serve", async () => {
    const [alive, dead] = pair();
    const settings = { "enable-health-monitor": "true", "health-monitor-delay": "4", "health-monitor-timeout": "2" };
    const annotations = Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`loadbalancer.openstack.org/${key}`, value]),
    );
    await world.change("web", { metadata: { annotations }, spec: { externalTrafficPolicy: "Local" } });
    await world.settled("two monitors", async () => {
      const all = await world.cloud.loadBalancing.healthMonitors.all();
      return all.filter((monitor) => monitor.name.includes(`_${prefix}_`)).length === 2;
    });
    await serving(dead, "silence");
    await untilHeard([alive], inside(), () => fromInside(TCP));
    await serving(dead, "serve");
    await untilHeard(nodes, inside(), () => fromInside(TCP));
    await untilHeard(nodes, HOST, () => fromOutside(TCP));
  });

  test("reach no node that was removed, by the floating IP either", async () => {
    const [staying, leaving] = pair();
    await world.label(leaving.name, { [EXCLUDED]: "true" });
    await world.settled("one member for each port", async () => (await world.members()).length === 2);
    for (const where of BOTH) await untilHeard([staying], HOST, () => fromOutside(where));
  });

  test("get no answer once the Service is gone", async () => {
    await world.remove("web");
    await untilHeard([], "", () => fromOutside(TCP));
    expect(await world.loadBalancers()).toEqual([]);
    for (const node of nodes) await serving(node, "silence");
  });

  test("come in only from loadBalancerSourceRanges, with security groups that the controller keeps", async () => {
    await manager.stop();
    manager = world.run({ provider: "ovn", manageSecurityGroups: true });
    for (const node of nodes) {
      await shut(world, node);
      await world.label(node.name, { [EXCLUDED]: null });
    }
    const allowed = async (ranges: readonly string[], who: { outside: boolean; inside: boolean }): Promise<void> => {
      await world.change("guarded", { spec: { loadBalancerSourceRanges: ranges } });
      const asked = BOTH.flatMap((where) => [
        untilHeard(who.outside ? nodes : [], HOST, () => fromOutside(where)),
        untilHeard(who.inside ? nodes : [], inside(), () => fromInside(where)),
      ]);
      await Promise.all(asked);
    };
    // Other node ports than before: Open vSwitch 3.1 ends at an assertion when a connection is tracked that looks like
    // a former one.
    await serveAs("guarded", [31080, 31053]);
    await allowed([`${HOST}/32`], { outside: true, inside: false });
    await allowed([`${inside()}/32`], { outside: false, inside: true });
    await allowed([`${HOST}/32`, "10.77.0.0/24"], { outside: true, inside: true });
    await world.remove("guarded");
  });
});

/** A security group of the servers that permits every source, as a cluster's own group does for node ports. */
async function openTo({ cloud }: World, servers: readonly Server[]): Promise<string> {
  const { securityGroups, securityGroupRules, ports } = cloud.network;
  const { id } = await securityGroups.create({ name: `${prefix}-open` });
  for (const protocol of ["tcp", "udp", "icmp"])
    await securityGroupRules.create({ security_group_id: id, direction: "ingress", ethertype: "IPv4", protocol });
  for (const server of servers)
    for (const port of await ports.all({ device_id: server.id }))
      await ports.update(port.id, { security_groups: [id] });
  return id;
}

async function removeGroup(id: string): Promise<void> {
  const cloud = connectCloud(config);
  await cloud.network.securityGroups.delete(id);
  await cloud.close();
}

/** Removes the group that permits every source. */
async function shut({ cloud }: World, server: Server): Promise<void> {
  for (const port of await cloud.network.ports.all({ device_id: server.id }))
    await cloud.network.ports.update(port.id, { security_groups: [] });
}
