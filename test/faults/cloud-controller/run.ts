import { Node, Service, type ServicePort } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import type { CallRecord, Fault } from "@causeway/simulator";
import type { Deed, Misfortune, Provider, Schedule } from "./schedule.ts";
import { CLUSTER, NODES, OWN, type FaultWorld } from "./world.ts";
import type { Process } from "./process.ts";

const MINUTE = 60_000;
/** How long (by the clock) a controller may take until all is well, once no fault disturbs it. */
const TIMEOUT = 30 * MINUTE;
const PROVIDER = "loadbalancer.openstack.org/provider";
const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";

let runs = 0;

/** What a Service asks for. */
interface Wanted {
  readonly ports: readonly number[];
  readonly families: 1 | 2;
  readonly provider: Provider;
}

/** Plays one schedule to its end; what is wrong after it, in words, if anything is. */
export async function play(world: FaultWorld, schedule: Schedule): Promise<string | undefined> {
  const run = new Run(world, schedule, `run-${(runs += 1)}`);
  try {
    return await run.play();
  } finally {
    await run.leave();
  }
}

class Run {
  readonly #world: FaultWorld;
  readonly #schedule: Schedule;
  readonly #name: string;
  readonly #before: readonly string[];
  readonly #wanted = new Map<0 | 1, Wanted>();
  readonly #excluded = new Set<number>();
  readonly #managers: Process[] = [];
  readonly #ending: Promise<void>[] = [];
  readonly #elected: boolean;
  /** How often the cluster has been renamed. */
  #renamed = 0;

  constructor(world: FaultWorld, schedule: Schedule, name: string) {
    this.#world = world;
    this.#schedule = schedule;
    this.#name = name;
    this.#before = world.simulator.inventory("demo");
    this.#elected = schedule.deeds.some(({ deed }) => deed.do === "second");
  }

  async play(): Promise<string | undefined> {
    const { deeds } = this.#schedule;
    this.#launch();
    this.#disturb();
    for (const { deed, pause, pending } of deeds) {
      this.#pending(pending);
      await this.#do(deed);
      await this.#world.pass(pause);
    }
    this.#world.simulator.setFaults(undefined);
    this.#pending("usual");
    if (this.#managers.length === 0) this.#launch();
    let wrong = await this.#untilRight(() => this.#whatIsWrong());
    if (wrong !== undefined && this.#excluded.size === NODES.length) {
      // No load balancer is made while no node can be a member: one can again.
      await this.#label(0, null);
      wrong = await this.#untilRight(() => this.#whatIsWrong());
    }
    if (wrong !== undefined) return wrong;
    for (const service of this.#wanted.keys()) await this.#delete(service);
    return this.#untilRight(async () => this.#whatIsLeft());
  }

  async leave(): Promise<void> {
    const { simulator, client } = this.#world;
    simulator.setFaults(undefined);
    simulator.setOutcomes([]);
    for (const manager of this.#managers.splice(0)) await manager.stop();
    await Promise.all(this.#ending);
    for (const node of this.#excluded) await this.#label(node, null);
    for (const { metadata } of (await client.list(Service)).items) {
      if (!metadata.name.startsWith("run-")) continue;
      const key = { namespace: "default", name: metadata.name };
      await client.patch(Service, key, { type: "merge", body: { metadata: { finalizers: null } } }).catch(() => {});
      await client.delete(Service, key).catch(() => {});
    }
  }

  get #clusterName(): string {
    return this.#renamed === 0 ? CLUSTER : `${CLUSTER}-${this.#renamed}`;
  }

  #launch(): void {
    const { provider } = this.#schedule;
    const clusterName = this.#clusterName;
    this.#managers.push(this.#world.launch({ clusterName, provider, elected: this.#elected }));
  }

  /**
   * A person waits until all is well, stops everything and starts it with another name; the faults of calls start
   * again.
   */
  async #rename(): Promise<void> {
    this.#world.simulator.setFaults(undefined);
    this.#pending("usual");
    if ((await this.#untilRight(() => this.#whatIsWrong())) === undefined) {
      for (const manager of this.#managers.splice(0)) await manager.stop();
      this.#renamed += 1;
      this.#launch();
    }
    this.#disturb();
  }

  /** The misfortunes of calls, by their number; the test's own calls have none. */
  #disturb(): void {
    const by = new Map(this.#schedule.misfortunes.map(({ call, what }) => [call, what]));
    let number = 0;
    this.#world.simulator.setFaults((call) => {
      if (call.userAgent.startsWith(OWN) || call.service === "identity") return undefined;
      const what = by.get((number += 1));
      return what === undefined ? undefined : this.#befall(what, call);
    });
  }

  #befall(what: Misfortune, call: CallRecord): Fault {
    const when = what.endsWith("before") ? "before" : "after";
    if (what.startsWith("crash")) this.#crash();
    if (what.startsWith("crash") || what.startsWith("cut")) return { when, cut: true };
    const status = what === "409" && call.method === "GET" ? 503 : Number(what);
    const faultstring = "Load Balancer is immutable and cannot be updated.";
    const headers = status === 429 ? { "retry-after": "1" } : {};
    return { when: "before", status, body: { faultcode: "Client", faultstring }, headers };
  }

  /** Who leads (or acts) dies, and another process starts at once. */
  #crash(): void {
    const dead = this.#managers.shift();
    if (dead) this.#ending.push(dead.kill());
    this.#launch();
  }

