import { silentLog, systemClock, VirtualClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  Event,
  loadKubeconfig,
  Node,
  Pod,
  ReplicaSet,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { isActive } from "../objects/pods.ts";
import { createWorkloadControllers } from "../workload-controllers.ts";
import { faulty, type Fate, type Faults, type WatchFate } from "./faults.ts";
import { playKubelet } from "./played-kubelet.ts";
import { PlayedStorage } from "./played-storage.ts";

export const namespace = "default";
export const key = (name: string) => ({ namespace, name });

/** Moves of the clock after which a wait fails; each takes 10 ms of real time, or more where the machine is busy. */
const MOST_PASSES = 8_000;

/** Silent watches of one set of controllers, at most: each lasts two and a half minutes of the virtual clock. */
const MOST_SILENCES = 3;

/** How many events of watches never arrive. */
export interface WatchFaults {
  /** Because the connection ends. */
  readonly lost?: number;
  /**
   * Because the connection remains open and is silent: nor does any later event arrive, until the reader gives it up.
   */
  readonly silent?: number;
}

/** An API server, as far as a world needs it. */
export interface WorldServer {
  readonly management: { kubeconfig(): Promise<string> };
  /** Needs no connection: for many worlds at once. */
  readonly client?: KubernetesClient;
  close(): Promise<void>;
}

/**
 * The controllers on an embedded API server with a played kubelet, on one virtual clock that only `until` and `pass`
 * move.
 */
export class World {
  readonly client: KubernetesClient;
  readonly clock: VirtualClock;
  /** Names of pods that were removed before their kubelet could stop them. */
  readonly forced: string[] = [];
  /** Pods that neither ended nor are being deleted: the most that there were at once. */
  mostActive = 0;
  /** If a CSI driver is played. */
  storage: PlayedStorage | undefined;
  /** Pods that all ReplicaSets together were to have: the most at once. */
  mostWanted = 0;
  /** Pods that ended well, by uid, also of those that are gone. */
  readonly succeeded = new Set<string>();
  readonly #server: WorldServer;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>[] = [];

  private constructor(server: WorldServer, clock: VirtualClock, client: KubernetesClient) {
    this.#server = server;
    this.clock = clock;
    this.client = client;
  }

  static async start(startServer: (clock: VirtualClock) => Promise<WorldServer>): Promise<World> {
    const clock = new VirtualClock(Date.now());
    const server = await startServer(clock);
    const client = server.client ?? createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
    return new World(server, clock, client);
  }

  /** `volumes`: a CSI driver is played, too. */
  async playKubelet(nodes: readonly string[] = ["one", "two"], volumes = false): Promise<void> {
    for (const name of nodes) {
      const labels = { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": `zone-${name}` };
      const annotations = volumes ? { "volumes.kubernetes.io/controller-managed-attach-detach": "true" } : {};
      await this.create(Node, name, { metadata: { name, labels, annotations }, spec: {} });
      const conditions = [{ type: "Ready", status: "True" }];
      const body = { status: { conditions } };
      if (volumes) {
        await this.client.patch(Node, { namespace: "", name }, { type: "merge", body }, { subresource: "status" });
      }
    }
    const informers = createInformers(this.client, { clock: this.clock });
    const storage = volumes ? new PlayedStorage(this.client, informers) : undefined;
    await storage?.createClass();
    this.storage = storage;
    playKubelet({ client: this.client, informers, clock: this.clock, ...(storage ? { storage } : {}) }, nodes);
    const sets = informers.for(ReplicaSet);
    sets.onChange(() => {
      const wanted = sets.list().reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
      this.mostWanted = Math.max(this.mostWanted, wanted);
    });
    const stopped = new Set<string>();
    const pods = informers.for(Pod);
    pods.onChange(({ type, object }) => {
      this.mostActive = Math.max(this.mostActive, pods.list().filter(isActive).length);
      const { uid = "", name, deletionTimestamp } = object.metadata;
      if (object.status?.phase === "Succeeded") this.succeeded.add(uid);
      if (deletionTimestamp !== undefined) stopped.add(uid);
      if (type === "deleted" && object.spec.nodeName && !stopped.has(uid)) this.forced.push(name);
    });
    this.#running.push(informers.run(this.#stop.signal));
  }

  /** Runs the controllers. The returned function ends them as kill -9 would, as far as the cluster can see. */
  run(faults?: Omit<Faults, "kill">, killed: () => void = () => {}): () => Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
    const kill = () => {
      stop.abort();
      killed();
    };
    const client = faults ? faulty(this.client, { ...faults, kill }) : this.client;
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
  runWithFaults(random: () => number, rate = 0.2, { lost = 0, silent = 0 }: WatchFaults = {}): () => Promise<void> {
    let stop = async () => {};
    let isOver = false;
    let silenced = 0;
    const fates: Fate[] = ["answer-lost", "request-lost", "killed-before", "killed-after"];
    const next = () => (random() < rate ? (fates[Math.floor(random() * fates.length)] ?? "performed") : "performed");
    const start = () => {
      const nextEvent = (): WatchFate => {
        const drawn = random();
        if (drawn < lost) return "watch-lost";
        if (drawn >= lost + silent || silenced >= MOST_SILENCES) return "delivered";
        silenced++;
        return "watch-silent";
      };
      if (!isOver) stop = this.run(lost + silent > 0 ? { next, nextEvent } : { next }, start);
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
    for (let passes = 0; passes < MOST_PASSES; passes++) {
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
