/** Packets through load balancers of a real OpenStack (OVN): they arrive where the Service says, from whom they come, and nowhere else. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { World } from "@causeway/cloud-controller-manager/testing";
import { Node, type Service, type ServiceSpec } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Server } from "@causeway/openstack";
import { Namespaces } from "./packets/namespaces.ts";
import { ask, type Answer } from "./packets/peer.ts";

const config = loadCloudsYaml({ cloud: process.env["OS_CLOUD"] ?? "devcloud" });
const prefix = `pkt-${randomBytes(3).toString("hex")}`;
/** So many questions that both of two members are asked by chance but once in half a million. */
const MANY = 20;
const HEALTHY = 120_000;
/** This machine's address on the external network. */
const HOST = "172.24.4.1";
/** A cloud whose servers share one machine may be slow to make three of them. */
const SETTING_UP = 1_200_000;

describe("packets through a load balancer", () => {
  const namespaces = new Namespaces();
  let world: World;
  let nodes: readonly Server[];
  let client: Server;
  let group: string | undefined;
  let service: Service;
  let outside: string;
  let vip: string;

  const nodePort = (name: string): number => service.spec.ports?.find((p) => p.name === name)?.nodePort ?? 0;
  const serving = async (node: Server | undefined, work: "serve" | "silence"): Promise<void> => {
    for (const name of ["http", "dns"]) if (node) await namespaces[work](node, nodePort(name));
  };
  /** A Service of both protocols, which every node answers for. */
  const serveAs = async (name: string, spec: Partial<ServiceSpec> = {}): Promise<void> => {
    const ports = [
      { name: "http", port: 80, protocol: "TCP" as const },
      { name: "dns", port: 53, protocol: "UDP" as const },
    ];
    await world.createService(name, { ports, ...spec });
    service = await world.served(name);
    outside = service.status?.loadBalancer?.ingress?.[0]?.ip ?? "";
    const [lb] = await world.loadBalancers();
    vip = lb?.vip_address ?? "";
    for (const node of nodes) await serving(node, "serve");
  };
  const fromOutside = async (protocol: "tcp" | "udp", port: number): Promise<(Answer | undefined)[]> => {
    const answers: (Answer | undefined)[] = [];
    for (let i = 0; i < MANY; i += 1) answers.push(await ask(protocol, outside, port));
    return answers;
  };
  const fromInside = (protocol: "tcp" | "udp", port: number): Promise<(Answer | undefined)[]> =>
    namespaces.ask(client, { protocol, address: vip, port, count: MANY });
  const names = (answers: readonly (Answer | undefined)[]): string[] =>
    [...new Set(answers.map((a) => a?.name ?? "nobody"))].toSorted();
  const clients = (answers: readonly (Answer | undefined)[]): string[] => [
    ...new Set(answers.map((a) => a?.client ?? "nobody")),
  ];
  const all = (): string[] => nodes.map((node) => node.name);
  const inside = (): string => Object.values(client.addresses).flat()[0]?.addr ?? "";
  /** Asks until exactly these have answered all questions of one round. */
  const untilOnly = async (wanted: readonly string[], look: () => Promise<(Answer | undefined)[]>): Promise<void> => {
    let last: string[] = [];
    for (const end = Date.now() + HEALTHY; Date.now() < end;) {
      last = names(await look());
      if (last.join() === wanted.join()) return;
    }
    expect(last).toEqual(wanted);
  };

  beforeAll(async () => {
    const server = await startApiServer();
    world = await World.start({ server, config, prefix, servers: 3, patience: 300_000, lookEvery: 500 });
    const [one, two, three] = world.infrastructure.servers;
    if (!one || !two || !three) throw new Error("there are not three servers");
    expect(existsSync(`/run/netns/vm-${one.id}`), "the servers of this cloud are network namespaces of this host").toBe(
      true,
    );
    nodes = [one, two];
    client = three;
    group = await openTo(world, [one, two, three]);
    world.run({ provider: "ovn" });
    for (const node of nodes) {
      await world.join(node);
      await world.until(`${node.name} to be initialised`, async () => {
        const { spec } = await world.client.get(Node, { namespace: "", name: node.name });
        return (spec?.taints ?? []).length === 0 ? true : undefined;
      });
    }
    await serveAs("web");
  }, SETTING_UP);

  afterAll(async () => {
    await namespaces.close();
    await world?.close();
    if (world && group !== undefined) await removeGroup(group);
  }, SETTING_UP);

  test("arrive through the floating IP at both nodes, over TCP and UDP, and bear the client's address", async () => {
    for (const [protocol, port] of [
      ["tcp", 80],
      ["udp", 53],
    ] as const) {
      await untilOnly(all(), () => fromOutside(protocol, port));
      expect(clients(await fromOutside(protocol, port)), protocol).toEqual([HOST]);
    }
  });

  test("arrive through the VIP at both nodes, over TCP and UDP, and bear the client's address", async () => {
    for (const [protocol, port] of [
      ["tcp", 80],
      ["udp", 53],
    ] as const) {
      const answers = await fromInside(protocol, port);
      expect(names(answers), protocol).toEqual(all());
      expect(clients(answers), protocol).toEqual([inside()]);
    }
  });

  test("reach no member that is dead, with externalTrafficPolicy Local: only nodes with endpoints serve", async () => {
    const [alive, dead] = nodes;
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
    await untilOnly([alive?.name ?? ""], () => fromInside("tcp", 80));
    const answers = await fromInside("tcp", 80);
    expect(clients(answers)).toEqual([inside()]);
    await serving(dead, "serve");
    await untilOnly(all(), () => fromInside("tcp", 80));
    await untilOnly(all(), () => fromOutside("tcp", 80));
    expect(clients(await fromOutside("tcp", 80))).toEqual([HOST]);
  });

  test("reach no node that was taken out, by the floating IP either", async () => {
    const [staying, leaving] = nodes;
    const key = { namespace: "", name: leaving?.name ?? "" };
    const labels = { "node.kubernetes.io/exclude-from-external-load-balancers": "true" };
    await world.client.patch(Node, key, { type: "merge", body: { metadata: { labels } } });
    await world.settled("one member for each port", async () => (await world.members()).length === 2);
    for (const [protocol, port] of [
      ["tcp", 80],
      ["udp", 53],
    ] as const)
      await untilOnly([staying?.name ?? ""], () => fromOutside(protocol, port));
  });

  test("get no answer once the Service is gone", async () => {
    await world.remove("web");
    expect(await ask("tcp", outside, 80)).toBeUndefined();
    expect(await world.loadBalancers()).toEqual([]);
  });
});

/** A security group of the servers that lets everybody in, as a cluster's own group does for node ports. */
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
