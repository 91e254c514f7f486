import type { Deployment, KubeObject, Namespace, Pod, Secret, Service, StatefulSet } from "@causeway/kubernetes";
import type { ControlPlaneSpec } from "../../runtime.ts";
import type { Observed } from "../observed.ts";
import { keyspaceOf } from "../keyspace.ts";
import { idOf } from "../live.ts";
import { etcdMembers } from "../objects/etcd.ts";
import type { PodsSettings } from "../options.ts";
import { plan } from "../plan.ts";
import { isMigrationStep } from "../migration/perform-migration.ts";
import type { MigrationMemory } from "../migration/memory.ts";
import { servedSpec } from "../migration/served.ts";
import { fileNames } from "../plan-credentials.ts";
import { isMemberStep, isResizing, membersAnnotation, type MemberStep } from "../plan-members.ts";
import type { EtcdMember, EtcdMembership } from "../pool/membership.ts";
import type { PoolState } from "../pool/state.ts";
import { nextEtcdAuthority } from "../rotate-etcd.ts";
import type { MigrationStep, Step } from "../steps.ts";
import { componentLabel, digestOf, inputsAnnotation, namespaceOf, renewAtAnnotation } from "../tenant.ts";

/** The replacement of every private key and every text that a tenant must not see. */
export const SECRET = "SECRET-VALUE";
export const now = Date.UTC(2026, 0, 1);
const YEAR = 365 * 24 * 3600_000;

/** The label that a Deployment gives its pods. */
export function templateHash(object: KubeObject): { "pod-template-hash": string } {
  return { "pod-template-hash": digestOf((object as Deployment).spec.template).slice(0, 10) };
}

/** A service cluster in memory that does what steps say: for tests of the planner. */
export class PlayedCluster {
  readonly live = new Map<string, KubeObject>();
  namespace: Namespace | undefined;
  pods: Pod[] = [];
  joinedAt: string | undefined;
  cloudConfig: string | undefined;
  /** The members of an own etcd, once another number of them is requested; the first one leads at first. */
  membership: EtcdMembership = { members: [], leader: undefined };
  pool: PoolState | undefined;
  hasEtcdUser = false;
  restored = false;
  migration: MigrationMemory | undefined;
  otherControlPlanes = { controlPlanes: 0, storage: 0 };
  share = Infinity;
  /** Every step that was performed, as "apply Deployment/kube-apiserver". */
  readonly performed: string[] = [];
  readonly written: KubeObject[] = [];
  #revision = 0;

  settings: PodsSettings;
  /** Of one that another management cluster handed over. */
  adopted: string | undefined;

  constructor(settings: Partial<PodsSettings> = {}) {
    this.settings = { owner: "management", causewayImage: "causeway:1", ...settings };
  }

  observe(requested: ControlPlaneSpec): Observed {
    const { live, namespace, pods, joinedAt, cloudConfig, settings } = this;
    const spec = servedSpec(requested, { live, namespace });
    const namespaceName = this.adopted ?? namespaceOf(settings.owner, spec.id);
    const { pool, hasEtcdUser } = this;
    const { otherControlPlanes } = this;
    const isAsked = isResizing({ spec, live }) && keyspaceOf({ spec, live, pods, namespaceName, pool: undefined });
    if (isAsked && this.membership.members.length === 0) this.#foundEtcd(spec);
    return {
      spec,
      requested,
      migration: this.migration,
      settings,
      namespaceName,
      namespace,
      live,
      pods,
      membership: isAsked ? this.membership : undefined,
      joinedAt,
      cloudConfig,
      pool,
      hasEtcdUser,
      restored: this.restored,
      otherControlPlanes,
      share: this.share,
    };
  }

  /** Plans and performs until there are no steps, or `rounds` are over. */
  settle(spec: ControlPlaneSpec, { at = now, rounds = 20 } = {}): ReturnType<typeof plan> {
    for (let round = 0; ; round++) {
      const planned = plan(this.observe(spec), at);
      if (planned.steps.length === 0 || round === rounds) return planned;
      for (const step of planned.steps) this.perform(step, at);
    }
  }

  /** Everything that was written rolls out, and the plan continues, until it is complete. */
  complete(spec: ControlPlaneSpec, at = now): ReturnType<typeof plan> {
    for (let turn = 0; turn < 8; turn++) {
      const before = this.performed.length;
      this.settle(spec, { at });
      if (turn > 0 && this.performed.length === before) break;
      this.assignAddress();
      this.rollOut();
    }
    return this.settle(spec, { at });
  }

  perform(step: Step, at: number): void {
    this.performed.push("id" in step ? `${step.type} ${step.id}` : step.type);
    if (isMemberStep(step)) return this.#changeMembers(step);
    if (isMigrationStep(step)) throw new Error("only MovingCluster has two etcds");
    if (step.type === "acknowledge") return this.#acknowledge(step);
    this.#perform(step, at);
  }

