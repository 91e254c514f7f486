import { parseCidr, silentLog, systemClock, type Clock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  Event,
  isConflict,
  loadKubeconfig,
  Node,
  Service,
  type KubernetesClient,
  type ServiceSpec,
} from "@causeway/kubernetes";
import {
  connectCloud,
  isOpenStackNotFound,
  watchCloud,
  type Cloud,
  type CloudConfig,
  type LoadBalancer,
  type Member,
  type Server,
  type WatchIntervals,
} from "@causeway/openstack";
import { defaultCloudConfig, type CloudControllerConfig, type LoadBalancerConfig } from "../config/config.ts";
import { createCloudControllerManager, rarelyWatched, type ControllerName } from "../manager.ts";
import { releaseLoadBalancers } from "../release.ts";
import { uninitializedTaint } from "../node/taints.ts";
import { makeInfrastructure, type Infrastructure } from "./infrastructure.ts";

/** An API server, as far as a world needs it. */
export interface WorldServer {
  readonly management: { kubeconfig(): Promise<string> };
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly server: WorldServer;
  readonly config: CloudConfig;
  /** Prefix of names in the cloud, and the cluster's name. */
  readonly prefix: string;
  readonly servers: number;
  /** Servers have addresses of both families. */
  readonly dualStack?: boolean;
  readonly intervals?: WatchIntervals;
  /** Milliseconds that `until` waits at most. Default 10 s. */
  readonly timeout?: number;
  /** Milliseconds between its reads. Default 20: a real cloud deserves more. */
  readonly pollEvery?: number;
}

export interface RunOptions {
  readonly config?: Partial<CloudControllerConfig>;
  readonly clock?: Clock;
  /** Which controllers; default all. */
  readonly controllers?: ReadonlySet<ControllerName>;
  /** Of the pods: routes are kept on the infrastructure's router. */
  readonly clusterCidr?: string;
  /** Default: the world's prefix. */
  readonly clusterName?: string;
  /** False: as in a cloud without it. */
  readonly octavia?: boolean;
  readonly holdDeletions?: () => boolean;
}

export interface RunningCloud {
  readonly cloud: Cloud;
  readonly stop: () => Promise<void>;
}

/** A clock that runs `speed` times as fast as the wall's. */
export function fastClock(speed: number): Clock {
  const start = Date.now();
  return {
    now: () => start + (Date.now() - start) * speed,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / speed, signal),
  };
}

const namespace = "default";

/** A pool may go between two checks. */
function noneIfGone(error: unknown): Member[] {
  if (isOpenStackNotFound(error)) return [];
  throw error;
}

/**
 * The cloud controller manager between an API server and a cloud, with servers in the cloud and nodes that join by
 * hand.
 */
export class World {
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  readonly infrastructure: Infrastructure;
  readonly #options: WorldOptions;
  readonly #running: (() => Promise<void>)[] = [];
  #closed: Promise<void> | undefined;

  private constructor(options: WorldOptions, made: { client: KubernetesClient; cloud: Cloud; infra: Infrastructure }) {
    this.#options = options;
    this.client = made.client;
    this.cloud = made.cloud;
    this.infrastructure = made.infra;
  }

  static async start(options: WorldOptions): Promise<World> {
    const client = createClient(loadKubeconfig({ text: await options.server.management.kubeconfig() }));
    const cloud = connectCloud(options.config);
    const infra = await makeInfrastructure(cloud, options);
    return new World(options, { client, cloud, infra });
  }

