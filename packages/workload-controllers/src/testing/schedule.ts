import {
  DaemonSet,
  Deployment,
  isControlledBy,
  Job,
  ReplicaSet,
  StatefulSet,
  type KubeObject,
  type Pod,
  type ResourceType,
} from "@causeway/kubernetes";
import { isActive } from "../objects/pods.ts";
import { template } from "./objects.ts";
import { annotations } from "./played-kubelet.ts";
import { storageClass } from "./played-storage.ts";
import { seeded } from "@causeway/foundation/testing";
import { key, namespace, World, type WorldServer } from "./world.ts";
import type { VirtualClock } from "@causeway/foundation";

/** One workload that is created, changed and changed again while writes, watches and processes fail. */
export interface Schedule {
  readonly seed: number;
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet" | "Job";
  /** Of writes: lost requests, lost answers, and processes that end before or after one. */
  readonly faultRate: number;
  /** Of events of watches, before which the connection ends. */
  readonly lostEvents: number;
  /** Two sets of controllers that know nothing of each other. */
  readonly twoLeaders: boolean;
  /** Of events of watches, with which a watch becomes silent while its connection remains open. */
  readonly silentEvents: number;
  /** The pods of a StatefulSet have volumes of a CSI driver. */
  readonly volumes: boolean;
}

const KINDS = ["Deployment", "StatefulSet", "DaemonSet", "Job"] as const;
/** Milliseconds of the virtual clock between two checks of the pods. */
const STEP = 100;
/** Steps within which volumes that no pod uses are detached. */
const DETACHING = 300;
/** Where a watch may be silent for minutes. */
const LONG_STEP = 500;
const NODES = ["one", "two", "three"];
const CLAIM = {
  metadata: { name: "data" },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: storageClass,
    resources: { requests: { storage: "1Gi" } },
  },
};

export function scheduleOf(seed: number): Schedule {
  const random = seeded(seed);
  const kind = KINDS[seed % KINDS.length] ?? "Deployment";
  return {
    seed,
    kind,
    faultRate: 0.05 + random() * 0.15,
    lostEvents: random() < 0.5 ? 0 : random() * 0.1,
    twoLeaders: random() < 0.25,
    silentEvents: random() < 0.7 ? 0 : 0.005 + random() * 0.02,
    volumes: random() < 0.6 && kind === "StatefulSet",
  };
}

/** Plays it, and returns what is wrong: nothing, if all is well. */
export async function playSchedule(
  schedule: Schedule,
  startServer: (clock: VirtualClock) => Promise<WorldServer>,
): Promise<string[]> {
  const world = await World.start(startServer);
  try {
    await world.playKubelet(NODES, schedule.volumes);
    return await new Play(world, schedule).run();
  } finally {
    await world.close();
  }
}

class Play {
  readonly #world: World;
  readonly #schedule: Schedule;
  readonly #random: () => number;
  readonly #problems = new Set<string>();

  constructor(world: World, schedule: Schedule) {
    this.#world = world;
    this.#schedule = schedule;
    this.#random = seeded(schedule.seed + 1);
  }

  async run(): Promise<string[]> {
    const { faultRate, lostEvents: lost, silentEvents: silent, twoLeaders } = this.#schedule;
    const stops = Array.from({ length: twoLeaders ? 2 : 1 }, () =>
      this.#world.runWithFaults(this.#random, faultRate, { lost, silent }),
    );
    const before = 1 + Math.floor(this.#random() * 4);
    const after = 1 + Math.floor(this.#random() * 4);
    await this.#create(before);
    await this.#reach("web:1", before);
    await this.#change("web:2", after);
    await this.#reach("web:2", after);
    await Promise.all(stops.map((stop) => stop()));
    this.#world.run();
    await this.#reach("web:2", after);
    await this.#world.pass(2_000);
    await this.#judge(before, after);
    return [...this.#problems];
  }

  async #create(size: number): Promise<void> {
    const selector = { matchLabels: { app: "web" } };
    const common = { selector, template: template("web:1") };
    const { kind } = this.#schedule;
    const rolling = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
    const surging = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    const policy = this.#random() < 0.5 ? "OrderedReady" : "Parallel";
    if (kind === "Deployment") await this.#make(Deployment, { ...common, replicas: size, strategy: rolling });
    if (kind === "StatefulSet") {
      const claims = this.#schedule.volumes ? { volumeClaimTemplates: [CLAIM] } : {};
      const spec = { ...common, replicas: size, serviceName: "web", podManagementPolicy: policy, ...claims };
      await this.#make(StatefulSet, spec);
    }
    if (kind === "DaemonSet") await this.#make(DaemonSet, { ...common, updateStrategy: surging });
    if (kind === "Job") {
      const spec = { restartPolicy: "Never", containers: [{ name: "web", image: "web:1" }] };
      const metadata = { annotations: { [annotations.finish]: "Succeeded" } };
      await this.#make(Job, { completions: 6, parallelism: 3, template: { metadata, spec } });
    }
  }

  async #make<T extends KubeObject>(type: ResourceType<T>, spec: object): Promise<void> {
    await this.#world.create(type, "web", { spec });
  }

  /** Another template, and another size. */
  async #change(image: string, replicas: number): Promise<void> {
    const { kind } = this.#schedule;
    const spec = { template: { spec: { containers: [{ name: "web", image }] } } };
    if (kind === "Deployment") await this.#world.patch(Deployment, "web", { spec: { ...spec, replicas } });
    if (kind === "StatefulSet") await this.#world.patch(StatefulSet, "web", { spec: { ...spec, replicas } });
    if (kind === "DaemonSet") await this.#world.patch(DaemonSet, "web", { spec });
  }

