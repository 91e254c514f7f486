import { Node } from "@causeway/kubernetes";
import { Ingress, type IngressSpec } from "@causeway/octavia-ingress";
import type { CallRecord, Fault } from "@causeway/simulator";
import type { Process } from "../cloud-controller/process.ts";
import type { Deed, Misfortune, Schedule, WantedIngress } from "./schedule.ts";
import { addressOf, CLASS, CLUSTER, NODES, OWN, podAddressOf, SERVICES, type IngressFaultWorld } from "./world.ts";

/** Where members are. */
export type Place = "nodes" | "pods";

const MINUTE = 60_000;
/** How long (by the clock) a controller may take until all is well, once nothing disturbs it. */
const TIMEOUT = 90 * MINUTE;
const PATHS = ["/", "/a", "/b"] as const;

let runs = 0;

/** Plays one schedule to its end; what is wrong after it, in words, if anything is. */
export async function play(world: IngressFaultWorld, schedule: Schedule, place: Place): Promise<string | undefined> {
  const run = new Run(world, schedule, { name: `run-${(runs += 1)}`, place });
  try {
    return await run.play();
  } finally {
    await run.leave();
  }
}

class Run {
  readonly #world: IngressFaultWorld;
  readonly #schedule: Schedule;
  readonly #name: string;
  readonly #place: Place;
  readonly #before: readonly string[];
  readonly #wanted = new Map<0 | 1, WantedIngress>();
  readonly #cordoned = new Set<number>();
  readonly #processes: Process[] = [];
  readonly #ending: Promise<void>[] = [];
  readonly #elected: boolean;
  #shared = false;

  constructor(world: IngressFaultWorld, schedule: Schedule, { name, place }: { name: string; place: Place }) {
    this.#place = place;
    this.#world = world;
    this.#schedule = schedule;
    this.#name = name;
    this.#before = world.simulator.inventory("demo");
    this.#elected = schedule.deeds.some(({ deed }) => deed.do === "second");
  }

