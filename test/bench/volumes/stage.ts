import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderKubeconfig } from "@causeway/kubernetes";
import { costOf, makeNamespace, stop, type Subject } from "../apiserver/subject.ts";
import { startUpstream } from "../apiserver/upstream.ts";
import type { Figures } from "../load-balancer/rows.ts";
import { startCloud, type BenchCloud } from "./cloud.ts";
import { StorageCluster } from "./cluster.ts";
import { startPod, startSnapshotController, type DriverPod, type Side } from "./processes.ts";

export interface Programs {
  /** The folder of etcd and kube-apiserver. */
  readonly kubernetes: string;
  /** cinder-csi-plugin. */
  readonly upstream: string;
  /** The folder of the stock sidecars. */
  readonly sidecars: string;
  /** The folder of the snapshot CRDs. */
  readonly crds: string;
}

export interface StageOptions {
  readonly side: Side;
  readonly base: string;
  readonly programs: Programs;
  /** Receives the calls of each measurement, in order. */
  readonly explain?: (calls: readonly TimedRoute[]) => void;
}

/** A call without its ids and its query. */
export interface TimedRoute {
  /** Seconds since the measurement began. */
  readonly at: number;
  readonly route: string;
}

const LAST_WORDS = 6_000;
const ID = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g;

/** One driver with its sidecars between a fresh kube-apiserver with etcd and a fresh cloud. */
export class Stage {
  readonly cloud: BenchCloud;
  readonly cluster: StorageCluster;
  readonly #options: StageOptions;
  readonly #files: string;
  readonly #subject: Subject;
  readonly #kubeconfig: string;
  readonly #snapshots: ChildProcess;
  #pod: DriverPod | undefined;

  private constructor(
    options: StageOptions,
    made: { files: string; cloud: BenchCloud; subject: Subject; kubeconfig: string; cluster: StorageCluster },
  ) {
    this.#options = options;
    this.#files = made.files;
    this.cloud = made.cloud;
    this.#subject = made.subject;
    this.#kubeconfig = made.kubeconfig;
    this.cluster = made.cluster;
    const from = { files: made.files, kubeconfig: made.kubeconfig, sidecars: options.programs.sidecars };
    this.#snapshots = startSnapshotController(from);
  }

  static async start(options: StageOptions): Promise<Stage> {
    const files = mkdtempSync(join(options.base, `${options.side}-`));
    const cloud = await startCloud(files);
    const subject = await startUpstream(files, options.programs.kubernetes);
    await makeNamespace(subject, "default");
    const kubeconfig = join(files, "kubeconfig");
    writeFileSync(kubeconfig, administrator(subject), { mode: 0o600 });
    const cluster = new StorageCluster(kubeconfig);
    await cluster.install(options.programs.crds);
    cluster.startControllers();
    return new Stage(options, { files, cloud, subject, kubeconfig, cluster });
  }

  async close(): Promise<void> {
    await this.stopPod();
    await stop(this.#snapshots);
    await this.cluster.close();
    await this.#subject.close();
    await this.cloud.close();
    rmSync(this.#files, { recursive: true, force: true });
  }

  async startPod(): Promise<void> {
    const { side, programs } = this.#options;
    this.#pod = await startPod({
      side,
      cloudConf: this.cloud.cloudConf,
      kubeconfig: this.#kubeconfig,
      files: this.#files,
      upstream: programs.upstream,
      sidecars: programs.sidecars,
    });
  }

  async stopPod(): Promise<void> {
    await this.#pod?.stop();
    this.#pod = undefined;
  }

  /** What the programs logged last. */
  logs(): string {
    const read = (name: string) => readFileSync(join(this.#files, name), "utf8").slice(-LAST_WORDS);
    return [`${this.#options.side}.log`, "snapshots.log"].map((name) => `${name}:\n${read(name)}`).join("\n");
  }

  /** Processor time so far, and memory, of the driver alone. */
  cost(): { readonly cpuSeconds: number; readonly memoryMiB: number } {
    this.#pod?.check();
    return costOf({ processes: this.#pod ? [this.#pod.driver] : [] });
  }

  /** Runs `work` to its end and measures what the driver did meanwhile. */
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
        route: `${method} ${service}${path.replace(/\?.*/, "?").replace(ID, "ID")}`,
      })),
    );
    const { memoryMiB } = after;
    return { calls: calls.length, byVerb, seconds, cpuSeconds: after.cpuSeconds - before.cpuSeconds, memoryMiB };
  }
}

function administrator({ url, files }: Subject): string {
  const read = (name: string): string => readFileSync(join(files, name), "utf8");
  return renderKubeconfig({
    server: url,
    ca: read("ca.pem"),
    certificate: read("client.pem"),
    key: read("client-key.pem"),
    clusterName: "bench",
    userName: "bench",
  });
}
