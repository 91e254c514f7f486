import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createAuthority, issueCertificate, silentLog, type KeyPair } from "@causeway/foundation";
import {
  ConfigMap,
  createClient,
  createEventRecorder,
  EndpointSlice,
  loadKubeconfig,
  Node,
  Secret,
  Service,
  type ClusterConfig,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { CLASS_CONTROLLER, createOctaviaIngress, IngressClass, watched } from "@causeway/octavia-ingress";
import { connectCloud, loadCloudsYaml, type Cloud, type CloudConfig } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { DrivenClock, UnderWay } from "../cloud-controller/driven-clock.ts";
import { Process } from "../cloud-controller/process.ts";

export const NODES = ["node-0", "node-1", "node-2"] as const;
export const SERVICES = { one: 30_001, two: 30_002, three: 30_003 } as const;
export const CLUSTER = "faults";
export const CLASS = "shared";
/** The user agent of the test's own calls. */
export const OWN = "bystander";
const NAMESPACE = "default";

interface Made {
  readonly clock: DrivenClock;
  readonly underWay: UnderWay;
  readonly simulator: Simulator;
  readonly server: ApiServer;
  readonly clusterConfig: ClusterConfig;
  readonly cloudConfig: CloudConfig;
  readonly cloud: Cloud;
  readonly subnetId: string;
  readonly externalId: string;
  readonly certificates: readonly KeyPair[];
}

/** One API server and one cloud for all schedules, on one clock; nodes, Services and a class that remain. */
export class IngressFaultWorld {
  readonly clock: DrivenClock;
  readonly simulator: Simulator;
  readonly cloud: Cloud;
  readonly client: KubernetesClient;
  readonly #made: Made;
  #rotations = 0;

  private constructor(made: Made) {
    this.#made = made;
    this.clock = made.clock;
    this.simulator = made.simulator;
    this.cloud = made.cloud;
    this.client = createClient(made.clusterConfig);
  }

  static async start(): Promise<IngressFaultWorld> {
    const clock = new DrivenClock();
    const simulator = await startSimulator({ profile: "instant", clock });
    const server = await startApiServer();
    const clusterConfig = loadKubeconfig({ text: await server.management.kubeconfig() });
    const cloudConfig = loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" });
    const cloud = connectCloud(cloudConfig, { userAgent: OWN });
    const { networks, subnets, routers } = cloud.network;
    const network = await networks.create({ name: "faults" });
    const subnet = await subnets.create({
      name: "faults",
      network_id: network.id,
      ip_version: 4,
      cidr: "10.77.0.0/24",
    });
    const externalId = (await networks.all({ name: "public" }))[0]?.id ?? "";
    const router = await routers.create({ name: "faults", external_gateway_info: { network_id: externalId } });
    await cloud.network.addRouterInterface(router.id, { subnet_id: subnet.id });
    const lifetime = 86_400_000;
    const authority = await createAuthority({ commonName: "ca", lifetime });
    const issue = () =>
      issueCertificate(authority, { commonName: "a.example", dnsNames: ["a.example"], usages: ["server"], lifetime });
    const certificates = [await issue(), await issue()];
    const underWay = new UnderWay();
    const world = new IngressFaultWorld({
      clock,
      underWay,
      simulator,
      server,
      clusterConfig,
      cloudConfig,
      cloud,
      subnetId: subnet.id,
      externalId,
      certificates,
    });
    await world.#furnish();
    return world;
  }

  async #furnish(): Promise<void> {
    const { client } = this;
    for (const [i, name] of NODES.entries()) {
      await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
      const addresses = [{ type: "InternalIP", address: addressOf(i) }];
      const body = {
        status: { addresses, conditions: [{ type: "Ready", status: "True", reason: "Test", message: "" }] },
      };
      await client.patch(Node, { namespace: "", name }, { type: "merge", body }, { subresource: "status" });
    }
    for (const [name, nodePort] of Object.entries(SERVICES))
      await client.create(Service, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace: NAMESPACE },
        spec: { type: "NodePort", ports: [{ port: 80, protocol: "TCP", nodePort }] },
      });
    for (const [name, port] of Object.entries(SERVICES))
      await client.create(EndpointSlice, {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name, namespace: NAMESPACE, labels: { "kubernetes.io/service-name": name } },
        addressType: "IPv4",
        ports: [{ name: "", protocol: "TCP", port }],
        endpoints: endpointsWithout(new Set()),
      });
    const metadata = { name: CLASS, namespace: NAMESPACE };
    await client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "load-balancer": "own" } });
    const parameters = { kind: "ConfigMap", name: CLASS, scope: "Namespace", namespace: NAMESPACE };
    await client.create(IngressClass, {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: CLASS },
      spec: { controller: CLASS_CONTROLLER, parameters },
    });
    const secret = { name: "cert", namespace: NAMESPACE };
    const data = this.#pair();
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: secret,
      type: "kubernetes.io/tls",
      data,
    });
  }

  #pair(): Record<string, string> {
    const pair = this.#made.certificates[this.#rotations % 2];
    const text = (pem = ""): string => Buffer.from(pem).toString("base64");
    return { "tls.crt": text(pair?.certificate), "tls.key": text(pair?.key) };
  }

  async rotate(): Promise<void> {
    this.#rotations += 1;
    const body = { data: this.#pair() };
    await this.client.patch(Secret, { namespace: NAMESPACE, name: "cert" }, { type: "merge", body });
  }

  async share(shared: boolean): Promise<void> {
    const body = { data: { "load-balancer": shared ? "shared" : "own" } };
    await this.client.patch(ConfigMap, { namespace: NAMESPACE, name: CLASS }, { type: "merge", body });
  }

  /** Where members of the class's load balancers are. */
  async place(members: "nodes" | "pods"): Promise<void> {
    const body = { data: { members } };
    await this.client.patch(ConfigMap, { namespace: NAMESPACE, name: CLASS }, { type: "merge", body });
  }

  /** The pods of these nodes are not ready, of every Service. */
  async unready(nodes: ReadonlySet<number>): Promise<void> {
    const body = { endpoints: endpointsWithout(nodes) };
    for (const name of Object.keys(SERVICES))
      await this.client.patch(EndpointSlice, { namespace: NAMESPACE, name }, { type: "merge", body });
  }

  /**
   * A process with connections and memory of its own, which works once it leads if it takes part in leader election.
   */
  launch(elected: boolean): Process {
    return controller(this.#made, elected);
  }

  /** Lets so many milliseconds of the clock pass; nothing is under way when it resolves. */
  async pass(milliseconds: number): Promise<void> {
    const { clock, underWay } = this.#made;
    await underWay.pass(clock, milliseconds);
  }

  async close(): Promise<void> {
    this.#made.underWay.close();
    await Promise.all([this.client.close(), this.cloud.close()]);
    await this.#made.server.close();
    await this.simulator.close();
  }
}

/** One pod on each node. */
export function podAddressOf(node: number): string {
  return `10.77.1.${200 + node}`;
}

function endpointsWithout(unready: ReadonlySet<number>) {
  return NODES.map((nodeName, i) => {
    const ready = !unready.has(i);
    return { addresses: [podAddressOf(i)], nodeName, conditions: { ready, serving: ready, terminating: false } };
  });
}

export function addressOf(node: number): string {
  return `10.77.0.${200 + node}`;
}

function controller({ clock, clusterConfig, cloudConfig, subnetId, externalId }: Made, elected: boolean): Process {
  const balancer = { provider: "amphora", subnetId, floatingNetworkId: externalId, flavorId: undefined, serial: false };
  const config = { clusterName: CLUSTER, balancer, manageSecurityGroups: false };
  return new Process({
    clock,
    cluster: clusterConfig,
    cloud: cloudConfig,
    lease: elected ? CLUSTER : undefined,
    userAgent: "controller",
    watched,
    run: ({ client, informers, cloud, watch }, signal) => {
      const events = createEventRecorder(client, { component: "openstack-ingress-controller", signal });
      const poolRecord = { namespace: NAMESPACE, name: "pools" };
      const using = { config, informers, cloud, watch, events, poolRecord, clock, log: silentLog };
      return createOctaviaIngress(using).run(signal);
    },
  });
}