  /**
   * Starts the manager with a connection of its own; the answer has its stop, which is like a kill to what it has under
   * way.
   */
  run(loadBalancer: Partial<LoadBalancerConfig> = {}, how: RunOptions = {}): RunningCloud {
    const { prefix, intervals } = this.#options;
    const { clock = systemClock, octavia = true, clusterCidr } = how;
    const cidrs = clusterCidr?.split(",").flatMap((text) => parseCidr(text) ?? []);
    const stopping = new AbortController();
    const cloud = connectCloud(this.#options.config, { holdDeletions: how.holdDeletions });
    const informers = createInformers(this.client);
    const defaults = defaultCloudConfig();
    const config = { ...defaults, ...how.config, loadBalancer: { ...defaults.loadBalancer, ...loadBalancer } };
    const watch = watchCloud(cloud, { ...(intervals ? { intervals } : {}), rarely: rarelyWatched(config) });
    const manager = createCloudControllerManager({
      informers,
      cloud: octavia ? cloud : { ...cloud, region: cloud.region, has: async () => false },
      watch,
      ...(cidrs ? { clusterCidrs: cidrs } : {}),
      ...(how.controllers ? { controllers: how.controllers } : {}),
      config,
      clusterName: how.clusterName ?? prefix,
      events: createEventRecorder(this.client, { component: "cloud-controller-manager", signal: stopping.signal }),
      clock,
      log: silentLog,
    });
    const running = Promise.all([informers.run(stopping.signal), manager.run(stopping.signal)]);
    const stop = async () => {
      if (stopping.signal.aborted) return;
      stopping.abort();
      await running;
      await watch.close();
      await cloud.close();
    };
    this.#running.push(stop);
    return { cloud, stop };
  }

  /** Repeating it is harmless. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const stop of this.#running) await stop();
    await this.infrastructure.remove();
    await Promise.all([this.client.close(), this.cloud.close()]);
    await this.#options.server.close();
  }

  /** A kubelet's first words. */
  async join(server: Server): Promise<Node> {
    const name = server.name;
    await this.client.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name },
      spec: { taints: [{ key: uninitializedTaint, value: "true", effect: "NoSchedule" }] },
    });
    const addresses = [{ type: "Hostname", address: name }];
    const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: new Date().toISOString() }];
    const body = { status: { addresses, conditions } };
    return this.client.patch(Node, { namespace: "", name }, { type: "merge", body }, { subresource: "status" });
  }

  async joinAll(): Promise<void> {
    for (const server of this.infrastructure.servers) await this.join(server);
    for (const { name } of this.infrastructure.servers)
      await this.until(`node ${name} to be initialised`, async () => {
        const node = await this.client.get(Node, { namespace: "", name });
        return node.spec?.taints?.some((t) => t.key === uninitializedTaint) ? undefined : node;
      });
  }

  createService(
    name: string,
    spec: Partial<ServiceSpec> = {},
    annotations: Record<string, string> = {},
  ): Promise<Service> {
    return this.client.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace, annotations },
      spec: { type: "LoadBalancer", ports: [{ name: "http", port: 80, protocol: "TCP" }], ...spec },
    });
  }

  service(name: string): Promise<Service> {
    return this.client.get(Service, { namespace, name });
  }

  /** Changes the Service as a user would, and tries again on a conflict. */
  async change(name: string, body: Readonly<Record<string, unknown>>): Promise<Service> {
    for (;;) {
      try {
        return await this.client.patch(Service, { namespace, name }, { type: "merge", body });
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }

  /** The Service once it has an address. */
  served(name: string): Promise<Service> {
    return this.until(`an address of ${name}`, async () => {
      const service = await this.service(name);
      return service.status?.loadBalancer?.ingress?.[0] === undefined ? undefined : service;
    });
  }

  /** Sets labels of a node; null takes one off. */
  async label(name: string, labels: Readonly<Record<string, string | null>>): Promise<void> {
    await this.client.patch(Node, { namespace: "", name }, { type: "merge", body: { metadata: { labels } } });
  }

  async taint(name: string, key: string): Promise<void> {
    const node = await this.client.get(Node, { namespace: "", name });
    const taints = [...(node.spec?.taints ?? []), { key, effect: "NoSchedule" }];
    await this.client.patch(Node, { namespace: "", name }, { type: "merge", body: { spec: { taints } } });
  }

  async remove(name: string): Promise<void> {
    await this.client.delete(Service, { namespace, name });
    await this.until(`${name} to be gone`, async () =>
      (await this.client.find(Service, { namespace, name })) === undefined ? true : undefined,
    );
  }

  /** What is done when a whole cluster goes. */
  async release(): Promise<void> {
    const stopping = new AbortController();
    const informers = createInformers(this.client);
    const running = informers.run(stopping.signal);
    await releaseLoadBalancers({ informers, clock: systemClock, log: silentLog }, stopping.signal);
    stopping.abort();
    await running;
  }

  /** Reasons of the object's events so far. */
  async eventsOf(name: string): Promise<string[]> {
    const events = await this.client.list(Event);
    return events.items.filter((e) => e.involvedObject.name === name).map((e) => e.reason ?? "");
  }

  async loadBalancers(): Promise<LoadBalancer[]> {
    const all = await this.cloud.loadBalancing.loadBalancers.all();
    return all.filter((lb) => lb.name.startsWith(`kube_service_${this.#options.prefix}_`));
  }

  /** Members of all pools of the only load balancer. */
  async members(): Promise<Member[]> {
    const [lb] = await this.loadBalancers();
    const pools = await this.cloud.loadBalancing.pools.all({ loadbalancer_id: lb?.id });
    const members = pools.map((p) => this.cloud.loadBalancing.members(p.id).all().catch(noneIfGone));
    return (await Promise.all(members)).flat();
  }

  /** Asks until the answer is not undefined. */
  async until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    const end = Date.now() + (this.#options.timeout ?? 120_000);
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      if (Date.now() > end) throw new Error(`waited too long for ${what}`);
      await systemClock.sleep(this.#options.pollEvery ?? 20);
    }
  }

  /** Until the only load balancer is ACTIVE and the predicate holds of it. */
  settled(what: string, holds: (lb: LoadBalancer) => boolean | Promise<boolean> = () => true): Promise<LoadBalancer> {
    return this.until(what, async () => {
      const [lb, ...more] = await this.loadBalancers();
      if (!lb || more.length > 0 || lb.provisioning_status !== "ACTIVE") return undefined;
      return (await holds(lb)) ? lb : undefined;
    });
  }
}
