import type { Node, Service } from "@causeway/kubernetes";
import type {
  FloatingIp,
  HealthMonitor,
  HealthMonitorCreate,
  Listener,
  LoadBalancer,
  LoadBalancerCreate,
  Member,
  MemberCreate,
  Pool,
  PoolInCreate,
} from "@causeway/openstack";
import type { ObservedPool } from "@causeway/octavia-tree";
import { defaultCloudConfig, type LoadBalancerConfig } from "../config/config.ts";
import { eligibleNodes } from "../service/parameters/desired.ts";
import type { Observed } from "../service/observed.ts";
import { matchingSubnets } from "../service/address/floating-subnets.ts";
import { annotation } from "../config/annotations.ts";
import { floatingIpDescription, loadBalancerName } from "../service/parameters/names.ts";
import { formerName } from "../service/ownership.ts";
import { parametersOf } from "../service/parameters/parameters.ts";
import { plan } from "../service/plan.ts";
import type { Step } from "../service/steps.ts";
import { aFloatingIp, aMember, aMonitor, aPool, common, nothingHeld } from "./model-parts.ts";
import { aNetwork, aSubnet } from "./objects.ts";

export const cluster = "c1";

/**
 * What a Service and Octavia's tree become when a plan's steps are done: a world without time, in which each change of
 * the load balancer leaves it PENDING until `settle`, and a second change before that throws, as Octavia refuses it.
 */
export class ModelWorld {
  service: Service;
  nodes: readonly Node[];
  config: LoadBalancerConfig;
  balancers: LoadBalancer[] = [];
  listeners: Listener[] = [];
  pools: ObservedPool[] = [];
  floatingIps: FloatingIp[] = [];
  external = true;
  /** Of Octavia's API. */
  version = "2.26";
  /** Load balancers that were ever made. */
  made = 0;
  #next = 0;

  constructor(service: Service, nodes: readonly Node[], config: Partial<LoadBalancerConfig> = {}) {
    this.service = service;
    this.nodes = nodes;
    this.config = { ...defaultCloudConfig().loadBalancer, ...config };
  }

  observe(): Observed {
    const { service, config } = this;
    const parameters = parametersOf(service, config);
    const lbName = loadBalancerName(cluster, service);
    const staying = this.balancers.filter((l) => l.provisioning_status !== "PENDING_DELETE");
    const lb = staying[0];
    const network = aNetwork("public");
    const subnets = [aSubnet("pub-1", { network_id: "public" }), aSubnet("pub-2", { network_id: "public" })];
    const description = floatingIpDescription(cluster, service);
    return {
      service,
      clusterName: cluster,
      config: { ...defaultCloudConfig(), loadBalancer: config },
      parameters,
      lbName,
      nodes: eligibleNodes(this.nodes, parameters.nodeSelector),
      loadBalancers: staying,
      anothers: [],
      leaving: this.balancers.filter((l) => l.provisioning_status === "PENDING_DELETE"),
      listeners: this.listeners,
      pools: lb?.provisioning_status === "ACTIVE" ? this.pools : [],
      floatingIp: this.floatingIps.find((ip) => lb && ip.port_id === lb.vip_port_id),
      ownFloatingIps: this.floatingIps.filter((ip) => ip.description === description),
      wantedFloatingIp: this.floatingIps.find((ip) => ip.floating_ip_address === service.spec.loadBalancerIP),
      nodeSubnet: aSubnet("node-subnet"),
      externalNetwork: this.external ? network : undefined,
      floatingSubnets: matchingSubnets(parameters, subnets),
      namedFloatingSubnet: undefined,
      octavia: true,
      facts: { version: this.version, providers: ["amphora", "octavia", "ovn"] },
      tlsProblem: undefined,
      formerName: lb && formerName(service, lb, lbName),
      held: nothingHeld,
      second: undefined,
      retiring: [],
      retiringFloatingIp: undefined,
    };
  }

