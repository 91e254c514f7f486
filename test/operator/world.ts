/**
 * A simulated cluster that runs an OpenStackDeployment: API server, workload controllers, nodes whose pods do as the
 * test says, and the operator.
 */
import {
  OpenStackDeployment,
  operatorKinds,
  toCustomResourceDefinition,
  type OpenStackDeploymentSpec,
} from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { silentLog, VirtualClock } from "@causeway/foundation";
import {
  createEventRecorder,
  createInformers,
  Event,
  Job,
  Node,
  Pod,
  timestamp,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { createOpenStackOperator } from "@causeway/openstack-operator";
import { createWorkloadControllers } from "@causeway/workload-controllers";
import { PlayedNova } from "./played-nova.ts";
import { OpenRequests } from "./open-requests.ts";

export const NAMESPACE = "default";
export const NAME = "cloud";
const COMPONENT = "openstack.causeway.dev/component";

/** What becomes of a pod of a component. A Job's pod that "runs" ends well. */
export type Fate = "runs" | "hangs" | "crashes";

export interface Write {
  readonly verb: string;
  readonly kind: string;
  readonly name: string;
}

/** As many as a few writes take. */
const SOME_TURNS = 12;
/** Moves of the clock after which a wait fails. */
const MOST_PASSES = 1_000;

export const minimal: OpenStackDeploymentSpec = {
  release: "2025.1",
  region: "RegionOne",
  domain: "cloud.example.org",
  size: "Tiny",
  nodeGroups: [
    { name: "control", nodeSelector: { role: "control" }, roles: ["Control", "Network"] },
    { name: "compute", nodeSelector: { role: "compute" }, roles: ["Compute"] },
  ],
};

export class OperatorWorld {
  readonly client: KubernetesClient;
  readonly clock: VirtualClock;
  /** Names of components in the order in which their first pod started. */
  readonly started: string[] = [];
  /** Computes and servers of the cloud that runs on the cluster. */
  readonly nova: PlayedNova;
  /** Every write of every operator. */
  readonly writes: Write[] = [];
  fateOf: (component: string, pod: Pod) => Fate = () => "runs";
  /** What a container says when it ends: one that prepares a pod, or that of a Job. */
  saysOf: (component: string, container: string) => string | undefined = () => undefined;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>[] = [];
  readonly #close: () => Promise<void>;
  readonly #requests = new OpenRequests();

  private constructor(client: KubernetesClient, clock: VirtualClock, close: () => Promise<void>) {
    this.client = this.#requests.counted(client);
    this.clock = clock;
    this.nova = new PlayedNova(clock);
    this.#close = close;
  }

  static async start(computes = 2): Promise<OperatorWorld> {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const { promise, resolve } = Promise.withResolvers<KubernetesClient>();
    const server = await startApiServer({
      clock,
      crds: operatorKinds.map(toCustomResourceDefinition),
      management: { controllers: true },
      controllers(cluster) {
        resolve(cluster.client({ name: "kubernetes-admin", groups: ["system:masters"] }));
        return { stop: () => Promise.resolve() };
      },
    });
    const world = new OperatorWorld(await promise, clock, () => server.close());
    await world.addNodes("control", 3);
    await world.addNodes("compute", computes);
    world.#playPods();
    world.#runWorkloads();
    return world;
  }

  async addNodes(role: string, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const name = `${role}-${index}`;
      const labels = { role, "kubernetes.io/hostname": name };
      if (role === "compute") this.nova.addHost(name);
      await this.client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: {} });
    }
  }

  /**
   * Runs the operator. The returned function ends it as kill -9 would, as far as the cluster can see. `through` is
   * between it and the server.
   */
  runOperator(through: (client: KubernetesClient) => KubernetesClient = (client) => client): () => Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
    const { clock } = this;
    const informers = createInformers(recording(through(this.client), this.writes), { clock });
    const events = createEventRecorder(this.client, { component: "openstack-operator", clock, signal });
    const operator = createOpenStackOperator({
      informers,
      events,
      clock,
      log: silentLog,
      openNova: () => this.nova.open(),
    });
    const running = Promise.all([informers.run(signal), operator.run(signal)]);
    this.#running.push(running);
    return async () => {
      stop.abort();
      await running;
    };
  }

  createDeployment(spec: Partial<OpenStackDeploymentSpec> = {}): Promise<OpenStackDeployment> {
    return this.client.create(OpenStackDeployment, {
      apiVersion: "openstack.causeway.dev/v1alpha1",
      kind: "OpenStackDeployment",
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: { ...minimal, ...spec },
    });
  }

  change(spec: Record<string, unknown>): Promise<OpenStackDeployment> {
    return this.client.patch(
      OpenStackDeployment,
      { namespace: NAMESPACE, name: NAME },
      { type: "merge", body: { spec } },
    );
  }

  deployment(): Promise<OpenStackDeployment> {
    return this.client.get(OpenStackDeployment, { namespace: NAMESPACE, name: NAME });
  }

  async list<T extends KubeObject>(type: ResourceType<T>): Promise<T[]> {
    return (await this.client.list(type, { namespace: NAMESPACE })).items;
  }

  pods(): Promise<Pod[]> {
    return this.list(Pod);
  }

  deletePod(name: string): Promise<void> {
    return this.client.delete(Pod, { namespace: NAMESPACE, name }, { gracePeriodSeconds: 0 });
  }

  /** A change that means nothing, so that the operator reconciles. */
  touchDeployment(): Promise<OpenStackDeployment> {
    return this.annotate("yes");
  }

  annotate(touched: string): Promise<OpenStackDeployment> {
    const body = { metadata: { annotations: { touched } } };
    return this.client.patch(OpenStackDeployment, { namespace: NAMESPACE, name: NAME }, { type: "merge", body });
  }

  async component(name: string) {
    return (await this.deployment()).status?.components?.find((each) => each.name === name);
  }

  async events(): Promise<string[]> {
    return (await this.list(Event)).map(({ reason, message }) => `${reason}: ${message}`);
  }

  async condition(type: string) {
    return (await this.deployment()).status?.conditions?.find((each) => each.type === type);
  }

  whenReady(generation?: number): Promise<OpenStackDeployment> {
    return this.until("the deployment is Ready", async () => {
      const found = await this.deployment();
      const isSeen = (found.status?.observedGeneration ?? 0) >= (generation ?? found.metadata.generation ?? 1);
      return isSeen && found.status?.phase === "Ready" && found;
    });
  }

  /** Waits until `check` returns something, while the clock moves by `step` milliseconds at a time. */
  async until<T>(what: string, check: () => Promise<T | undefined | false>, step = 1_000): Promise<T> {
    for (let passes = 0; passes < MOST_PASSES; passes++) {
      const found = await check();
      if (found) return found;
      await this.pass(step);
    }
    const { status } = await this.deployment();
    const stuck = status?.components
      ?.filter(({ state }) => state !== "Ready")
      .map(({ name, step: doing }) => `${name}: ${doing}`);
    throw new Error(`never came: ${what}; ${JSON.stringify(status?.conditions)}; ${stuck?.join("; ")}`);
  }

  /** Moves the clock, and returns once all that follows from it is done: a slow machine does no less in a pass. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
    await this.#requests.settled();
  }

  /** Moves the clock, and returns in the middle of what follows from it, after some turns of the event loop. */
  async glance(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
    await this.#requests.settled(SOME_TURNS);
  }

  /** Passes until nothing was written for a while. */
  async settle(): Promise<void> {
    for (let quiet = 0, seen = this.writes.length; quiet < 20; quiet++) {
      await this.pass(1_000);
      if (this.writes.length !== seen) [quiet, seen] = [0, this.writes.length];
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.client.close();
    await this.#close();
  }

  #runWorkloads(): void {
    const { clock } = this;
    const informers = createInformers(this.client, { clock });
    const events = createEventRecorder(this.client, { component: "causeway", clock, signal: this.#stop.signal });
    const controllers = createWorkloadControllers({ informers, clock, log: silentLog, events }, { nodes: false });
    this.#running.push(Promise.all([informers.run(this.#stop.signal), controllers.run(this.#stop.signal)]));
  }

  /** Binds pods, runs them, ends those of Jobs, and removes deleted ones. */
  #playPods(): void {
    const informers = createInformers(this.client, { clock: this.clock });
    let next = 0;
    informers.for(Pod).onChange(({ type, object }) => {
      if (type !== "deleted") void this.#playPod(object, next++).catch(() => {});
    });
    this.#running.push(informers.run(this.#stop.signal));
  }

  async #playPod(pod: Pod, number: number): Promise<void> {
    const { metadata, spec, status } = pod;
    const key = { namespace: metadata.namespace ?? "", name: metadata.name };
    if (metadata.deletionTimestamp !== undefined) return this.#endPod(pod, key);
    if (!spec.nodeName) return this.#bind(pod, number);
    const component = metadata.labels?.[COMPONENT] ?? "";
    const fate = this.fateOf(component, pod);
    if (status?.phase !== "Pending" || status.podIP !== undefined || fate === "hangs") return;
    if (!this.started.includes(component)) this.started.push(component);
    const isJob = metadata.ownerReferences?.some(({ kind }) => kind === Job.kind) === true;
    const said = (container: string) => this.saysOf(component, container);
    const played = playedStatus(pod, { fate, isJob, number, at: timestamp(this.clock.now()), said });
    await this.client.patch(
      Pod,
      key,
      { type: "merge", body: { status: { ...played, initContainerStatuses: prepared(pod, said) } } },
      { subresource: "status" },
    );
  }

  /** As a kubelet does: what a Job waits for before it tries again is that its pod has failed. */
  async #endPod({ metadata, status }: Pod, key: { namespace: string; name: string }): Promise<void> {
    if ((metadata.finalizers ?? []).length > 0 && !["Succeeded", "Failed"].includes(status?.phase ?? "")) {
      const body = { status: { phase: "Failed" } };
      await this.client.patch(Pod, key, { type: "merge", body }, { subresource: "status" });
    }
    await this.client.delete(Pod, key, { gracePeriodSeconds: 0 });
  }

  async #bind({ metadata, spec }: Pod, number: number): Promise<void> {
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/binding`;
    const affinity = JSON.stringify(spec["affinity"] ?? {});
    const [, pinned] = /"metadata\.name","operator":"In","values":\["([^"]+)"\]/.exec(affinity) ?? [];
    const body = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: metadata.name },
      target: { kind: "Node", name: pinned ?? `control-${number % 3}` },
    };
    await this.client.request("POST", path, { body });
  }
}

interface Played {
  readonly fate: Fate;
  readonly isJob: boolean;
  readonly number: number;
  readonly at: string;
  readonly said: (container: string) => string | undefined;
}

function playedStatus({ spec }: Pod, { fate, isJob, number, at, said }: Played) {
  const ends = isJob || fate === "crashes";
  const exitCode = fate === "crashes" ? 1 : 0;
  const stateOf = (container: string) => {
    if (!ends) return { running: { startedAt: at } };
    const message = said(container);
    return { terminated: { exitCode, finishedAt: at, startedAt: at, ...(message === undefined ? {} : { message }) } };
  };
  const ip = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  const crashed = { waiting: { reason: "CrashLoopBackOff", message: "back-off restarting failed container" } };
  return {
    phase: isJob ? (exitCode === 0 ? "Succeeded" : "Failed") : "Running",
    podIP: ip,
    podIPs: [{ ip }],
    startTime: at,
    conditions: [
      { type: "PodScheduled", status: "True", lastTransitionTime: at },
      { type: "Ready", status: ends ? "False" : "True", lastTransitionTime: at },
    ],
    containerStatuses: spec.containers.map(({ name, image = "" }) => ({
      name,
      image,
      imageID: image,
      restartCount: 0,
      ready: !ends,
      state: fate === "crashes" && !isJob ? crashed : stateOf(name),
    })),
  };
}

/** Containers that ended before the pod's own, with what they said. */
function prepared({ spec }: Pod, said: (container: string) => string | undefined) {
  return (spec.initContainers ?? [])
    .filter((container) => container["restartPolicy"] === undefined)
    .map(({ name, image = "" }) => {
      const message = said(name);
      const terminated = { exitCode: 0, ...(message === undefined ? {} : { message }) };
      return { name, image, imageID: image, restartCount: 0, ready: true, state: { terminated } };
    });
}

/** The client, with every write of it recorded. */
function recording(client: KubernetesClient, writes: Write[]): KubernetesClient {
  const note = (verb: string, kind: string, name: string) => writes.push({ verb, kind, name });
  return {
    ...client,
    server: client.server,
    get: (type, key, options) => client.get(type, key, options),
    find: (type, key, options) => client.find(type, key, options),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create(type, object, options) {
      note("create", type.kind, object.metadata.name);
      return client.create(type, object, options);
    },
    update(type, object, options) {
      note("update", type.kind, object.metadata.name);
      return client.update(type, object, options);
    },
    patch(type, key, patch, options) {
      note("patch", type.kind, key.name);
      return client.patch(type, key, patch, options);
    },
    apply(type, object, options) {
      note(
        options.subresource === undefined ? "apply" : `apply ${options.subresource}`,
        type.kind,
        object.metadata.name,
      );
      return client.apply(type, object, options);
    },
    delete(type, key, options) {
      note("delete", type.kind, key.name);
      return client.delete(type, key, options);
    },
    request: (method, path, options) => client.request(method, path, options),
    close: () => client.close(),
  };
}
