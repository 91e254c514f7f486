import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Server } from "@causeway/openstack";
import { costOf, type Subject } from "../apiserver/subject.ts";
import { startUpstream } from "../apiserver/upstream.ts";
import { startCloud, type BenchCloud, type Provider } from "./cloud.ts";
import { clusterOn, type Cluster } from "./cluster.ts";
import { startOurs, startUpstreamController, type Controller, type Side } from "./controllers.ts";
import type { Figures } from "./rows.ts";

export interface StageOptions {
  readonly side: Side;
  readonly provider: Provider;
  readonly base: string;
  /** The folder of etcd and kube-apiserver. */
  readonly binaries: string;
  readonly program: string;
  /** Called with the calls of each measurement, in order. */
  readonly explain?: (calls: readonly TimedRoute[]) => void;
}

/** A call without its ids and its query. */
export interface TimedRoute {
  /** Seconds since the measurement began. */
  readonly at: number;
  readonly route: string;
}

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g;

/** One controller between a fresh kube-apiserver with etcd and a fresh cloud. */
export class Stage {
  readonly cloud: BenchCloud;
  readonly cluster: Cluster;
  readonly #options: StageOptions;
  readonly #files: string;
  readonly #subject: Subject;
  #controller: Controller | undefined;
  /** Nodes that there are. */
  #servers: readonly Server[] = [];
  /** Ports of each Service that there is. */
  readonly #services = new Map<string, number>();

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

  static async start(options: StageOptions): Promise<Stage> {
    const files = mkdtempSync(join(options.base, `${options.side}-`));
    const [cloud, subject] = await Promise.all([
      startCloud(options.provider, files),
      startUpstream(files, options.binaries),
    ]);
    return new Stage(options, { files, cloud, subject, cluster: await clusterOn(subject) });
  }

  async close(): Promise<void> {
    await this.stopController();
    await this.cluster.client.close();
    await this.#subject.close();
    await this.cloud.close();
    rmSync(this.#files, { recursive: true, force: true });
  }

  async startController(): Promise<void> {
    const { side, program } = this.#options;
    const from = { cloud: this.cloud, files: this.#files, kubeconfigs: [this.cluster.kubeconfig], program };
    this.#controller = await (side === "ours" ? startOurs(from) : startUpstreamController(from));
  }

  async stopController(): Promise<void> {
    await this.#controller?.stop();
    this.#controller = undefined;
  }

  async addNodes(count: number): Promise<void> {
    const servers = await this.cloud.addServers(count);
    await this.cluster.addNodes(servers);
    this.#servers = [...this.#servers, ...servers];
  }

  /**
   * So many new ones, made beforehand, for as many old ones: what is measured is the controller, not the cloud's
   * building of servers.
   */
  async prepareReplacement(count: number): Promise<() => Promise<void>> {
    const fresh = await this.cloud.addServers(count);
    const old = this.#servers.slice(0, count);
    return async () => {
      this.#servers = [...this.#servers.slice(count), ...fresh];
      await this.cluster.addNodes(fresh);
      await this.cluster.removeNodes(old.map((s) => s.name));
    };
  }

  async prepareNodes(count: number): Promise<() => Promise<void>> {
    const fresh = await this.cloud.addServers(count);
    return async () => {
      this.#servers = [...this.#servers, ...fresh];
      await this.cluster.addNodes(fresh);
    };
  }

  async removeNode(): Promise<void> {
    const [first, ...rest] = this.#servers;
    this.#servers = rest;
    if (first) await this.cluster.removeNodes([first.name]);
  }

  async addServices(names: readonly string[], ports: number): Promise<void> {
    for (const name of names) this.#services.set(name, ports);
    await this.cluster.addServices(names, ports);
  }

  async removeServices(names: readonly string[]): Promise<void> {
    for (const name of names) this.#services.delete(name);
    await this.cluster.removeServices(names);
  }

  /** How many Services are as they are to be: 0 to all, by their addresses. */
  servedServices(): Promise<number> {
    return this.cluster.served();
  }

  /** Every load balancer ACTIVE, every pool with exactly the nodes, every Service with an address. */
  async reached(): Promise<boolean> {
    const ports = [...this.#services.values()].reduce((sum, count) => sum + count, 0);
    if (!this.#hasMembers(ports)) return false;
    const balancers = await this.cloud.cloud.loadBalancing.loadBalancers.all();
    if (balancers.length !== this.#services.size) return false;
    if (balancers.some((lb) => lb.provisioning_status !== "ACTIVE")) return false;
    return (await this.servedServices()) === this.#services.size;
  }

  #hasMembers(ports: number): boolean {
    const have = new Map<string, number>();
    for (const line of this.cloud.simulator.inventory("demo")) {
      if (!line.startsWith("member ")) continue;
      const name = line.split(" ")[2] ?? "";
      have.set(name, (have.get(name) ?? 0) + 1);
    }
    if (ports === 0) return have.size === 0;
    return have.size === this.#servers.length && this.#servers.every((server) => have.get(server.name) === ports);
  }

  /** Processor time so far, and memory. */
  cost(): { readonly cpuSeconds: number; readonly memoryMiB: number } {
    this.#controller?.check();
    return costOf(this.#controller ?? { processes: [] });
  }

  /** When (ms since the epoch) the controller last called the cloud. */
  lastCallAt(): number {
    return this.cloud.lastCallAt();
  }

  /** Runs `work` to its end and measures what the controller did meanwhile. */
  async measure(work: () => Promise<number>): Promise<Figures> {
    this.cloud.callsSince();
    const begun = Date.now();
    const before = this.cost();
    const seconds = await work();
    const calls = this.cloud.callsSince();
    const after = this.cost();
    const byVerb: Record<string, number> = {};
    for (const { method } of calls) byVerb[method] = (byVerb[method] ?? 0) + 1;
    this.#options.explain?.(
      calls.map(({ at, method, service, path }) => ({
        at: (at - begun) / 1000,
        route: `${method} ${service}${path.replace(/\?.*/, "").replace(ID, "ID")}`,
      })),
    );
    const { memoryMiB } = after;
    return { calls: calls.length, byVerb, seconds, cpuSeconds: after.cpuSeconds - before.cpuSeconds, memoryMiB };
  }
}
