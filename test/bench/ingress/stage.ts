import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { KeyPair } from "@causeway/foundation";
import { Ingress } from "@causeway/octavia-ingress";
import type { L7Policy, LoadBalancer } from "@causeway/openstack";
import { costOf, type Cost, type Subject } from "../apiserver/subject.ts";
import { startUpstream } from "../apiserver/upstream.ts";
import { startCloud, type BenchCloud, type Provider } from "../load-balancer/cloud.ts";
import { clusterOn, type Cluster } from "../load-balancer/cluster.ts";
import type { Controller, Side } from "../load-balancer/controllers.ts";
import type { Figures } from "../load-balancer/rows.ts";
import { startController } from "./controllers.ts";
import { createServices, ingressOf, NAMESPACE, putCertificate } from "./objects.ts";
import { inParallel } from "../in-parallel.ts";

export interface StageOptions {
  readonly side: Side;
  readonly provider: Provider;
  readonly base: string;
  /** The folder of etcd and kube-apiserver. */
  readonly binaries: string;
  readonly program: string;
  /** Receives the calls of each measurement as "METHOD service/path". */
  readonly explain?: (routes: readonly string[]) => void;
}

const NODES = 10;
const ID = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g;
/** Rules of a policy: its host and its path. */
const RULES = 2;

/** One controller between a fresh kube-apiserver with etcd and a fresh cloud. */
export class Stage {
  readonly cloud: BenchCloud;
  readonly cluster: Cluster;
  readonly #options: StageOptions;
  readonly #files: string;
  readonly #subject: Subject;
  #controller: Controller | undefined;
  /** The Services of each Ingress that there is. */
  readonly #ingresses = new Map<string, readonly string[]>();

  private constructor(
    options: StageOptions,
    made: { files: string; cloud: BenchCloud; subject: Subject; cluster: Cluster },
  ) {
    this.#options = options;
    this.#files = made.files;
    this.cloud = made.cloud;
    this.#subject = made.subject;
    this.cluster = made.cluster;
  }

  /** With nodes and two Services, and without a controller. */
  static async start(options: StageOptions): Promise<Stage> {
    const files = mkdtempSync(join(options.base, `${options.side}-`));
    const [cloud, subject] = await Promise.all([
      startCloud(options.provider, files),
      startUpstream(files, options.binaries),
    ]);
    const stage = new Stage(options, { files, cloud, subject, cluster: await clusterOn(subject) });
    await stage.cluster.addNodes(await cloud.addServers(NODES));
    await createServices(stage.cluster.client, ["one", "two"]);
    return stage;
  }

  async close(): Promise<void> {
    await this.stopController();
    await this.cluster.client.close();
    await this.#subject.close();
    await this.cloud.close();
    rmSync(this.#files, { recursive: true, force: true });
  }

  startController(): void {
    const { side, program } = this.#options;
    const { cloud, cluster } = this;
    this.#controller = startController({ side, cloud, files: this.#files, kubeconfig: cluster.kubeconfig, program });
  }

  async stopController(): Promise<void> {
    await this.#controller?.stop();
    this.#controller = undefined;
  }

  async addIngresses(names: readonly string[], services: readonly string[], secretName?: string): Promise<void> {
    for (const name of names) this.#ingresses.set(name, services);
    await inParallel(names, (name) => this.cluster.client.create(Ingress, ingressOf(name, services, secretName)));
  }

  async changeIngress(name: string, services: readonly string[]): Promise<void> {
    this.#ingresses.set(name, services);
    const { spec } = ingressOf(name, services);
    await this.cluster.client.patch(Ingress, { namespace: NAMESPACE, name }, { type: "merge", body: { spec } });
  }

  async deleteIngresses(names: readonly string[]): Promise<void> {
    for (const name of names) this.#ingresses.delete(name);
    await inParallel(names, (name) => this.cluster.client.delete(Ingress, { namespace: NAMESPACE, name }));
  }

  putCertificate(name: string, pair: KeyPair): Promise<void> {
    return putCertificate(this.cluster.client, name, pair);
  }

  /** How many Ingresses publish an address. */
  async served(): Promise<number> {
    const { items } = await this.cluster.client.list(Ingress);
    return items.filter((each) => each.status?.loadBalancer?.ingress?.[0]?.ip !== undefined).length;
  }

  /** How many load balancers there are. */
  async balancers(): Promise<number> {
    return (await this.cloud.cloud.loadBalancing.loadBalancers.all()).length;
  }

  /**
   * Every load balancer ACTIVE with its policies, rules and members, every Ingress with an address; and no others.
   */
  async reached(): Promise<boolean> {
    const { loadBalancing } = this.cloud.cloud;
    const wanted = [...this.#ingresses.values()];
    const balancers = await loadBalancing.loadBalancers.all();
    if (balancers.length !== wanted.length || !balancers.every(isActive)) return false;
    const paths = wanted.reduce((sum, services) => sum + services.length, 0);
    if (this.#members() !== paths * NODES) return false;
    const policies = await loadBalancing.l7Policies.all();
    if (policies.length !== paths || !policies.every(isWhole)) return false;
    const { items } = await this.cluster.client.list(Ingress);
    return items.length === wanted.length && (await this.served()) === wanted.length;
  }

  #members(): number {
    return this.cloud.simulator.inventory("demo").filter((line) => line.startsWith("member ")).length;
  }

  /** The certificate that the listener of an Ingress has: what its reference is. */
  async certificateOf(ingress: string): Promise<string | undefined> {
    const name = `kube_ingress_bench_${NAMESPACE}_${ingress}`;
    const [listener] = await this.cloud.cloud.loadBalancing.listeners.all({ name });
    return listener?.default_tls_container_ref ?? undefined;
  }

  cost(): Cost {
    this.#controller?.check();
    return costOf(this.#controller ?? { processes: [] });
  }

  lastCallAt(): number {
    return this.cloud.lastCallAt();
  }

  /** Runs `work` to its end and measures what the controller did meanwhile. */
  async measure(work: () => Promise<number>): Promise<Figures> {
    this.cloud.callsSince();
    const before = this.cost();
    const seconds = await work();
    const calls = this.cloud.callsSince();
    const after = this.cost();
    const byVerb: Record<string, number> = {};
    for (const { method } of calls) byVerb[method] = (byVerb[method] ?? 0) + 1;
    this.#options.explain?.(
      calls.map(({ method, service, path }) => `${method} ${service}${path.replace(/\?.*/, "").replaceAll(ID, "ID")}`),
    );
    const { memoryMiB } = after;
    return { calls: calls.length, byVerb, seconds, cpuSeconds: after.cpuSeconds - before.cpuSeconds, memoryMiB };
  }
}

function isActive({ provisioning_status: status }: LoadBalancer): boolean {
  return status === "ACTIVE";
}

function isWhole({ admin_state_up: up, rules }: L7Policy): boolean {
  return up && rules.length === RULES;
}
