/** A deployment on a cluster whose workloads do at once what they are for, as the plan of a deployment sees it. */
import type { OpenStackDeployment, OpenStackDeploymentSpec } from "@causeway/api";
import { VirtualClock } from "@causeway/foundation";
import type { KubeObject, KubernetesClient, Node, ObjectKey, Pod, ResourceType, Secret } from "@causeway/kubernetes";
import { idOf, type Observed } from "../deployment/gather.ts";
import { perform } from "../deployment/perform.ts";
import { plan, type Desire } from "../deployment/plan.ts";
import { labels } from "../model/names.ts";
import { desiredOf, type Desired, type DesireOptions } from "../render/desired.ts";
import { spec as everything } from "./rendered.ts";

/** When a deployment of these tests begins. */
export const START = Date.UTC(2026, 0, 1);
const MOST_PASSES = 100;
/** Passes that do the same. */
const MOST_REPEATED = 8;

/** The services without which no server starts, and Octavia, which has certificates of its own. */
export const spec: OpenStackDeploymentSpec = {
  ...everything,
  size: "Tiny",
  services: (["heat", "horizon", "barbican", "cinder"] as const).map((name) => ({ name, enabled: false })),
};

const rendered = new Map<string, Desired>();

export class PlayedDeployment {
  spec = spec;
  metadata: OpenStackDeployment["metadata"] = { name: "cloud", namespace: "openstack", uid: "u", generation: 1 };
  status: OpenStackDeployment["status"];
  objects = new Map<string, KubeObject>();
  nodes = [node("n2", "compute"), node("c1", "control"), node("n3", "compute"), node("n1", "compute")];
  pods: Pod[] = [];
  served = new Set<string>();
  /** Components whose workloads do not do what they are for, and Jobs that fail. */
  open: readonly string[] = [];
  failed: readonly string[] = [];
  now = START;
  /** What was rendered by the last plan. */
  options: DesireOptions[] = [];

  /** Another one that has come as far. */
  copy(): PlayedDeployment {
    return Object.assign(new PlayedDeployment(), this, { objects: new Map(this.objects) });
  }

  observed(more: Partial<Observed> = {}): Observed {
    const { metadata, spec: wanted, status, nodes, pods, served } = this;
    const secret = (name: string) => this.objects.get(`Secret/cloud-${name}`) as Secret | undefined;
    return {
      deployment: {
        apiVersion: "openstack.causeway.dev/v1alpha1",
        kind: "OpenStackDeployment",
        metadata,
        spec: wanted,
        ...(status ? { status } : {}),
      },
      objects: new Map([...this.objects].map(([id, object]) => [id, this.#played(object)])),
      pods,
      replicaSets: [],
      credentials: secret("credentials"),
      tokenKeys: secret("token-keys"),
      credentialKeys: secret("credential-keys"),
      restoredKeys: secret("restored-keys"),
      nodes,
      claims: new Set(),
      served,
      isComplete: true,
      ...more,
    };
  }

  plan(more: Partial<Observed> = {}) {
    this.options = [];
    const planned = plan(this.observed(more), this.now, this.#desire);
    const { phase, conditions = [] } = planned.status;
    const ready = conditions.find(({ type }) => type === "Ready");
    return {
      ...planned,
      names: planned.steps.map(({ type, name }) => `${type} ${name}`),
      phase,
      ready: ready && `${ready.status} ${ready.reason}: ${ready.message}`,
      said: (planned.events ?? []).map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
    };
  }

  /** Plans, and does it. */
  async pass() {
    const planned = this.plan();
    const signal = new AbortController().signal;
    const observed = this.observed();
    for (const step of planned.steps)
      await perform({ client: this.#client(), clock: new VirtualClock(this.now) }, step, observed, signal);
    this.status = planned.status;
    return planned;
  }

  /** Passes until nothing is left to do, or until `isOver`: what each planned. */
  async settle(isOver: (planned: ReturnType<PlayedDeployment["plan"]>) => boolean = () => false) {
    const passes: Awaited<ReturnType<PlayedDeployment["pass"]>>[] = [];
    const seen = new Map<string, number>();
    for (let times = 0; times < MOST_REPEATED && passes.length < MOST_PASSES;) {
      const planned = await this.pass();
      passes.push(planned);
      if (isOver(planned) || (planned.steps.length === 0 && planned.said.length === 0)) return passes;
      const what = planned.names.join();
      times = (seen.get(what) ?? 0) + 1;
      seen.set(what, times);
    }
    throw new Error(`it does not settle: ${passes.at(-1)?.names.join(", ")}`);
  }

  readonly #desire: Desire = (options) => {
    this.options.push(options);
    const { deployment, ...rest } = options;
    const key = JSON.stringify([deployment.spec, rest]);
    const known = rendered.get(key) ?? desiredOf(options);
    rendered.set(key, known);
    return known;
  };

  #client(): KubernetesClient {
    const { objects } = this;
    const at = ({ kind }: ResourceType<KubeObject>, { name }: ObjectKey) => `${kind}/${name}`;
    const write = async (_: unknown, object: KubeObject) => void objects.set(idOf(object), withKnownValues(object));
    const find = async (type: ResourceType<KubeObject>, key: ObjectKey) => objects.get(at(type, key));
    return {
      apply: write,
      create: write,
      update: write,
      find,
      get: find,
      delete: async (type: ResourceType<KubeObject>, key: ObjectKey) => void objects.delete(at(type, key)),
    } as unknown as KubernetesClient;
  }

  #played(object: KubeObject): KubeObject {
    const component = object.metadata.labels?.[labels.component] ?? "";
    const status = this.#statusOf(object, component);
    return status ? Object.assign({ ...object }, { status }) : object;
  }

  #statusOf(object: KubeObject, component: string): object | undefined {
    const { replicas = 1 } = (object as { spec?: { replicas?: number } }).spec ?? {};
    const count = this.open.includes(component) ? 0 : replicas;
    const isJobDone = (type: string) => [{ type, status: "True", message: "it ended with 1" }];
    switch (object.kind) {
      case "Deployment":
        return { observedGeneration: 1, replicas, updatedReplicas: replicas, availableReplicas: count };
      case "StatefulSet":
        return { observedGeneration: 1, replicas, updatedReplicas: replicas, readyReplicas: count };
      case "DaemonSet":
        return {
          observedGeneration: 1,
          desiredNumberScheduled: 1,
          updatedNumberScheduled: 1,
          numberAvailable: this.open.includes(component) ? 0 : 1,
        };
      case "Job":
        if (this.failed.includes(component)) return { conditions: isJobDone("Failed") };
        return this.open.includes(component) ? {} : { conditions: isJobDone("Complete") };
      default:
        return undefined;
    }
  }
}

/** Passwords that are always the same: what is rendered with them is rendered once. */
function withKnownValues(object: KubeObject): KubeObject {
  if (idOf(object) !== "Secret/cloud-credentials") return object;
  const data = Object.entries((object as Secret).data ?? {}).map(([key, value]) =>
    /^(?:generation|accounts|keys\.generation)$/.test(key) ? [key, value] : [key, btoa(`value of ${key}`)],
  );
  return Object.assign({ ...object }, { data: Object.fromEntries(data) });
}

/** A node with a role. */
export function node(name: string, role: string): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { role } }, spec: {} };
}