  /** Plans and does until there is nothing to do; throws when that takes too long. The steps that were done. */
  converge(): string[] {
    const done: string[] = [];
    for (let round = 0; round < 200; round++) {
      if (this.#isGone()) return done;
      const { steps, status } = plan(this.observe(), 0);
      for (const step of steps) {
        done.push(step.type);
        this.apply(step);
      }
      if (steps.length > 0) continue;
      if (!this.#isGone() && this.service.spec.type === "LoadBalancer") this.service = { ...this.service, status };
      if (!this.settle()) return done;
    }
    throw new Error(`there is no end to it: ${done.slice(-10).join(", ")}`);
  }

  #isGone(): boolean {
    return (
      (this.service.metadata.finalizers ?? []).length === 0 && this.service.metadata.deletionTimestamp !== undefined
    );
  }

  /** Ends what is pending; false when nothing was. */
  settle(): boolean {
    const pending = this.balancers.some((l) => l.provisioning_status.startsWith("PENDING_"));
    this.balancers = this.balancers
      .filter((l) => l.provisioning_status !== "PENDING_DELETE")
      .map((l) => ({
        ...l,
        provisioning_status: l.provisioning_status === "ERROR" ? "ERROR" : "ACTIVE",
        listeners: this.listeners.map(({ id }) => ({ id })),
        pools: this.pools.map(({ pool }) => ({ id: pool.id })),
      }));
    return pending;
  }

  apply(step: Step): void {
    if (this.#applyToService(step) || this.#applyToAddress(step)) return;
    if (step.type === "create-load-balancer") return this.#create(step.body);
    this.#busy();
    this.#applyToTree(step);
  }

  #id(kind: string): string {
    return `${kind}-${this.#next++}`;
  }

  #applyToService(step: Step): boolean {
    const { metadata } = this.service;
    switch (step.type) {
      case "add-finalizer":
        this.service = {
          ...this.service,
          metadata: { ...metadata, finalizers: ["service.kubernetes.io/load-balancer-cleanup"] },
        };
        return true;
      case "remove-finalizer":
        this.service = { ...this.service, metadata: { ...metadata, finalizers: [] } };
        return true;
      case "clear-status":
        this.service = { ...this.service, status: { loadBalancer: {} } };
        return true;
      case "annotate": {
        const all = Object.entries({ ...metadata.annotations, ...step.annotations });
        const annotations = Object.fromEntries(all.filter((pair): pair is [string, string] => pair[1] !== null));
        this.service = { ...this.service, metadata: { ...metadata, annotations } };
        return true;
      }
      default:
        return false;
    }
  }