  async #reach(image: string, replicas: number): Promise<void> {
    const { kind } = this.#schedule;
    const isThere = async () => {
      const pods = await this.#world.pods();
      // One of two leaders may delete a pod that it takes for surplus after the pod has ended.
      if (kind === "Job") return this.#world.succeeded.size >= 6;
      const wanted = kind === "DaemonSet" ? NODES.length : replicas;
      const isRunning = (pod: Pod) => !this.#schedule.volumes || pod.status?.phase === "Running";
      return pods.length === wanted && pods.every((pod) => isActive(pod) && imageOf(pod) === image && isRunning(pod));
    };
    await this.#world.until(
      `${kind} with pods of ${image}`,
      isThere,
      this.#schedule.silentEvents > 0 ? LONG_STEP : STEP,
    );
  }

  async #judge(before: number, size: number): Promise<void> {
    const pods = await this.#world.pods();
    const { kind, twoLeaders } = this.#schedule;
    const owners = await this.#owners();
    for (const pod of pods) {
      if (!owners.some((owner) => isControlledBy(pod, owner))) this.#problems.add(`${pod.metadata.name} is an orphan`);
    }
    for (const name of this.#world.forced) {
      if (kind !== "Job") this.#problems.add(`${name} was removed before its kubelet stopped it`);
    }
    // Two leaders that know nothing of each other may both create pods with generated names; later one of them deletes
    // what is too much. The sizes of ReplicaSets and the names of a StatefulSet's pods hold with two of them, too.
    if (!twoLeaders || kind === "Deployment" || kind === "StatefulSet") this.#judgeSurge(Math.max(before, size));
    if (kind === "StatefulSet") {
      const names = pods.map(({ metadata }) => metadata.name).toSorted((a, b) => a.localeCompare(b));
      const wanted = Array.from({ length: size }, (_, ordinal) => `web-${ordinal}`);
      if (names.join() !== wanted.join()) this.#problems.add(`pods ${names.join()} in place of ${wanted.join()}`);
    }
    const most = Array.from({ length: Math.max(before, size) }, (_, ordinal) => `data-web-${ordinal}`);
    for (const problem of await this.#storageProblems(most)) this.#problems.add(problem);
    if (kind === "Job") await this.#judgeJob(pods);
  }

  /** Volumes of pods that are gone are detached a while later. */
  async #storageProblems(claims: readonly string[]): Promise<readonly string[]> {
    const { storage } = this.#world;
    for (let passes = 0; passes < DETACHING && storage && storage.judgeEnd(claims).length > 0; passes++) {
      await this.#world.pass(STEP);
    }
    return storage?.judgeEnd(claims) ?? [];
  }

  #judgeSurge(size: number): void {
    const { kind } = this.#schedule;
    const { mostActive, mostWanted } = this.#world;
    // As upstream, maxSurge limits the sizes of the ReplicaSets: one that becomes smaller while it creates a pod
    // deletes a pod afterwards.
    const [found, most] = {
      Deployment: [mostWanted, size + 1],
      DaemonSet: [mostActive, NODES.length + 1],
      StatefulSet: [mostActive, size],
      Job: [mostActive, 3],
    }[kind];
    if (found !== undefined && most !== undefined && found > most) {
      this.#problems.add(`${found} pods at once, and ${most} are allowed`);
    }
  }

  async #judgeJob(pods: readonly Pod[]): Promise<void> {
    const job = await this.#world.until("the Job is complete", async () => {
      const found = await this.#world.client.get(Job, key("web"));
      return found.status?.conditions?.some(({ type }) => type === "Complete") && found;
    });
    const counted = job.status?.succeeded ?? 0;
    const ended = this.#world.succeeded.size;
    if (counted > ended) this.#problems.add(`the Job counts ${counted} pods that succeeded of ${ended} that did`);
    const kept = pods.filter(({ status }) => status?.phase === "Succeeded").length;
    if (!this.#schedule.twoLeaders && counted !== kept) {
      this.#problems.add(`the Job counts ${counted} pods that succeeded, and there are ${kept}`);
    }
  }

  async #owners(): Promise<readonly KubeObject[]> {
    const { client } = this.#world;
    const lists = await Promise.all([
      client.list(ReplicaSet, { namespace }),
      client.list(StatefulSet, { namespace }),
      client.list(DaemonSet, { namespace }),
      client.list(Job, { namespace }),
    ]);
    return lists.flatMap(({ items }): readonly KubeObject[] => items);
  }
}

function imageOf({ spec }: Pod): string | undefined {
  return spec.containers[0]?.image;
}
