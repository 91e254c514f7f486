import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  ConfigMap,
  createClient,
  createEventRecorder,
  createInformers,
  Event,
  loadKubeconfig,
  Node,
  Secret,
  Service,
  type KubernetesClient,
  type KubeObject,
} from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, watchCloud, type Cloud, type CloudConfig } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import type { BalancerDefaults } from "../config/config.ts";
import { CLASS_ANNOTATION } from "../names.ts";
import { Ingress, type IngressPath, type IngressSpec } from "../objects/ingress.ts";
import type { Explanation } from "../balancer/explain-rounds.ts";
import { explainIngress } from "../ingress/explain.ts";
import { createOctaviaIngress } from "../octavia-ingress.ts";
import { decodeClasses } from "../pool-record/classes.ts";
import { decodePools } from "../pool-record/format.ts";

export const NODES = ["node-0", "node-1"] as const;
const POOL_RECORD = { namespace: "kube-system", name: "octavia-ingress-controller-pools" };
const id = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

/** An API server, a simulated cloud with a subnet and an external network, nodes and Services with node ports. */
export class IngressWorld {
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  readonly simulator: Simulator;
  readonly subnetId: string;
  readonly externalId: string;
  readonly #server: ApiServer;
  readonly #config: CloudConfig;
  readonly #running: (() => Promise<void>)[] = [];
  #seen = 0;

  private constructor(made: {
    client: KubernetesClient;
    cloud: Cloud;
    simulator: Simulator;
    subnetId: string;
    externalId: string;
    server: ApiServer;
    config: CloudConfig;
  }) {
    this.client = made.client;
    this.cloud = made.cloud;
    this.simulator = made.simulator;
    this.subnetId = made.subnetId;
    this.externalId = made.externalId;
    this.#server = made.server;
    this.#config = made.config;
  }

  /** With `dataPath` packets go through the load balancers of the cloud. */
  static async start({ dataPath = false } = {}): Promise<IngressWorld> {
    const [simulator, server] = await Promise.all([startSimulator({ profile: "instant", dataPath }), startApiServer()]);
    const config = loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" });
    const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
    const cloud = connectCloud(config, { userAgent: "bystander" });
    const { networks, subnets, routers } = cloud.network;
    const network = await networks.create({ name: "ingress" });
    const body = { name: "ingress", network_id: network.id, ip_version: 4 as const, cidr: "10.88.0.0/24" };
    const subnet = await subnets.create(body);
    const externalId = (await networks.all({ name: "public" }))[0]?.id ?? "";
    const router = await routers.create({ name: "ingress", external_gateway_info: { network_id: externalId } });
    await cloud.network.addRouterInterface(router.id, { subnet_id: subnet.id });
    const world = new IngressWorld({ client, cloud, simulator, subnetId: subnet.id, externalId, server, config });
    for (const [i, name] of NODES.entries()) await world.addNode(name, `10.88.0.${10 + i}`);
    return world;
  }