  #pending(how: "usual" | "long" | "broken"): void {
    const { provider, cycle } = this.#schedule;
    const time = how === "long" ? 5 * MINUTE : cycle;
    for (const verb of ["create", "update", "delete"])
      this.#world.simulator.setDelay(`loadbalancer.${provider}.${verb}`, time);
    this.#world.simulator.setOutcomes(how === "broken" ? [{ operation: "loadbalancer.create", outcome: "error" }] : []);
  }

  async #do(deed: Deed): Promise<void> {
    switch (deed.do) {
      case "ports":
        return this.#setPorts(deed.service, deed.ports);
      case "delete":
        return this.#delete(deed.service);
      case "exclude":
      case "include":
        return this.#label(deed.node, deed.do === "exclude" ? "true" : null);
      case "restart": {
        const manager = this.#managers.shift();
        if (manager) await manager.stop();
        return this.#launch();
      }
      case "crash":
        return this.#crash();
      case "second":
        return this.#launch();
      case "families":
        return this.#setFamilies(deed.service, deed.families);
      case "provider":
        return this.#setProvider(deed.service, deed.provider);
      case "rename":
        return this.#rename();
      default:
        return this.#byHand(deed);
    }
  }

  #serviceName(service: 0 | 1): string {
    return `${this.#name}-${service}`;
  }

  async #setPorts(service: 0 | 1, numbers: readonly number[]): Promise<void> {
    const { client } = this.#world;
    const name = this.#serviceName(service);
    const ports: ServicePort[] = numbers.map((port) => ({ name: `p${port}`, port, protocol: "TCP" }));
    const found = await client.find(Service, { namespace: "default", name });
    // One that is on its way out must be gone before another of its name can come.
    if (found?.metadata.deletionTimestamp !== undefined) return;
    const { provider } = this.#schedule;
    this.#wanted.set(service, { families: 1, provider, ...this.#wanted.get(service), ports: numbers });
    if (found) {
      await client.patch(Service, { namespace: "default", name }, { type: "merge", body: { spec: { ports } } });
      return;
    }
    const metadata = { name, namespace: "default" };
    await client.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { type: "LoadBalancer", ports },
    });
  }

  async #setFamilies(service: 0 | 1, families: 1 | 2): Promise<void> {
    const spec =
      families === 2
        ? { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] }
        : { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] };
    await this.#ask(service, { families }, (found) => ({
      spec: { ...spec, ...(families === 1 ? { clusterIPs: [found.spec.clusterIP] } : {}) },
    }));
  }

  async #setProvider(service: 0 | 1, provider: Provider): Promise<void> {
    await this.#ask(service, { provider }, () => ({ metadata: { annotations: { [PROVIDER]: provider } } }));
  }

  /** Of a Service that is there and remains. */
  async #ask(service: 0 | 1, change: Partial<Wanted>, body: (found: Service) => Readonly<Record<string, unknown>>) {
    const wanted = this.#wanted.get(service);
    const key = { namespace: "default", name: this.#serviceName(service) };
    const found = await this.#world.client.find(Service, key);
    if (!wanted || !found) return;
    this.#wanted.set(service, { ...wanted, ...change });
    await this.#world.client.patch(Service, key, { type: "merge", body: body(found) });
  }

  async #delete(service: 0 | 1): Promise<void> {
    this.#wanted.delete(service);
    const key = { namespace: "default", name: this.#serviceName(service) };
    if (await this.#world.client.find(Service, key)) await this.#world.client.delete(Service, key);
  }

  async #label(node: number, value: string | null): Promise<void> {
    if (value === null) this.#excluded.delete(node);
    else this.#excluded.add(node);
    const key = { namespace: "", name: NODES[node] ?? "" };
    await this.#world.client.patch(Node, key, { type: "merge", body: { metadata: { labels: { [EXCLUDED]: value } } } });
  }

  async #balancersOf(service: 0 | 1, family: "IPv4" | "IPv6" = "IPv4"): Promise<readonly LoadBalancer[]> {
    const end = family === "IPv6" ? "_ipv6" : "";
    const name = `kube_service_${this.#clusterName}_default_${this.#serviceName(service)}${end}`;
    return this.#world.cloud.loadBalancing.loadBalancers.all({ name });
  }

  /** A person changes something in the cloud; one that is busy refuses, and the person leaves it at that. */
  async #byHand(deed: Extract<Deed, { do: "take-away" | "add-member" }>): Promise<void> {
    const { loadBalancing, network } = this.#world.cloud;
    const [lb] = await this.#balancersOf(deed.service);
    if (!lb) return;
    const [pool] = await loadBalancing.pools.all({ loadbalancer_id: lb.id });
    const work = async (): Promise<unknown> => {
      if (deed.do === "add-member") {
        const extra = { address: "10.77.0.250", protocol_port: 1 };
        return pool && loadBalancing.members(pool.id).create(extra);
      }
      switch (deed.what) {
        case "load-balancer":
          return loadBalancing.deleteLoadBalancer(lb.id, { cascade: true });
        case "listener":
          return lb.listeners[0] && loadBalancing.listeners.delete(lb.listeners[0].id);
        case "pool":
          return pool && loadBalancing.pools.delete(pool.id);
        case "member":
          return pool?.members[0] && loadBalancing.members(pool.id).delete(pool.members[0].id);
        case "floating-ip": {
          const [ip] = await network.floatingIps.all({ port_id: lb.vip_port_id });
          return ip && network.floatingIps.delete(ip.id);
        }
      }
    };
    await work().catch(() => {});
  }

  /** Lets time pass until a check finds nothing wrong; what the last one found if none does. */
  async #untilRight(probe: () => Promise<string | undefined>): Promise<string | undefined> {
    const end = this.#world.clock.now() + TIMEOUT;
    let repaired = false;
    for (let pause = 500; ; pause = Math.min(MINUTE, pause * 1.5)) {
      await this.#world.pass(pause);
      const wrong = await probe();
      if (wrong === undefined || this.#world.clock.now() > end) return wrong;
      if (!repaired && this.#world.clock.now() > end - TIMEOUT / 2) {
        repaired = true;
        await this.#repairByHand();
      }
    }
  }

  /** What events advise to do about a load balancer that broke while it served. */
  async #repairByHand(): Promise<void> {
    const { loadBalancing } = this.#world.cloud;
    for (const lb of await loadBalancing.loadBalancers.all())
      if (lb.provisioning_status === "ERROR") await loadBalancing.deleteLoadBalancer(lb.id, { cascade: true });
  }

  async #whatIsWrong(): Promise<string | undefined> {
    const { cloud, simulator } = this.#world;
    const count = (kind: string): number =>
      simulator.inventory("demo").filter((line) => line.startsWith(`${kind} `)).length;
    const before = (kind: string): number => this.#before.filter((line) => line.startsWith(`${kind} `)).length;
    const all = [...this.#wanted.values()];
    const balancers = all.reduce((sum, { families }) => sum + families, 0);
    const wanted = { loadbalancer: balancers, floatingip: all.length, port: balancers, security_group: 0 };
    for (const [kind, own] of Object.entries(wanted))
      if (count(kind) !== before(kind) + own) return `${count(kind) - before(kind)} of ${kind}, wanted ${own}`;
    for (const [service, { families, ports, provider }] of this.#wanted) {
      const trees = families === 2 ? (["IPv4", "IPv6"] as const) : (["IPv4"] as const);
      const found: LoadBalancer[] = [];
      for (const family of trees) {
        const [lb, ...more] = await this.#balancersOf(service, family);
        const name = `${this.#serviceName(service)} ${family}`;
        if (!lb || more.length > 0) return `${name} has ${lb ? more.length + 1 : 0} load balancers`;
        const wrong = await this.#treeWrong(lb, ports, family);
        if (wrong !== undefined) return `${name}: ${wrong}`;
        found.push(lb);
      }
      if (found[0]?.provider !== provider) return `${this.#serviceName(service)} is on ${found[0]?.provider}`;
      const wrong = await this.#statusWrong(service, found);
      if (wrong !== undefined) return `${this.#serviceName(service)}: ${wrong}`;
    }
    const pools = (await cloud.loadBalancing.pools.all()).length;
    const poolsWanted = all.reduce((sum, { ports, families }) => sum + ports.length * families, 0);
    return pools === poolsWanted ? undefined : `${pools} pools, wanted ${poolsWanted}`;
  }

  async #treeWrong(lb: LoadBalancer, ports: readonly number[], family: "IPv4" | "IPv6"): Promise<string | undefined> {
    const { loadBalancing } = this.#world.cloud;
    if (lb.provisioning_status !== "ACTIVE") return `load balancer ${lb.provisioning_status}`;
    const listeners = await loadBalancing.listeners.all({ loadbalancer_id: lb.id });
    const have = listeners.map((l) => l.protocol_port).toSorted((a, b) => a - b);
    if (have.join() !== ports.toSorted((a, b) => a - b).join())
      return `listeners ${have.join()}, wanted ${ports.join()}`;
    const serving = NODES.filter((_, i) => !this.#excluded.has(i));
    const nodes = serving.map((name) => this.#world.addresses.get(name)?.[family] ?? "");
    for (const { protocol_port: port, default_pool_id: pool } of listeners) {
      if (pool === null) return `listener ${port} has no pool`;
      const members = new Set((await loadBalancing.members(pool).all()).map((m) => m.address));
      if (members.size !== nodes.length || !nodes.every((address) => members.has(address)))
        return `port ${port} has members ${[...members].join()}`;
    }
    return undefined;
  }

  /** The status has the floating IP of the first, and the VIP of the second. */
  async #statusWrong(service: 0 | 1, [first, second]: readonly LoadBalancer[]): Promise<string | undefined> {
    const { client, cloud } = this.#world;
    const { status } = await client.get(Service, { namespace: "default", name: this.#serviceName(service) });
    const [ip] = await cloud.network.floatingIps.all({ port_id: first?.vip_port_id ?? "" });
    const published = (status?.loadBalancer?.ingress ?? []).map((ingress) => ingress.ip).join();
    const wanted = [ip?.floating_ip_address ?? "none", ...(second ? [second.vip_address] : [])].join();
    return published === wanted ? undefined : `publishes ${published}, has ${wanted}`;
  }

  async #whatIsLeft(): Promise<string | undefined> {
    const { simulator, client } = this.#world;
    const services = (await client.list(Service)).items.filter((s) => s.metadata.name.startsWith(this.#name));
    if (services.length > 0) return `Services that remain: ${services.map((s) => s.metadata.name).join()}`;
    const before = new Set(this.#before);
    const left = simulator.inventory("demo").filter((line) => !before.has(line));
    return left.length > 0 ? `left: ${left.join("; ")}` : undefined;
  }
}