  #perform(step: Exclude<Step, MemberStep | MigrationStep | { type: "acknowledge" }>, at: number): void {
    switch (step.type) {
      case "apply-namespace":
        this.namespace = this.#stored(step.object, this.namespace) as Namespace;
        return;
      case "issue": {
        const { name, entries, inputs, once } = step.credentials;
        // Another leader was faster.
        if (this.live.get(step.id)?.metadata.resourceVersion !== step.replaces) return;
        const annotations = {
          [inputsAnnotation]: inputs,
          ...(once ? {} : { [renewAtAnnotation]: String(at + YEAR / 2) }),
        };
        const content = Buffer.from(`${SECRET} ${at} ${this.#revision}`).toString("base64");
        const data = Object.fromEntries(entries.flatMap(fileNames).map((file) => [file, content]));
        const secret = { apiVersion: "v1", kind: "Secret", metadata: { name, annotations }, data } as Secret;
        this.live.set(step.id, this.#stored(secret, undefined));
        return;
      }
      case "copy":
        return this.#copy(step);
      case "follow": {
        const { secret, from } = step;
        if (this.#isStale(secret)) return;
        const annotations = { ...secret.metadata.annotations, ...from.metadata.annotations };
        const metadata = { ...secret.metadata, annotations };
        this.live.set(idOf(secret), this.#stored({ ...secret, metadata, data: from.data } as Secret, secret));
        return;
      }
      case "rotate-etcd-authority": {
        if (this.#isStale(step.secret)) return;
        const made = { certificate: `CA ${++this.#revision}\n`, key: SECRET };
        this.live.set(idOf(step.secret), this.#stored(nextEtcdAuthority(step, made), step.secret));
        return;
      }
      case "apply":
        this.live.set(step.id, this.#stored(step.object, this.live.get(step.id)));
        return;
      case "delete":
        this.live.delete(step.id);
        return;
      case "enable-auth":
        return;
      case "ensure-etcd-user":
        this.hasEtcdUser = true;
        return;
      case "restore":
        this.restored = true;
        return;
      case "create-join-objects":
        this.joinedAt = step.mark;
    }
  }

  assignAddress(): void {
    const service = this.live.get("Service/kube-apiserver") as Service | undefined;
    if (service === undefined) return;
    const ports = service.spec.ports?.map((port) => ({ ...port, nodePort: port.nodePort ?? 31_000 }));
    this.live.set(idOf(service), {
      ...service,
      spec: { ...service.spec, ...(ports ? { ports } : {}) },
      status: { loadBalancer: { ingress: [{ ip: "203.0.113.7" }] } },
    } as Service);
  }

  /** The programs of these names, or all, run as their newest templates say. */
  rollOut(...names: string[]): void {
    for (const [id, object] of this.live) {
      const { kind, metadata } = object;
      if (kind !== "Deployment" && kind !== "StatefulSet") continue;
      if (names.length > 0 && !names.includes(metadata.name)) continue;
      const { spec } = object as Deployment | StatefulSet;
      const replicas = spec.replicas ?? 1;
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
      this.live.set(id, { ...object, status: { ...counts, observedGeneration: metadata.generation } } as Deployment);
      this.pods = this.pods.filter((pod) => pod.metadata.labels?.[componentLabel] !== metadata.name);
      for (let index = 0; index < replicas; index++)
        this.pods.push({
          apiVersion: "v1",
          kind: "Pod",
          metadata: {
            ...spec.template.metadata,
            labels: { ...spec.template.metadata?.labels, ...(kind === "Deployment" ? templateHash(object) : {}) },
            name: `${metadata.name}-${index}`,
          },
          spec: spec.template.spec,
          status: { podIP: `10.1.0.${index + 1}`, conditions: [{ type: "Ready", status: "True" }] },
        });
    }
  }

  #copy(step: Extract<Step, { type: "copy" }>): void {
    if (this.live.has(step.id)) return;
    const metadata = { name: step.name, annotations: { ...step.annotations, [inputsAnnotation]: "once" } };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, data: step.data } as Secret;
    this.live.set(step.id, this.#stored(secret, undefined));
  }

  #acknowledge({ namespace, annotation, content }: Extract<Step, { type: "acknowledge" }>): void {
    const annotations = { ...namespace.metadata.annotations, [annotation]: JSON.stringify(content) };
    this.namespace = { ...namespace, metadata: { ...namespace.metadata, annotations } };
  }

  #changeMembers(step: MemberStep): void {
    const { members } = this.membership;
    if (step.type === "move-etcd-leader") this.membership = { ...this.membership, leader: step.to };
    if (step.type === "remove-etcd-member") this.#members(members.filter(({ id }) => id !== step.id));
    if (step.type === "promote-etcd-member")
      this.#members(members.map((each) => (each.id === step.id ? { ...each, isLearner: false } : each)));
    if (step.type !== "add-etcd-member") return;
    const name = /(etcd-\d+)\./.exec(step.peerUrl)?.[1];
    this.#members([...members, { id: `${++this.#revision}`, name, isLearner: true }]);
  }

  #members(members: readonly EtcdMember[]): void {
    this.membership = { ...this.membership, members };
  }

  /** Those that it was made with. */
  #foundEtcd({ pods }: ControlPlaneSpec): void {
    const settled = Number(this.live.get("StatefulSet/etcd")?.metadata.annotations?.[membersAnnotation]);
    const count = settled > 0 ? settled : etcdMembers(pods?.datastore);
    const names = Array.from({ length: count }, (_, index) => `etcd-${index}`);
    const members = names.map((name) => ({ id: `${++this.#revision}`, name, isLearner: false }));
    this.membership = { members, leader: members.at(-1)?.id };
  }

  /** Another leader was faster. */
  #isStale(secret: Secret): boolean {
    return this.live.get(idOf(secret))?.metadata.resourceVersion !== secret.metadata.resourceVersion;
  }

  #stored(object: KubeObject, before: KubeObject | undefined): KubeObject {
    this.written.push(object);
    const generation = (before?.metadata.generation ?? 0) + 1;
    const { status } = (before ?? {}) as { status?: unknown };
    const metadata = { ...object.metadata, generation, resourceVersion: String(++this.#revision) };
    return { ...object, metadata, ...(status === undefined ? {} : { status }) } as KubeObject;
  }
}
