import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Machine } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createLog } from "@causeway/foundation";
import {
  createClient,
  createInformers,
  loadKubeconfig,
  Node,
  type Informer,
  type Informers,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { kubectlOn, type Kubectl } from "../../programs/kubectl/kubectl.ts";
import type { RunningProgram } from "../../programs/run.ts";
import { costOf, type Cost, type Subject } from "../apiserver/subject.ts";
import { startUpstream } from "../apiserver/upstream.ts";
import { startCloud, type BenchCloud } from "../load-balancer/cloud.ts";
import { clusterOn } from "../load-balancer/cluster.ts";
import type { Side } from "../load-balancer/controllers.ts";
import type { Figures } from "../load-balancer/rows.ts";
import { prepareManagers, type UpstreamPlace } from "./managers.ts";
import { objectsOf } from "./objects.ts";

export interface StageOptions {
  readonly side: Side;
  readonly base: string;
  /** The folder of etcd, kube-apiserver and kubectl. */
  readonly binaries: string;
  readonly upstream: UpstreamPlace | undefined;
  readonly controlPlanes: number;
  readonly workers: number;
  /** Seconds until a server is ACTIVE. */
  readonly boot: number;
  /** Receives the calls of each measurement as "METHOD service/path". */
  readonly explain?: (routes: readonly string[]) => void;
}

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g;
const CLUSTERS = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters";
const QUOTAS = ["cores", "ram", "network", "subnet", "router", "security_group", "security_group_rule"] as const;
/** Objects of so many clusters go to the server, and so many are deleted, by one run of kubectl. */
const AT_ONCE = 20;

/**
 * One side's managers between a fresh kube-apiserver with etcd and a fresh cloud; machines come up as Nodes of their
 * clusters.
 */
export class Stage {
  readonly cloud: BenchCloud;
  readonly client: KubernetesClient;
  readonly #options: StageOptions;
  readonly #subject: Subject;
  readonly #kubectl: Kubectl;
  /** Serves the workload clusters, in this process: what it takes is not counted. */
  readonly #workloads: ApiServer;
  readonly #tenants = new Map<string, KubernetesClient>();
  readonly #nodes = new Set<string>();
  /** A watch: lists of ten thousand Machines would occupy the server that both sides work on. */
  readonly #machines: Informer<Machine>;
  readonly #informers: Informers;
  readonly #ended = new AbortController();
  #launch: () => Promise<readonly RunningProgram[]> = () => Promise.resolve([]);
  #managers: readonly RunningProgram[] = [];
  #watching: Promise<void> = Promise.resolve();
  #failure: unknown;

  private constructor(
    options: StageOptions,
    made: { cloud: BenchCloud; subject: Subject; workloads: ApiServer; client: KubernetesClient; kubectl: Kubectl },
  ) {
    this.#options = options;
    this.cloud = made.cloud;
    this.client = made.client;
    this.#informers = createInformers(made.client, { log: createLog({ level: "warn" }) });
    this.#machines = this.#informers.for(Machine, { namespace: "default" });
    this.#subject = made.subject;
    this.#workloads = made.workloads;
    this.#kubectl = made.kubectl;
  }

  /** With managers that run and nothing for them to do. */
  static async start(options: StageOptions): Promise<Stage> {
    const dir = join(options.base, options.side);
    mkdirSync(dir, { recursive: true });
    const [cloud, subject, workloads] = await Promise.all([
      startCloud({ name: "amphora", cycle: 0, boot: options.boot * 1000 }, dir),
      startUpstream(dir, options.binaries),
      startApiServer({}),
    ]);
    for (const resource of QUOTAS) cloud.simulator.setQuota("demo", resource, -1);
    const { client, kubeconfig } = await clusterOn(subject);
    const server = { dir, kubeconfig };
    const kubectl = kubectlOn(server, join(options.binaries, "kubectl"), { namespace: "", minor: 34 });
    const stage = new Stage(options, { cloud, subject, workloads, client, kubectl });
    try {
      stage.#launch = await prepareManagers(options.side, { kubectl, kubeconfig, dir }, options.upstream);
      await stage.startManagers();
    } catch (error) {
      await stage.close();
      throw error;
    }
    stage.#play();
    return stage;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#watching;
    await this.stopManagers();
    await Promise.all([this.client, ...this.#tenants.values()].map((one) => one.close()));
    await this.#workloads.close();
    await this.#subject.close();
    await this.cloud.close();
  }

  async startManagers(): Promise<void> {
    this.#managers = await this.#launch();
  }

  async stopManagers(): Promise<void> {
    await Promise.all(this.#managers.map((one) => one.stop()));
    this.#managers = [];
  }

  /** What the managers printed last. */
  words(): string {
    return this.#managers.map((one) => one.output().slice(-3000)).join("\n----\n");
  }

  async create(names: readonly string[]): Promise<void> {
    for (const some of inGroups(names)) await this.#createSome(some);
  }

  async #createSome(names: readonly string[]): Promise<void> {
    const { controlPlanes, workers } = this.#options;
    const { cloudsYaml } = this.cloud.simulator;
    const items: unknown[] = [];
    for (const name of names) {
      const tenant = await this.#workloads.ensureCluster(name);
      const kubeconfig = await tenant.kubeconfig();
      this.#tenants.set(name, createClient(loadKubeconfig({ text: kubeconfig })));
      items.push(...objectsOf({ name, controlPlanes, workers, cloudsYaml, kubeconfig }));
    }
    await this.#kubectl.feed({ apiVersion: "v1", kind: "List", items }, "create", "-f", "-");
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const some of inGroups(names))
      await this.#kubectl.run("delete", "cluster", "-n", "default", "--wait=false", ...some);
  }

  /** How many Machines run. @throws what the creation of a Node ended with */
  running(): number {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#machines.list().filter(({ status }) => status?.phase === "Running").length;
  }

  async clusters(): Promise<number> {
    return ((await this.client.request("GET", CLUSTERS)) as { items: unknown[] }).items.length;
  }

  machines(): readonly Machine[] {
    return this.#machines.list();
  }

  /** Deletes a worker's server without a word to the controllers; returns the name of its Machine. */
  async loseServer(): Promise<string> {
    const machine = this.machines().find(({ metadata }) => !metadata.name.includes("-control-"));
    const id = machine?.spec.providerID?.split("/").at(-1);
    if (machine === undefined || id === undefined) throw new Error("there is no worker to lose");
    await this.cloud.cloud.compute.servers.delete(id);
    return machine.metadata.name;
  }

  /** Whether a Machine says that its infrastructure is gone or failed. */
  isNoticed(name: string): boolean {
    const machine = this.#machines.get({ namespace: "default", name });
    const { phase, conditions = [] } = machine?.status ?? {};
    const bad = conditions.some(({ type, status }) => type === "InfrastructureReady" && status !== "True");
    return machine === undefined || phase === "Failed" || bad;
  }

  cost(): Cost {
    for (const manager of this.#managers)
      if (manager.child.exitCode !== null || manager.child.signalCode !== null)
        throw new Error(`a manager ended:\n${manager.output().slice(-3000)}`);
    return costOf({ processes: this.#managers.flatMap(({ child }) => (child.pid === undefined ? [] : [child])) });
  }

  /** Runs `work` to its end and measures what the managers did meanwhile; `fresh`: they are started in it. */
  async measure(work: () => Promise<number>, { fresh = false } = {}): Promise<Figures> {
    this.cloud.callsSince();
    const before = fresh ? 0 : this.cost().cpuSeconds;
    const seconds = await work();
    const calls = this.cloud.callsSince();
    const { cpuSeconds, memoryMiB } = this.cost();
    const byVerb: Record<string, number> = {};
    for (const { method } of calls) byVerb[method] = (byVerb[method] ?? 0) + 1;
    this.#options.explain?.(
      calls.map(({ method, service, path }) => `${method} ${service}${path.replace(/\?.*/, "").replaceAll(ID, "ID")}`),
    );
    return { calls: calls.length, byVerb, seconds, cpuSeconds: cpuSeconds - before, memoryMiB };
  }

  /** A Node for each Machine whose server there is, as its kubelet and its cloud controller would leave it. */
  #play(): void {
    this.#machines.onChange(({ type, object }) => {
      if (type === "deleted") return;
      this.#join(object).catch((error: unknown) => {
        if (!this.#ended.signal.aborted) this.#failure ??= error;
      });
    });
    this.#watching = this.#informers.run(this.#ended.signal);
  }

  async #join({ metadata, spec: { providerID, clusterName } }: Machine): Promise<void> {
    const tenant = this.#tenants.get(clusterName);
    if (metadata.deletionTimestamp !== undefined || providerID === undefined || tenant === undefined) return;
    if (this.#nodes.has(providerID)) return;
    this.#nodes.add(providerID);
    await tenant.create(Node, nodeOf(metadata.name, providerID));
  }
}

function inGroups(names: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(names.length / AT_ONCE);
  return Array.from({ length: count }, (_, i) => names.slice(i * AT_ONCE, (i + 1) * AT_ONCE));
}

function nodeOf(name: string, providerID: string): Node {
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const condition = (type: string, status: string) => {
    return { type, status, reason: "Bench", message: "", lastTransitionTime: now, lastHeartbeatTime: now };
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { providerID },
    status: {
      conditions: [
        condition("Ready", "True"),
        ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => condition(type, "False")),
      ],
      nodeInfo: { kubeletVersion: "v1.34.4" },
    },
  } as Node;
}
