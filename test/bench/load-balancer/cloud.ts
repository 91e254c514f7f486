import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectCloud, loadCloudsYaml, type Cloud, type Server, type Subnet } from "@causeway/openstack";
import { startSimulator, type CallRecord, type Simulator } from "@causeway/simulator";
import { widenPublicNetwork } from "../wide-network.ts";

/** What load balancers of a cloud are like: a provider, and how long (ms) one change keeps them PENDING. */
export interface Provider {
  readonly name: "amphora" | "ovn";
  readonly cycle: number;
  /** Milliseconds that a request which brings members is held, for each of them. */
  readonly perMember?: number;
  /** Milliseconds until a server is ACTIVE; at once unless given. */
  readonly boot?: number;
}

/** A simulated cloud with a network and servers, and the cloud.conf that both controllers read. */
export interface BenchCloud {
  readonly provider: Provider;
  readonly simulator: Simulator;
  /** Whose calls are not counted. */
  readonly cloud: Cloud;
  readonly subnet: Subnet;
  /** The network of floating IPs. */
  readonly externalId: string;
  readonly cloudConf: string;
  readonly cloudsYaml: string;
  /** So many more servers, ACTIVE. */
  addServers(count: number): Promise<readonly Server[]>;
  /** The calls of others since the last time, in order. */
  callsSince(): readonly CallRecord[];
  /** Of the last call of others, in milliseconds since the epoch; 0 when there was none. */
  lastCallAt(): number;
  close(): Promise<void>;
}

const OWN = "bench";
/** Between two reads of the calls (ms). */
const COLLECT = 500;
const UNLIMITED = [
  "instances",
  "port",
  "floatingip",
  "load_balancer",
  "listener",
  "pool",
  "member",
  "health_monitor",
] as const;

export async function startCloud(provider: Provider, files: string): Promise<BenchCloud> {
  const { name, cycle, perMember = 0, boot = 0 } = provider;
  const delays = Object.fromEntries(["create", "update", "delete"].map((v) => [`loadbalancer.${name}.${v}`, cycle]));
  const held = perMember === 0 ? {} : { [`loadbalancer.${name}.member`]: perMember };
  const simulator = await startSimulator({ profile: "instant", delays: { ...delays, ...held, "server.create": boot } });
  for (const resource of UNLIMITED) simulator.setQuota("demo", resource, -1);
  const config = loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" });
  const cloud = connectCloud(config, { userAgent: OWN });
  const { networks, subnets, routers } = cloud.network;
  const network = await networks.create({ name: "bench" });
  const subnet = await subnets.create({
    name: "bench",
    network_id: network.id,
    ip_version: 4,
    cidr: "10.77.0.0/20",
  });
  const external = (await networks.all({ name: "public" }))[0];
  await widenPublicNetwork(simulator.cloudsYaml, OWN);
  const router = await routers.create({ name: "bench", external_gateway_info: { network_id: external?.id ?? "" } });
  await cloud.network.addRouterInterface(router.id, { subnet_id: subnet.id });
  const keep = (file: string, text: string): string => {
    const path = join(files, file);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const cloudConf = confOf(simulator, { provider, subnet: subnet.id, external: external?.id ?? "" });
  let seen = 0;
  let lastAt = 0;
  let fresh: CallRecord[] = [];
  // The simulator keeps 50,000 records at most.
  const collect = (): void => {
    const calls = simulator.calls.filter((call) => call.sequence > seen);
    seen = calls.at(-1)?.sequence ?? seen;
    for (const call of calls) if (!call.userAgent.startsWith(OWN)) fresh.push(call);
    lastAt = fresh.at(-1)?.at ?? lastAt;
  };
  const collecting = setInterval(collect, COLLECT);
  let servers = 0;
  return {
    provider,
    simulator,
    cloud,
    subnet,
    externalId: external?.id ?? "",
    cloudConf: keep("cloud.conf", cloudConf),
    cloudsYaml: keep("clouds.yaml", simulator.cloudsYaml),
    addServers: (count) => makeServers(cloud, { network: network.id, first: (servers += count) - count, count }),
    callsSince() {
      collect();
      const calls = fresh;
      fresh = [];
      return calls;
    },
    lastCallAt() {
      collect();
      return lastAt;
    },
    async close() {
      clearInterval(collecting);
      await cloud.close();
      await simulator.close();
    },
  };
}

interface Places {
  readonly provider: Provider;
  readonly subnet: string;
  readonly external: string;
}

/** The simulator's demo account is no secret: its password is in its own clouds.yaml. */
function confOf(simulator: Simulator, { provider, subnet, external }: Places): string {
  const password = /password: (\S+)/.exec(simulator.cloudsYaml)?.[1] ?? "";
  return `[Global]
auth-url=${simulator.authUrl}
username=demo
password=${password}
tenant-name=demo
user-domain-name=Default
tenant-domain-name=Default
region=RegionOne

[LoadBalancer]
lb-provider=${provider.name}
lb-method=${provider.name === "ovn" ? "SOURCE_IP_PORT" : "ROUND_ROBIN"}
subnet-id=${subnet}
floating-network-id=${external}
`;
}

interface Wanted {
  readonly network: string;
  readonly first: number;
  readonly count: number;
}

async function makeServers(cloud: Cloud, { network, first, count }: Wanted): Promise<readonly Server[]> {
  const [flavor] = await cloud.compute.flavors.all();
  const [image] = await cloud.image.images.all({ name: "cirros" });
  const names = new Set(Array.from({ length: count }, (_, i) => `node-${String(first + i).padStart(4, "0")}`));
  for (const name of names) {
    await cloud.compute.servers.create({
      name,
      flavorRef: flavor?.id ?? "",
      imageRef: image?.id ?? "",
      networks: [{ uuid: network }],
    });
  }
  for (;;) {
    const mine = (await cloud.compute.servers.all()).filter((s) => names.has(s.name));
    if (mine.every((s) => s.status === "ACTIVE")) return mine;
    await new Promise((done) => setTimeout(done, 100));
  }
}
