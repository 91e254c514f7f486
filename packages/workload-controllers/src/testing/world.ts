import { silentLog, systemClock, VirtualClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  Event,
  loadKubeconfig,
  Node,
  Pod,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { createWorkloadControllers } from "../workload-controllers.ts";
import { faulty, type Fate } from "./faults.ts";
import { playKubelet } from "./played-kubelet.ts";

export const namespace = "default";
export const key = (name: string) => ({ namespace, name });

/** An API server, as far as a world needs it. */
interface WorldServer {
  readonly management: { kubeconfig(): Promise<string> };
  close(): Promise<void>;
}

/** The controllers on an embedded API server with a played kubelet, on one virtual clock that only `until` and `pass` move. */
export class World {
  readonly client: KubernetesClient;
  readonly clock: VirtualClock;
  readonly #server: WorldServer;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>[] = [];

  private constructor(server: WorldServer, clock: VirtualClock, kubeconfig: string) {
    this.#server = server;
    this.clock = clock;
    this.client = createClient(loadKubeconfig({ text: kubeconfig }));
  }

  static async start(startServer: (clock: VirtualClock) => Promise<WorldServer>): Promise<World> {
    const clock = new VirtualClock(Date.now());
    const server = await startServer(clock);
    return new World(server, clock, await server.management.kubeconfig());
  }

  async playKubelet(nodes: readonly string[] = ["one", "two"]): Promise<void> {
    for (const name of nodes) {
      const labels = { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": `zone-${name}` };
      await this.create(Node, name, { metadata: { name, labels } });
    }
    const informers = createInformers(this.client, { clock: this.clock });
    playKubelet({ client: this.client, informers, clock: this.clock }, nodes);
    this.#running.push(informers.run(this.#stop.signal));
  }

  /** Runs the controllers. The returned function ends them as kill -9 would, as far as the cluster can see. */
  run(fates?: () => Fate, killed: () => void = () => {}): () => Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
    const kill = () => {
      stop.abort();
      killed();
    };
    const client = fates ? faulty(this.client, { next: fates, kill }) : this.client;
    const { clock } = this;
    const informers = createInformers(client, { clock });
    const events = createEventRecorder(this.client, { component: "causeway", clock, signal });
    const context: Context = { informers, clock, log: silentLog, events };
    const controllers = createWorkloadControllers(context, { nodes: false });
    const running = Promise.all([informers.run(signal), controllers.run(signal)]);
    this.#running.push(running);
    return async () => {
      stop.abort();
      await running;
    };
  }

  /** Runs the controllers with faults, and starts them again whenever a fault ends them. */
  runWithFaults(random: () => number, rate = 0.2): () => Promise<void> {
    let stop = async () => {};
    let isOver = false;
    const fates: Fate[] = ["answer-lost", "request-lost", "killed-before", "killed-after"];
    const next = () => (random() < rate ? (fates[Math.floor(random() * fates.length)] ?? "performed") : "performed");
    const start = () => {
      if (!isOver) stop = this.run(next, start);
    };
    start();
    return async () => {
      isOver = true;
      await stop();
    };
  }

  async create<T extends KubeObject>(type: ResourceType<T>, name: string, fields: object): Promise<T> {
    const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
    const object = {
      apiVersion,
      kind: type.kind,
      metadata: { name, ...(type.namespaced ? { namespace } : {}) },
      ...fields,
    };
    return this.client.create(type, object as unknown as T);
  }

  patch<T extends KubeObject>(type: ResourceType<T>, name: string, body: Record<string, unknown>): Promise<T> {
    return this.client.patch(type, key(name), { type: "merge", body });
  }

  async pods(): Promise<Pod[]> {
    return (await this.client.list(Pod, { namespace })).items;
  }

  async events(): Promise<string[]> {
    const { items } = await this.client.list(Event, { namespace });
    return items.map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** Waits until `check` returns something, while the clock moves by `step` milliseconds at a time. */
  async until<T>(what: string, check: () => Promise<T | undefined | false>, step = 20): Promise<T> {
    const end = Date.now() + 120_000;
    while (Date.now() < end) {
      const found = await check();
      if (found) return found;
      await this.pass(step);
    }
    throw new Error(`never came: ${what}`);
  }

  /** Moves the clock, and gives real time to what waits for the network. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
    await systemClock.sleep(10);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.client.close();
    await this.#server.close();
  }
}