  async addNode(name: string, address: string, server?: string): Promise<void> {
    const spec = server === undefined ? {} : { providerID: `openstack:///${server}` };
    await this.client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec });
    const status = {
      addresses: [{ type: "InternalIP", address }],
      conditions: [{ type: "Ready", status: "True", reason: "Test", message: "" }],
    };
    const body = { status };
    await this.client.patch(Node, { namespace: "", name }, { type: "merge", body }, { subresource: "status" });
  }

  /** Starts a controller with memory of its own; the answer stops it as a kill does. */
  run(
    more: Partial<BalancerDefaults> = {},
    how: {
      clock?: Clock;
      log?: Log;
      metrics?: Metrics;
      manageSecurityGroups?: boolean;
      holdDeletions?: () => boolean;
    } = {},
  ): () => Promise<void> {
    const { clock = systemClock, log = silentLog, metrics, manageSecurityGroups = false, holdDeletions } = how;
    const measured = metrics ? { metrics } : {};
    const stopping = new AbortController();
    const { signal } = stopping;
    const cloud = connectCloud(this.#config, { clock, log, userAgent: "controller", holdDeletions, ...measured });
    const watch = watchCloud(cloud, { clock, intervals: { fast: 15, fastest: 15, slow: 300 } });
    const informers = createInformers(this.client, { clock });
    const balancer = {
      provider: undefined,
      subnetId: this.subnetId,
      floatingNetworkId: this.externalId,
      flavorId: undefined,
      serial: false,
      ...more,
    };
    const ingress = createOctaviaIngress({
      config: { clusterName: "c", balancer, manageSecurityGroups },
      informers,
      cloud,
      watch,
      events: createEventRecorder(this.client, { component: "openstack-ingress-controller", signal }),
      poolRecord: POOL_RECORD,
      clock,
      log,
      ...measured,
    });
    const done = Promise.all([informers.run(signal), ingress.run(signal)]).catch(() => {});
    const stop = async (): Promise<void> => {
      stopping.abort();
      await done;
      await watch.close();
      await cloud.close();
    };
    this.#running.push(stop);
    return stop;
  }

  /** What a reconcile would do now; nothing is written. */
  async explain(key: { namespace: string; name: string }, kind = explainIngress): Promise<Explanation | undefined> {
    const stopping = new AbortController();
    const { signal } = stopping;
    const cloud = connectCloud(this.#config, { userAgent: "bystander" });
    const watch = watchCloud(cloud);
    const informers = createInformers(this.client);
    const running = informers.run(signal).catch(() => {});
    const balancer = {
      provider: undefined,
      subnetId: this.subnetId,
      floatingNetworkId: this.externalId,
      flavorId: undefined,
      serial: false,
    };
    const config = { clusterName: "c", balancer, manageSecurityGroups: false };
    try {
      return await kind({ config, informers, cloud, watch, clock: systemClock }, key, signal);
    } finally {
      stopping.abort();
      await running;
      await watch.close();
      await cloud.close();
    }
  }

  async service(name: string, nodePort: number, namespace = "default"): Promise<void> {
    await this.client.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace },
      spec: { type: "NodePort", ports: [{ name: "http", port: 80, protocol: "TCP", nodePort }] },
    });
  }

  async configMap(name: string, data: Record<string, string>): Promise<void> {
    const metadata = { name, namespace: "default" };
    await this.client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
  }

  async secret(name: string, pair: { certificate: string; key: string }): Promise<void> {
    const data = {
      "tls.crt": Buffer.from(pair.certificate).toString("base64"),
      "tls.key": Buffer.from(pair.key).toString("base64"),
    };
    const metadata = { name, namespace: "default" };
    const secret: Secret = { apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/tls", data };
    const key = { namespace: "default", name };
    if (await this.client.find(Secret, key)) await this.client.patch(Secret, key, { type: "merge", body: { data } });
    else await this.client.create(Secret, secret);
  }

  /** With the annotation of upstream's class, unless a class is named. */
  async ingress(
    name: string,
    spec: IngressSpec,
    how: { annotations?: Record<string, string>; namespace?: string } = {},
  ): Promise<void> {
    const { namespace = "default" } = how;
    const own: Record<string, string> = spec.ingressClassName === undefined ? { [CLASS_ANNOTATION]: "openstack" } : {};
    const metadata = { name, namespace, annotations: { ...own, ...how.annotations } };
    await this.client.create(Ingress, { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata, spec });
  }

  async change(name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    await this.client.patch(Ingress, { namespace: "default", name }, { type: "merge", body });
  }

  /** The address that an Ingress publishes, once it does. */
  address(name: string, namespace = "default"): Promise<string> {
    return this.until(`address of ${name}`, async () => {
      const ingress = await this.client.get(Ingress, { namespace, name });
      return ingress.status?.loadBalancer?.ingress?.[0]?.ip;
    });
  }

  async until<T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> {
    const end = Date.now() + 120_000;
    for (;;) {
      const found = await check();
      if (found !== undefined && found !== false) return found;
      if (Date.now() > end) throw new Error(`waited too long for ${what}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** The policies of the load balancer of that name as "host path -> node port", in their order. */
  async routes(name: string): Promise<string[]> {
    const { loadBalancing } = this.cloud;
    const [lb] = await loadBalancing.loadBalancers.all({ name });
    if (lb?.provisioning_status !== "ACTIVE") return [];
    const found: string[] = [];
    for (const { id: listener } of lb.listeners) {
      const policies = await loadBalancing.l7Policies.all({ listener_id: listener });
      for (const policy of policies.sort((a, b) => a.position - b.position)) {
        const rules = await loadBalancing.l7Rules(policy.id).all();
        const members = await loadBalancing.members(policy.redirect_pool_id ?? "").all();
        const values = rules.map(({ value }) => value).sort();
        found.push(
          `${values.join(" ")} -> ${members
            .map((m) => `${m.address}:${m.protocol_port}`)
            .sort()
            .join(",")}`,
        );
      }
    }
    return found;
  }

  /** Calls of the controller since the last time, lists of whole types and tokens aside. */
  calls(): string[] {
    return this.allCalls().filter(
      (route) =>
        !/^GET \/(loadbalancers|listeners|pools|floatingips)$/.test(route) && !/^GET \/?(v[\d.]+)?\/?$/.test(route),
    );
  }

  /** Calls of the controller since the last time, tokens aside. */
  allCalls(): string[] {
    const { calls } = this.simulator;
    const fresh = calls
      .slice(this.#seen)
      .filter(({ userAgent, path }) => !userAgent.startsWith("bystander") && !path.includes("/auth/tokens"));
    this.#seen = calls.length;
    return fresh.map(({ method, path }) => {
      const route = (path.split("?")[0] ?? "").replace(/^.*\/(?:v2\.0|v2\.1|lbaas|v1)(?=\/)/, "");
      return `${method} ${route.replaceAll(id, "ID")}`;
    });
  }

  /** How many pools the controller's record has. */
  async recordedPools(): Promise<number> {
    const map = await this.client.find(ConfigMap, POOL_RECORD);
    return decodePools("c", map?.data?.["pools"] ?? "").size;
  }

  /** The classes of the controller's record. */
  async recordedClasses(): Promise<string[]> {
    const map = await this.client.find(ConfigMap, POOL_RECORD);
    return decodeClasses("c", map?.data?.["classes"] ?? "");
  }

  async events(object: Pick<KubeObject["metadata"], "name">, reason: string): Promise<string[]> {
    const { items } = await this.client.list(Event, { namespace: "default" });
    return items
      .filter((e) => e.involvedObject.name === object.name && e.reason === reason)
      .map((e) => e.message ?? "");
  }

  /** Deletes all Ingresses with a controller running; afterwards the cloud has nothing of them. */
  async clear(): Promise<void> {
    const { items } = await this.client.list(Ingress);
    for (const { metadata } of items)
      await this.client.delete(Ingress, { namespace: metadata.namespace ?? "", name: metadata.name });
    await this.until("Ingresses to go", async () => (await this.client.list(Ingress)).items.length === 0);
  }

  async stopAll(): Promise<void> {
    for (const stop of this.#running.splice(0)) await stop();
  }

  /** What Ingresses have left in the cloud, by name. */
  async left(): Promise<string[]> {
    const { loadBalancing, network, keyManager } = this.cloud;
    const balancers = await loadBalancing.loadBalancers.all();
    const ips = await network.floatingIps.all();
    const secrets = await keyManager.secrets.all();
    return [
      ...balancers.map(({ name }) => name),
      ...ips.map(({ description }) => description),
      ...secrets.map(({ name }) => name ?? ""),
    ];
  }

  async close(): Promise<void> {
    await this.stopAll();
    await Promise.all([this.client.close(), this.cloud.close()]);
    await this.#server.close();
    await this.simulator.close();
  }
}

/** One path to port 80 of a Service. */
export function to(service: string, path = "/", pathType: IngressPath["pathType"] = "Prefix"): IngressPath {
  return { path, pathType, backend: { service: { name: service, port: { number: 80 } } } };
}
