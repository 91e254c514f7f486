import { fork } from "node:child_process";
import { join, resolve } from "node:path";
import { Node, type KubernetesClient } from "@causeway/kubernetes";
import { freePorts } from "../../support/free-ports.ts";
import { startHollowNode } from "../../support/hollow-node.ts";
import { startOurs } from "../apiserver/ours.ts";
import { costOf, stop, type Cost, type Subject } from "../apiserver/subject.ts";
import { startUpstream } from "../apiserver/upstream.ts";
import { clusterOn } from "../load-balancer/cluster.ts";
import { launch, running, type Controller } from "../load-balancer/controllers.ts";
import type { Figures, Side } from "./rows.ts";

const NODES_CHILD = resolve(import.meta.dirname, "nodes-child.ts");
const LOOK = 50;

/**
 * For clients of the upstream programs that are not to be slowed by their own default limits (20 and 50 requests a
 * second).
 */
const UNLIMITED = ["--kube-api-qps=2000", "--kube-api-burst=4000"];

export interface StageOptions {
  readonly side: Side;
  /** A folder for what is written. */
  readonly base: string;
  /** The folder of etcd, kube-apiserver, kube-controller-manager and kube-scheduler. */
  readonly binaries: string;
  readonly nodes: number;
  /** The folder of Kubernetes' own kubelets with made-up containers; undefined: our simulated nodes. */
  readonly kubelets?: string | undefined;
}

/**
 * What a measurement gives: of the whole control plane, and of its controllers where they are processes of their own.
 */
export interface Measured {
  readonly figures: Figures;
  readonly controllers?: Figures;
}

/** A control plane with nodes, which are the same for each side and run in processes that are not measured. */
export class Stage {
  readonly client: KubernetesClient;
  readonly side: Side;
  readonly #subject: Subject;
  readonly #controllers: Controller | undefined;
  readonly #nodes: () => Promise<void>;

  private constructor(
    side: Side,
    made: {
      subject: Subject;
      controllers: Controller | undefined;
      nodes: () => Promise<void>;
      client: KubernetesClient;
    },
  ) {
    this.side = side;
    this.#subject = made.subject;
    this.#controllers = made.controllers;
    this.#nodes = made.nodes;
    this.client = made.client;
  }

  static async start({ side, base, binaries, nodes: count, kubelets }: StageOptions): Promise<Stage> {
    const subject = await (side === "ours" ? startOurs(base, ["--controllers"]) : startUpstream(base, binaries));
    const { client, kubeconfig } = await clusterOn(subject);
    const controllers = side === "ours" ? undefined : startControllers({ subject, binaries, kubeconfig, side });
    const nodes =
      kubelets === undefined
        ? playNodes(kubeconfig, count)
        : await startKubelets({ kubeconfig, count, programs: kubelets, dir: subject.files });
    const stage = new Stage(side, { subject, controllers, nodes, client });
    await stage.until(async () => {
      const { items } = await client.list(Node);
      const ready = items.filter(
        ({ spec, status }) =>
          (spec?.taints ?? []).length === 0 &&
          status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
      );
      return ready.length === count;
    });
    return stage;
  }

  /** Polls; throws after half an hour. */
  async until(test: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + 1_800_000; !(await test());) {
      this.#controllers?.check();
      if (Date.now() > end) throw new Error(`${this.side}: what was waited for did not come in half an hour`);
      await new Promise((done) => setTimeout(done, LOOK));
    }
  }

  /** Runs `work` to its end and measures the control plane meanwhile; memory is that at its end. */
  async measure(work: () => Promise<void>): Promise<Measured> {
    const before = this.#cost();
    const begun = performance.now();
    await work();
    const seconds = (performance.now() - begun) / 1000;
    const after = this.#cost();
    const figures = (one: Cost, other: Cost): Figures => {
      return { seconds, cpuSeconds: other.cpuSeconds - one.cpuSeconds, memoryMiB: other.memoryMiB };
    };
    return {
      figures: figures(before.all, after.all),
      ...(before.controllers && after.controllers
        ? { controllers: figures(before.controllers, after.controllers) }
        : {}),
    };
  }

  #cost(): { readonly all: Cost; readonly controllers?: Cost } {
    const server = costOf(this.#subject);
    if (!this.#controllers) return { all: server };
    const controllers = costOf(this.#controllers);
    const all = {
      cpuSeconds: server.cpuSeconds + controllers.cpuSeconds,
      memoryMiB: server.memoryMiB + controllers.memoryMiB,
    };
    return { all, controllers };
  }

  async close(): Promise<void> {
    await this.#nodes();
    await this.#controllers?.stop();
    await this.client.close();
    await this.#subject.close();
  }
}

function playNodes(kubeconfig: string, count: number): () => Promise<void> {
  const child = fork(NODES_CHILD, [kubeconfig, String(count)], { stdio: "inherit" });
  return () => stop(child);
}

interface Kubelets {
  readonly kubeconfig: string;
  readonly count: number;
  readonly programs: string;
  readonly dir: string;
}

async function startKubelets({ kubeconfig, count, programs, dir }: Kubelets): Promise<() => Promise<void>> {
  const ports = await freePorts(2 * count);
  const stops = Array.from({ length: count }, (_, i) =>
    startHollowNode({ name: `hollow-${i}`, kubeconfig, programs, dir, ports: ports.slice(2 * i, 2 * i + 2) }),
  );
  return async () => void (await Promise.all(stops.map((each) => each())));
}

interface UpstreamControllers {
  readonly subject: Subject;
  readonly binaries: string;
  readonly kubeconfig: string;
  readonly side: Side;
}

function startControllers({ subject: { files }, binaries, kubeconfig, side }: UpstreamControllers): Controller {
  const common = [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
  const limits = side === "unlimited" ? UNLIMITED : [];
  const accounts = [
    `--service-account-private-key-file=${join(files, "accounts.pem")}`,
    `--root-ca-file=${join(files, "ca.pem")}`,
  ];
  const log = join(files, "controllers.log");
  const manager = launch(join(binaries, "kube-controller-manager"), [...common, ...accounts, ...limits], log);
  return running([manager, launch(join(binaries, "kube-scheduler"), [...common, ...limits], log)], log);
}