  async play(): Promise<string | undefined> {
    await this.#world.place(this.#place);
    this.#launch();
    this.#disturb();
    for (const { deed, pause, pending } of this.#schedule.deeds) {
      this.#pending(pending);
      await this.#do(deed);
      await this.#world.pass(pause);
    }
    this.#world.simulator.setFaults(undefined);
    this.#pending("usual");
    if (this.#processes.length === 0) this.#launch();
    const wrong = await this.#untilRight(() => this.#whatIsWrong());
    if (wrong !== undefined) return wrong;
    for (const ingress of this.#wanted.keys()) await this.#delete(ingress);
    return this.#untilRight(async () => this.#whatIsLeft());
  }

  async leave(): Promise<void> {
    const { simulator, client } = this.#world;
    simulator.setFaults(undefined);
    simulator.setOutcomes([]);
    for (const process of this.#processes.splice(0)) await process.stop();
    await Promise.all(this.#ending);
    for (const node of this.#cordoned) await this.#cordon(node, false);
    await this.#world.share(false);
    for (const { metadata } of (await client.list(Ingress)).items) {
      const key = { namespace: "default", name: metadata.name };
      await client.patch(Ingress, key, { type: "merge", body: { metadata: { finalizers: null } } }).catch(() => {});
      await client.delete(Ingress, key).catch(() => {});
    }
  }

  #launch(): void {
    this.#processes.push(this.#world.launch(this.#elected));
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

  /** The process that leads dies, and another starts at once. */
  #crash(): void {
    const dead = this.#processes.shift();
    if (dead) this.#ending.push(dead.kill());
    this.#launch();
  }

  #pending(how: "usual" | "long" | "broken"): void {
    const time = how === "long" ? 5 * MINUTE : this.#schedule.cycle;
    for (const verb of ["create", "update", "delete"])
      this.#world.simulator.setDelay(`loadbalancer.amphora.${verb}`, time);
    this.#world.simulator.setOutcomes(how === "broken" ? [{ operation: "loadbalancer.create", outcome: "error" }] : []);
  }

  async #do(deed: Deed): Promise<void> {
    switch (deed.do) {
      case "want":
        return this.#want(deed.ingress, deed.wish);
      case "delete":
        return this.#delete(deed.ingress);
      case "share":
        this.#shared = deed.shared;
        return this.#world.share(deed.shared);
      case "cordon":
      case "uncordon":
        return this.#cordon(deed.node, deed.do === "cordon");
      case "rotate":
        return this.#world.rotate();
      case "restart": {
        const process = this.#processes.shift();
        if (process) await process.stop();
        return this.#launch();
      }
      case "crash":
        return this.#crash();
      case "second":
        return this.#launch();
      case "take-away":
        return this.#takeAway(deed.what);
    }
  }

  #ingressName(ingress: 0 | 1): string {
    return `${this.#name}-${ingress}`;
  }

  async #want(ingress: 0 | 1, wish: WantedIngress): Promise<void> {
    const { client } = this.#world;
    const key = { namespace: "default", name: this.#ingressName(ingress) };
    const found = await client.find(Ingress, key);
    // One that is being deleted must be gone before another of its name can come.
    if (found?.metadata.deletionTimestamp !== undefined) return;
    this.#wanted.set(ingress, wish);
    const annotations = { "octavia.ingress.kubernetes.io/internal": wish.external ? "false" : "true" };
    const spec = this.#spec(ingress, wish);
    if (found) {
      const body = { metadata: { annotations }, spec: { defaultBackend: null, tls: null, ...spec } };
      await client.patch(Ingress, key, { type: "merge", body });
      return;
    }
    await client.create(Ingress, {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { ...key, annotations },
      spec,
    });
  }

  #spec(ingress: 0 | 1, { paths, tls, fallback }: WantedIngress): IngressSpec {
    const backend = (name: string) => ({ service: { name, port: { number: 80 } } });
    const all = paths.flatMap((service, i) =>
      service === undefined ? [] : [{ path: PATHS[i] ?? "/", pathType: "Prefix" as const, backend: backend(service) }],
    );
    return {
      ingressClassName: CLASS,
      rules: [{ host: `h${ingress}.example`, http: { paths: all } }],
      ...(tls ? { tls: [{ secretName: "cert" }] } : {}),
      ...(fallback ? { defaultBackend: backend("three") } : {}),
    };
  }

