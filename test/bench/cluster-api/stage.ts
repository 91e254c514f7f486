import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig, Node, type KubernetesClient } from "@causeway/kubernetes";
import { kubectlOn, type Kubectl } from "../../programs/kubectl/kubectl.ts";
import type { RunningProgram } from "../../programs/run.ts";
import { inParallel } from "../in-parallel.ts";
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

/** A Machine as far as both sides write it. */
interface BenchMachine {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly clusterName: string; readonly providerID?: string };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly { type: string; status: string }[] };
}

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g;
const MACHINES = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machines";
const CLUSTERS = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters";
const QUOTAS = ["cores", "ram", "network", "subnet", "router", "security_group", "security_group_rule"] as const;
/**
 * Between two reads of the Machines that wait for a Node (ms); longer where a read would take more than a tenth of the
 * time. With a thousand clusters a Node comes seconds later for that, and the end is seen so much later, on both sides.
 */
const PLAY = 300;
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
  /** What the last read of the Machines saw. */
  #machines: readonly BenchMachine[] = [];
  #launch: () => Promise<readonly RunningProgram[]> = () => Promise.resolve([]);
  #managers: readonly RunningProgram[] = [];
  #playing: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(
    options: StageOptions,
    made: { cloud: BenchCloud; subject: Subject; workloads: ApiServer; client: KubernetesClient; kubectl: Kubectl },
  ) {
    this.#options = options;
    this.cloud = made.cloud;
    this.client = made.client;
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
    stage.#playing = stage.#play();
    return stage;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#playing;
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

  /** How many Machines ran when they were read last. */
  running(): number {
    return this.#machines.filter(({ status }) => status?.phase === "Running").length;
  }

  async clusters(): Promise<number> {
    return ((await this.client.request("GET", CLUSTERS)) as { items: unknown[] }).items.length;
  }

  async machines(): Promise<readonly BenchMachine[]> {
    return ((await this.client.request("GET", MACHINES)) as { items: BenchMachine[] }).items;
  }

  /** Deletes a worker's server without a word to the controllers; returns the name of its Machine. */
  async loseServer(): Promise<string> {
    const machine = (await this.machines()).find(({ metadata }) => !metadata.name.includes("-control-"));
    const id = machine?.spec.providerID?.split("/").at(-1);
    if (machine === undefined || id === undefined) throw new Error("there is no worker to lose");
    await this.cloud.cloud.compute.servers.delete(id);
    return machine.metadata.name;
  }

  /** Whether a Machine says that its infrastructure is gone or failed. */
  async isNoticed(name: string): Promise<boolean> {
    const machine = (await this.machines()).find(({ metadata }) => metadata.name === name);
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
  async #play(): Promise<void> {
    while (!this.#isClosed) {
      const begun = performance.now();
      this.#machines = await this.machines().catch(() => this.#machines);
      const took = performance.now() - begun;
      await inParallel(this.#machines, (machine) => this.#join(machine));
      await new Promise((done) => setTimeout(done, Math.max(PLAY, 9 * took)));
    }
  }

  async #join({ metadata, spec: { providerID, clusterName } }: BenchMachine): Promise<void> {
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
