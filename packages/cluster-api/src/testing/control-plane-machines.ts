import { Machine } from "@causeway/api";
import { ConfigMap, Node, Pod, type KubeObject, type ObjectKey } from "@causeway/kubernetes";
import { systemClock } from "@causeway/foundation";
import type { ControlPlaneAccess, EtcdMember, EtcdPlace } from "../objects/access.ts";
import { namespace, type World } from "./world.ts";

const components = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"];

/**
 * Machines of a control plane, played: what kubeadm makes of them (Node, static pods, etcd member, the ConfigMap
 * kubeadm-config), and an etcd that records each request that would cost its quorum.
 */
export class ControlPlaneMachines implements ControlPlaneAccess {
  readonly members_ = new Map<string, { learner: boolean; problem?: string }>();
  leader: string | undefined;
  /** What must never happen. */
  readonly violations: string[] = [];
  readonly history: string[] = [];
  readonly expiries = new Map<string, number>();
  readonly #world: World;
  /** Names by uid. */
  readonly #booted = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
  }

  members(_place: EtcdPlace): Promise<readonly EtcdMember[]> {
    return Promise.resolve(
      [...this.members_].map(([name, { learner, problem }]) => ({
        id: `id-${name}`,
        name,
        isLearner: learner,
        isLeader: name === this.leader,
        ...(problem === undefined ? {} : { problem }),
      })),
    );
  }

  removeMember(_place: EtcdPlace, { name }: EtcdMember): Promise<void> {
    if (!this.members_.has(name)) return Promise.resolve();
    this.members_.delete(name);
    this.history.push(`removed ${name}`);
    const left = [...this.members_.values()];
    const serving = left.filter(({ problem }) => problem === undefined).length;
    if (serving < Math.floor(left.length / 2) + 1) this.violations.push(`no quorum without ${name}`);
    if (name === this.leader) {
      if (left.length > 0) this.violations.push(`the leader ${name} was removed`);
      this.leader = [...this.members_.keys()][0];
    }
    return Promise.resolve();
  }

  moveLeader(_place: EtcdPlace, { name }: EtcdMember): Promise<void> {
    this.leader = name;
    this.history.push(`leader ${name}`);
    return Promise.resolve();
  }

  certificateExpiry(_place: EtcdPlace, node: string): Promise<number | undefined> {
    return Promise.resolve(this.expiries.get(node));
  }

  /** Boots what was provided, and clears away what is gone. */
  async play(): Promise<void> {
    const machines = await this.#world.machines();
    for (const [uid, name] of this.#booted) {
      if (machines.some(({ metadata }) => metadata.uid === uid)) continue;
      this.#booted.delete(uid);
      if (this.members_.has(name)) this.violations.push(`${name} went without leaving etcd`);
      for (const component of components) await this.#world.inside.delete(Pod, podKey(component, name));
    }
    for (const machine of machines) {
      const { name, uid = "" } = machine.metadata;
      if (!machine.spec.providerID || this.#booted.has(uid) || machine.metadata.deletionTimestamp) continue;
      await this.#boot(machine);
      this.#booted.set(uid, name);
    }
  }

  /** Plays until `done` says so. */
  async until<T>(what: string, done: () => Promise<T | undefined | false>): Promise<T> {
    return this.#world.until(what, async () => {
      await this.play();
      return done();
    });
  }

  async #boot({ metadata: { name }, spec }: Machine): Promise<void> {
    const { inside } = this.#world;
    const first = this.members_.size === 0;
    for (const component of components) {
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          ...podKey(component, name),
          labels: { tier: "control-plane", component },
          annotations: { "kubernetes.io/config.mirror": "played" },
        },
        spec: {
          nodeName: name,
          containers: [{ name: component, image: `registry.k8s.io/${component}:${spec.version}` }],
        },
      };
      await inside.create(Pod, pod as KubeObject as Pod);
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await inside.patch(Pod, podKey(component, name), { type: "merge", body: { status } }, { subresource: "status" });
    }
    this.members_.set(name, { learner: false });
    if (first) {
      this.leader = name;
      const text = `kind: ClusterConfiguration\nkubernetesVersion: ${spec.version}\n`;
      await inside.create(ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "kubeadm-config", namespace: "kube-system" },
        data: { ClusterConfiguration: text },
      });
    }
    await this.#world.join(name);
    this.history.push(`joined ${name}`);
  }

  /** The Nodes in the workload cluster. */
  async nodes(): Promise<string[]> {
    return (await this.#world.inside.list(Node)).items.map(({ metadata }) => metadata.name).toSorted();
  }

  async failHealthCheck(name: string): Promise<void> {
    const lastTransitionTime = new Date(systemClock.now()).toISOString();
    const condition = (type: string) => ({ type, status: "False", reason: "Played", message: "", lastTransitionTime });
    const object = {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: { name, namespace },
      status: { conditions: [condition("HealthCheckSucceeded"), condition("OwnerRemediated")] },
    };
    await this.#world.client.apply(Machine, object, { subresource: "status", fieldManager: "played-health-check" });
  }
}

function podKey(component: string, node: string): ObjectKey {
  return { namespace: "kube-system", name: `${component}-${node}` };
}