  async #delete(ingress: 0 | 1): Promise<void> {
    this.#wanted.delete(ingress);
    const key = { namespace: "default", name: this.#ingressName(ingress) };
    if (await this.#world.client.find(Ingress, key)) await this.#world.client.delete(Ingress, key);
  }

  async #cordon(node: number, cordoned: boolean): Promise<void> {
    if (cordoned) this.#cordoned.add(node);
    else this.#cordoned.delete(node);
    const key = { namespace: "", name: NODES[node] ?? "" };
    const body = { spec: { unschedulable: cordoned ? true : null } };
    await this.#world.client.patch(Node, key, { type: "merge", body });
    if (this.#place === "pods") await this.#world.unready(this.#cordoned);
  }

  /** A user deletes something in the cloud; what is busy refuses, and the user leaves it at that. */
  async #takeAway(what: Extract<Deed, { do: "take-away" }>["what"]): Promise<void> {
    const { loadBalancing, network } = this.#world.cloud;
    const [lb] = await loadBalancing.loadBalancers.all();
    if (!lb) return;
    const work = async (): Promise<unknown> => {
      const [pool] = await loadBalancing.pools.all({ loadbalancer_id: lb.id });
      switch (what) {
        case "load-balancer":
          return loadBalancing.deleteLoadBalancer(lb.id, { cascade: true });
        case "listener":
          return lb.listeners[0] && loadBalancing.listeners.delete(lb.listeners[0].id);
        case "pool":
          return pool && loadBalancing.pools.delete(pool.id);
        case "member":
          return pool?.members[0] && loadBalancing.members(pool.id).delete(pool.members[0].id);
        case "policy": {
          const [policy] = await loadBalancing.l7Policies.all();
          return policy && loadBalancing.l7Policies.delete(policy.id);
        }
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
    let helped = false;
    // A check costs about as much as the controllers' work between two of them.
    for (let pause = 2_000; ; pause = Math.min(MINUTE, pause * 2)) {
      await this.#world.pass(pause);
      const wrong = await probe();
      if (wrong === undefined || this.#world.clock.now() > end) return wrong;
      if (!helped && this.#world.clock.now() > end - TIMEOUT / 2) {
        helped = true;
        // What the event asks of a person where a load balancer broke while it served.
        const { loadBalancing } = this.#world.cloud;
        for (const lb of await loadBalancing.loadBalancers.all())
          if (lb.provisioning_status === "ERROR") await loadBalancing.deleteLoadBalancer(lb.id, { cascade: true });
      }
    }
  }

  async #whatIsWrong(): Promise<string | undefined> {
    const { loadBalancing, network, keyManager } = this.#world.cloud;
    const groups = await this.#groups();
    const balancers = await loadBalancing.loadBalancers.all();
    if (balancers.length !== groups.length) return `${balancers.length} load balancers, wanted ${groups.length}`;
    for (const { name, wishes } of groups) {
      const wrong = await this.#groupWrong(name, wishes);
      if (wrong !== undefined) return `${name}: ${wrong}`;
    }
    const ips = (await network.floatingIps.all()).length;
    const external = groups.filter(({ wishes }) => wishes[0]?.wish.external).length;
    if (ips !== external) return `${ips} floating IPs, wanted ${external}`;
    const secrets = (await keyManager.secrets.all()).length;
    const tls = groups.filter(({ wishes }) => wishes.some(({ wish }) => wish.tls)).length;
    return secrets === tls ? undefined : `${secrets} certificates, wanted ${tls}`;
  }

  /** The load balancers that must be there, each with its Ingresses, the oldest first. */
  async #groups(): Promise<{ name: string; wishes: { ingress: 0 | 1; wish: WantedIngress }[] }[]> {
    const { items } = await this.#world.client.list(Ingress);
    const age = (ingress: 0 | 1): string => {
      const name = this.#ingressName(ingress);
      return `${items.find(({ metadata }) => metadata.name === name)?.metadata.creationTimestamp} ${name}`;
    };
    const all = [...this.#wanted]
      .map(([ingress, wish]) => ({ ingress, wish }))
      .sort((a, b) => (age(a.ingress) < age(b.ingress) ? -1 : 1));
    if (!this.#shared)
      return all.map((each) => ({
        name: `kube_ingress_${CLUSTER}_default_${this.#ingressName(each.ingress)}`,
        wishes: [each],
      }));
    return all.length === 0 ? [] : [{ name: `kube_ingressclass_${CLUSTER}_${CLASS}`, wishes: all }];
  }

  async #groupWrong(
    name: string,
    wishes: readonly { ingress: 0 | 1; wish: WantedIngress }[],
  ): Promise<string | undefined> {
    const { loadBalancing } = this.#world.cloud;
    const [lb] = await loadBalancing.loadBalancers.all({ name });
    if (lb?.provisioning_status !== "ACTIVE") return `load balancer ${lb?.provisioning_status ?? "missing"}`;
    for (const port of [80, 443]) {
      const here = wishes.filter(({ wish }) => wish.tls === (port === 443));
      const listeners = await loadBalancing.listeners.all({ loadbalancer_id: lb.id, protocol_port: port });
      if (listeners.length !== (here.length > 0 ? 1 : 0)) return `${listeners.length} listeners at ${port}`;
      const [listener] = listeners;
      if (!listener) continue;
      const fallback = here.some(({ wish }) => wish.fallback) ? await this.#pool(listener.default_pool_id) : undefined;
      if (fallback === undefined && listener.default_pool_id !== null) return "a default pool that is not wanted";
      if (fallback !== undefined && fallback !== this.#members("three")) return `default pool ${fallback}`;
      const wanted = here.flatMap(({ ingress, wish }) => this.#routes(ingress, wish)).sort();
      const found = (await this.#found(listener.id)).sort();
      if (JSON.stringify(found) !== JSON.stringify(wanted))
        return `${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`;
    }
    const services = new Set(wishes.flatMap(({ wish }) => [...wish.paths, ...(wish.fallback ? ["three"] : [])]));
    services.delete(undefined);
    const pools = await loadBalancing.pools.all({ loadbalancer_id: lb.id });
    if (pools.length !== services.size) return `${pools.length} pools, wanted ${services.size}`;
    return this.#addressWrong(lb, wishes);
  }

  async #addressWrong(
    lb: { vip_address: string; vip_port_id: string },
    wishes: readonly { ingress: 0 | 1; wish: WantedIngress }[],
  ): Promise<string | undefined> {
    const [ip] = await this.#world.cloud.network.floatingIps.all({ port_id: lb.vip_port_id });
    const address = ip?.floating_ip_address ?? lb.vip_address;
    for (const { ingress } of wishes) {
      const found = await this.#world.client.get(Ingress, { namespace: "default", name: this.#ingressName(ingress) });
      const published = found.status?.loadBalancer?.ingress?.[0]?.ip;
      if (published !== address) return `publishes ${published}, wanted ${address}`;
    }
    return undefined;
  }

  /** "position host path members", where a request of the host for the path must go before less specific ones. */
  #routes(ingress: 0 | 1, { paths }: WantedIngress): string[] {
    return paths.flatMap((service, i) =>
      service === undefined ? [] : `h${ingress} ${PATHS[i]} ${i === 0 ? "last" : "before"} ${this.#members(service)}`,
    );
  }

  async #found(listener: string): Promise<string[]> {
    const { loadBalancing } = this.#world.cloud;
    const policies = await loadBalancing.l7Policies.all({ listener_id: listener });
    const read: { host: string; path: string; position: number; pool: string | undefined }[] = [];
    for (const policy of policies) {
      if (!policy.admin_state_up) return [`policy ${policy.id} is off`];
      const rules = await loadBalancing.l7Rules(policy.id).all();
      const value = (type: string): string => rules.find((rule) => rule.type === type)?.value ?? "";
      const path = PATHS.find((p) => value("PATH") === (p === "/" ? "/" : `^${p}(/.*)?$`)) ?? "?";
      const host = /^\^(h\d)/.exec(value("HOST_NAME"))?.[1] ?? "?";
      read.push({ host, path, position: policy.position, pool: await this.#pool(policy.redirect_pool_id) });
    }
    return read.map(({ host, path, position, pool }) => {
      const root = read.find((other) => other.host === host && other.path === "/");
      return `${host} ${path} ${path === "/" ? "last" : position < (root?.position ?? 0) ? "before" : "after"} ${pool}`;
    });
  }

  async #pool(id: string | null): Promise<string | undefined> {
    if (id === null) return undefined;
    const members = await this.#world.cloud.loadBalancing.members(id).all();
    return members
      .map(({ address, protocol_port: port }) => `${address}:${port}`)
      .sort()
      .join();
  }

  #members(service: keyof typeof SERVICES): string {
    const nodes = NODES.map((_, i) => i).filter((i) => !this.#cordoned.has(i));
    const address = this.#place === "pods" ? podAddressOf : addressOf;
    return nodes.map((i) => `${address(i)}:${SERVICES[service]}`).join();
  }

  async #whatIsLeft(): Promise<string | undefined> {
    const { simulator, client } = this.#world;
    const left = (await client.list(Ingress)).items.map(({ metadata }) => metadata.name);
    if (left.length > 0) return `Ingresses ${left.join(", ")} remain`;
    const before = new Set(this.#before);
    const more = simulator.inventory("demo").filter((line) => !before.has(line));
    return more.length === 0 ? undefined : `left in the cloud: ${more.join(", ")}`;
  }
}
