import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createCloudControllerManager, defaultCloudConfig } from "@causeway/cloud-controller-manager";
import { silentLog } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  loadKubeconfig,
  Node,
  type ClusterConfig,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud, type CloudConfig, type Server } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { DrivenClock, UnderWay } from "./driven-clock.ts";
import { Process } from "./process.ts";

export const NODES = ["node-0", "node-1", "node-2"] as const;
export const CLUSTER = "faults";
/** The user agent of the test's own calls. */
export const OWN = "bystander";

/** Of a server: one of each family. */
export interface Addresses {
  readonly IPv4: string;
  readonly IPv6: string;
}

/** One API server and one cloud for all schedules, on one clock; nodes that remain. */
export class FaultWorld {
  readonly clock: DrivenClock;
  readonly simulator: Simulator;
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  readonly addresses: ReadonlyMap<string, Addresses>;
  readonly #underWay: UnderWay;
  readonly #server: ApiServer;
  readonly #clusterConfig: ClusterConfig;
  readonly #cloudConfig: CloudConfig;

  private constructor(made: {
    clock: DrivenClock;
    underWay: UnderWay;
    simulator: Simulator;
    server: ApiServer;
    clusterConfig: ClusterConfig;
    cloudConfig: CloudConfig;
    cloud: Cloud;
    addresses: ReadonlyMap<string, Addresses>;
  }) {
    this.clock = made.clock;
    this.#underWay = made.underWay;
    this.simulator = made.simulator;
    this.#server = made.server;
    this.#clusterConfig = made.clusterConfig;
    this.#cloudConfig = made.cloudConfig;
    this.client = createClient(made.clusterConfig);
    this.cloud = made.cloud;
    this.addresses = made.addresses;
  }

  static async start(): Promise<FaultWorld> {
    const clock = new DrivenClock();
    const simulator = await startSimulator({ profile: "instant", clock });
    const server = await startApiServer();
    const cluster = await server.ensureCluster("faults", { serviceCidr: "10.96.0.0/16,fd96::/112" });
    const clusterConfig = loadKubeconfig({ text: await cluster.kubeconfig() });
    const cloudConfig = loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" });
    const cloud = connectCloud(cloudConfig, { userAgent: OWN });
    const addresses = await makeServers(cloud);
    const underWay = new UnderWay();
    const world = new FaultWorld({
      clock,
      underWay,
      simulator,
      server,
      clusterConfig,
      cloudConfig,
      cloud,
      addresses,
    });
    for (const [name, address] of addresses) await world.#makeNode(name, address);
    return world;
  }

  async #makeNode(name: string, { IPv4, IPv6 }: Addresses): Promise<void> {
    const [server] = await this.cloud.compute.servers.all({ name });
    await this.client.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name },
      spec: { providerID: `openstack:///${server?.id}` },
    });
    const body = { status: { addresses: [IPv4, IPv6].map((address) => ({ type: "InternalIP", address })) } };
    await this.client.patch(Node, { namespace: "", name }, { type: "merge", body }, { subresource: "status" });
  }

  /** A manager with connections and memory of its own, once it leads if it takes part in leader election. */
  launch(how: Launch): Process {
    return manager(this.clock, { ...how, cluster: this.#clusterConfig, cloud: this.#cloudConfig });
  }

  /** Lets so many milliseconds of the clock pass; nothing is under way when it resolves. */
  async pass(milliseconds: number): Promise<void> {
    await this.#underWay.pass(this.clock, milliseconds);
  }

  async close(): Promise<void> {
    this.#underWay.close();
    await Promise.all([this.client.close(), this.cloud.close()]);
    await this.#server.close();
    await this.simulator.close();
  }
}

export interface Launch {
  readonly clusterName: string;
  readonly provider: string;
  readonly elected: boolean;
}

interface ManagerOptions extends Launch {
  readonly cluster: ClusterConfig;
  readonly cloud: CloudConfig;
}

function manager(clock: DrivenClock, { cluster, cloud, clusterName, provider, elected }: ManagerOptions): Process {
  const { loadBalancer, ...rest } = defaultCloudConfig();
  return new Process({
    clock,
    cluster,
    cloud,
    lease: elected ? CLUSTER : undefined,
    userAgent: "manager",
    run: (surroundings, signal) =>
      createCloudControllerManager({
        informers: surroundings.informers,
        cloud: surroundings.cloud,
        watch: surroundings.watch,
        config: { ...rest, loadBalancer: { ...loadBalancer, provider } },
        clusterName,
        controllers: new Set(["service"]),
        events: createEventRecorder(surroundings.client, { component: "cloud-controller-manager", signal }),
        clock,
        log: silentLog,
      }).run(signal),
  });
}

async function makeServers(cloud: Cloud): Promise<ReadonlyMap<string, Addresses>> {
  const { networks, subnets, routers } = cloud.network;
  const network = await networks.create({ name: "faults" });
  const subnet = await subnets.create({ name: "faults", network_id: network.id, ip_version: 4, cidr: "10.77.0.0/24" });
  await subnets.create({ name: "faults6", network_id: network.id, ip_version: 6, cidr: "fd77::/64" });
  const external = (await networks.all({ name: "public" }))[0];
  const router = await routers.create({ name: "faults", external_gateway_info: { network_id: external?.id ?? "" } });
  await cloud.network.addRouterInterface(router.id, { subnet_id: subnet.id });
  const [flavor] = await cloud.compute.flavors.all();
  const [image] = await cloud.image.images.all({ name: "cirros" });
  const place = { flavorRef: flavor?.id ?? "", imageRef: image?.id ?? "", networks: [{ uuid: network.id }] };
  for (const name of NODES) await cloud.compute.servers.create({ name, ...place });
  for (;;) {
    const servers = await cloud.compute.servers.all();
    if (servers.every((s) => s.status === "ACTIVE"))
      return new Map(servers.map((s) => [s.name, { IPv4: addressOf(s, 4), IPv6: addressOf(s, 6) }]));
    await new Promise((done) => setTimeout(done, 10));
  }
}

function addressOf({ addresses }: Server, version: 4 | 6): string {
  return (
    Object.values(addresses)
      .flat()
      .find((a) => a.version === version)?.addr ?? ""
  );
}