  #applyToAddress(step: Step): boolean {
    switch (step.type) {
      case "create-floating-ip":
        this.addFloatingIp({
          description: step.description,
          port_id: step.portId ?? null,
          ...(step.address === undefined ? {} : { floating_ip_address: step.address }),
        });
        return true;
      case "attach-floating-ip":
      case "detach-floating-ip": {
        const port_id = step.type === "attach-floating-ip" ? step.portId : null;
        if (port_id !== null && this.floatingIps.some((ip) => ip.port_id === port_id))
          throw new Error("two on one port");
        this.floatingIps = this.floatingIps.map((ip) => (ip.id === step.id ? { ...ip, port_id } : ip));
        return true;
      }
      case "delete-floating-ip":
        this.floatingIps = this.floatingIps.filter((ip) => ip.id !== step.id);
        return true;
      default:
        return false;
    }
  }

  addFloatingIp(changes: Partial<FloatingIp>): void {
    const id = this.#id("fip");
    this.floatingIps.push({ ...aFloatingIp(id, `172.24.4.${this.#next}`), ...changes });
  }

  #create(body: LoadBalancerCreate): void {
    if (this.balancers.some((l) => l.provisioning_status !== "PENDING_DELETE"))
      throw new Error("a second load balancer");
    this.made++;
    const id = this.#id("lb");
    this.balancers.push({
      ...common(id, body.name),
      provisioning_status: "PENDING_CREATE",
      tags: body.tags ?? [],
      vip_address: "10.0.0.200",
      vip_port_id: `port-${id}`,
      vip_subnet_id: body.vip_subnet_id ?? "chosen",
      vip_network_id: "net",
      provider: body.provider ?? "amphora",
      listeners: [],
      pools: [],
    });
    for (const { default_pool, ...listener } of body.listeners ?? []) {
      const listenerId = this.#addListener(id, listener);
      if (default_pool) this.#addPool(id, listenerId, default_pool);
    }
  }

  #busy(): void {
    const lb = this.balancers[0];
    if (!lb || lb.provisioning_status.startsWith("PENDING_")) throw new Error("immutable");
    this.balancers[0] = { ...lb, provisioning_status: "PENDING_UPDATE" };
  }

  #addListener(lbId: string, body: object): string {
    const id = this.#id("listener");
    const defaults = { connection_limit: -1, default_pool_id: null, allowed_cidrs: null, insert_headers: {} };
    this.listeners.push({ ...common(id, ""), ...defaults, loadbalancers: [{ id: lbId }], ...body } as Listener);
    return id;
  }

  #addPool(lbId: string, listenerId: string, body: PoolInCreate): void {
    const id = this.#id("pool");
    const { members = [], healthmonitor, ...rest } = body;
    const pool = aPool(id, { lbId, listenerId }, rest);
    const monitor = healthmonitor && this.#monitor(id, healthmonitor);
    this.pools.push({ pool, members: members.map((m) => this.#member(m)), monitor });
    this.listeners = this.listeners.map((l) => (l.id === listenerId ? { ...l, default_pool_id: id } : l));
  }

  #monitor(poolId: string, body: Omit<HealthMonitorCreate, "pool_id">): HealthMonitor {
    return aMonitor(this.#id("monitor"), poolId, body);
  }

  #member(body: MemberCreate): Member {
    return aMember(this.#id("member"), body);
  }

  #pool(id: string, change: (pool: ObservedPool) => ObservedPool | undefined): void {
    this.pools = this.pools.flatMap((p) => (p.pool.id === id ? (change(p) ?? []) : p));
  }

  #applyToTree(step: Step): void {
    const lb = this.balancers[0];
    switch (step.type) {
      case "update-load-balancer":
        if (lb) this.balancers[0] = { ...lb, ...step.change };
        return;
      case "create-listener":
        this.#addListener(lb?.id ?? "", step.body);
        return;
      case "update-listener":
        this.listeners = this.listeners.map((l) => (l.id === step.id ? ({ ...l, ...step.change } as Listener) : l));
        return;
      case "delete-listener":
        this.listeners = this.listeners.filter((l) => l.id !== step.id);
        return;
      case "create-pool":
        this.#addPool(lb?.id ?? "", step.body.listener_id ?? "", step.body);
        return;
      case "update-pool":
        this.#pool(step.id, (p) => ({ ...p, pool: { ...p.pool, ...step.change } as Pool }));
        return;
      case "delete-pool":
        this.#pool(step.id, () => undefined);
        this.listeners = this.listeners.map((l) =>
          l.default_pool_id === step.id ? { ...l, default_pool_id: null } : l,
        );
        return;
      default:
        this.#applyToPool(step);
    }
  }

  #applyToPool(step: Step): void {
    switch (step.type) {
      case "replace-members":
        this.#pool(step.poolId, (p) => ({ ...p, members: step.members.map((m) => this.#member(m)) }));
        return;
      case "create-member":
        this.#pool(step.poolId, (p) => ({ ...p, members: [...p.members, this.#member(step.body)] }));
        return;
      case "update-member":
        this.#pool(step.poolId, (p) => ({
          ...p,
          members: p.members.map((m) => (m.id === step.id ? { ...m, ...step.change } : m)),
        }));
        return;
      case "delete-member":
        this.#pool(step.poolId, (p) => ({ ...p, members: p.members.filter((m) => m.id !== step.id) }));
        return;
      case "create-monitor":
        this.#pool(step.body.pool_id, (p) => ({ ...p, monitor: this.#monitor(p.pool.id, step.body) }));
        return;
      case "update-monitor":
        this.#pool(step.poolId, (p) => ({ ...p, monitor: { ...p.monitor, ...step.change } as HealthMonitor }));
        return;
      case "delete-monitor":
        this.#pool(step.poolId, (p) => ({ ...p, monitor: undefined }));
        return;
      case "delete-load-balancer":
        if (!step.cascade && this.listeners.length + this.pools.length > 0) throw new Error("it has children");
        this.balancers = this.balancers.map((l) => ({ ...l, provisioning_status: "PENDING_DELETE" }));
        this.floatingIps = this.floatingIps.map((ip) => ({ ...ip, port_id: null }));
        this.listeners = [];
        this.pools = [];
        return;
      default:
        throw new Error(`the model does not know ${step.type}`);
    }
  }

  /** Ports with the addresses of their members: what clients see. */
  served(): string[] {
    return this.listeners
      .map((l) => {
        const pool = this.pools.find((p) => p.pool.id === l.default_pool_id);
        const members = (pool?.members ?? []).map((m) => `${m.address}:${m.protocol_port}`).sort();
        return `${l.protocol} ${l.protocol_port} → ${members.join(" ")}`;
      })
      .sort();
  }

  change(changes: Partial<Service["spec"]>, annotations: Record<string, string> = {}): void {
    const { metadata, spec } = this.service;
    this.service = {
      ...this.service,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
      spec: { ...spec, ...changes },
    };
  }

  delete(): void {
    this.service = {
      ...this.service,
      metadata: { ...this.service.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    };
  }

  get address(): string | undefined {
    return this.service.status?.loadBalancer?.ingress?.[0]?.ip;
  }

  get annotatedId(): string | undefined {
    return this.service.metadata.annotations?.[annotation.loadBalancerId];
  }
}
