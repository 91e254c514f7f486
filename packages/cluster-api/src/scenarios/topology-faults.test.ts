/**
 * Seeded schedules of crashes, lost answers and a second leader against the plan of topologies, on a model of the API
 * server.
 */
import { expect, test, vi } from "vitest";
import {
  allKinds,
  labels,
  MachineDeployment,
  MachineSet,
  type Cluster,
  type ClusterClass,
  type Kind,
  type Machine,
} from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { createKindTable } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import { fingerprint } from "../objects/names.ts";
import { classTemplates, clusterClass, topologyCluster } from "../testing/class-manifests.ts";
import { blueprintOf } from "../topology/blueprint.ts";
import { compareTopology } from "../topology/comparison.ts";
import { desiredState } from "../topology/desired.ts";
import { noHooks } from "../topology/hooks.ts";
import type { Observed as TopologyObserved } from "../topology/observed.ts";
import { idOf, type CurrentState, type Difference } from "../topology/model.ts";
import { plan as planTopology } from "../topology/plan.ts";
import type { TopologyStep } from "../topology/steps.ts";

vi.setConfig({ testTimeout: 600_000 });

const schedules = Number(process.env["CAUSEWAY_FAULT_TOPOLOGIES"] ?? 300);
/** The first one that is played: a run of many may be made in pieces. */
const from = Number(process.env["CAUSEWAY_FAULT_FROM"] ?? 0);
const seed = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 11);
const namespace = "default";
const kinds = createKindTable(allKinds);

function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

type Held = {
  readonly kind: Kind<KubeObject>;
  object: KubeObject & { spec: Readonly<Record<string, unknown>>; status?: object };
};

const classes: Readonly<Record<string, ClusterClass>> = {
  class: clusterClass(),
  other: clusterClass("other", { patches: clusterClass("class").spec.patches?.slice(0, 1) ?? [] }),
};
const sources = classTemplates();

class Model {
  cluster: Cluster;
  readonly objects = new Map<string, Held>();
  readonly #random: () => number;
  #uids = 0;

  constructor(random: () => number) {
    this.#random = random;
    const cluster = topologyCluster();
    this.cluster = { ...cluster, metadata: { ...cluster.metadata, namespace, uid: "uid-cluster" } };
  }

  chance(likely: number): boolean {
    return this.#random() < likely;
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  of<T extends KubeObject>(kind: Kind<T>): T[] {
    return [...this.objects.values()]
      .filter((held) => held.kind.kind === kind.kind)
      .map(({ object }) => object as unknown as T);
  }

  async observed(): Promise<TopologyObserved> {
    const { cluster } = this;
    const topology = cluster.spec.topology;
    const chosen = classes[topology?.classRef.name ?? ""] as ClusterClass;
    const withPlace = { ...chosen, metadata: { ...chosen.metadata, namespace } };
    const blueprint = blueprintOf(withPlace, ({ apiVersion, kind, name }) => ({
      kind: kinds.find({ apiGroup: apiVersion.split("/")[0] ?? "", kind }),
      object: sources.find((one) => one.kind === kind && one.metadata.name === name),
    }));
    const current = this.#current();
    const desired = desiredState({ cluster, blueprint, current, kinds });
    const compared = await compareTopology(cluster, desired, (made) =>
      Promise.resolve(this.#difference(idOf(made.kind, made.object), made.object)),
    );
    return { cluster, kinds, current, hooks: noHooks, ...compared };
  }

  #current(): CurrentState {
    const referred = (name: string | undefined, kind: string) =>
      this.of({ kind } as Kind<ProviderObject>).find(({ metadata }) => metadata.name === name);
    const { infrastructureRef, controlPlaneRef } = this.cluster.spec;
    const deployments = this.of(MachineDeployment);
    return {
      infrastructure: referred(infrastructureRef?.name, "OpenStackCluster"),
      controlPlane: referred(controlPlaneRef?.name, "HostedControlPlane"),
      deployments,
      pools: [],
      poolObjects: [],
      sets: this.of(MachineSet),
      machines: this.of({ kind: "Machine" } as Kind<Machine>),
      healthChecks: [],
      templates: [...this.objects.values()]
        .filter(({ kind }) => kind.kind.endsWith("Template"))
        .map(({ kind, object }) => ({ kind, object })),
    };
  }

  /** What a dry run says: labels and annotations of others remain. */
  #difference(id: string, made: Held["object"]): Difference | undefined {
    const held = this.objects.get(id);
    if (!held) return undefined;
    const { labels: own = {}, annotations: notes = {} } = made.metadata;
    const { metadata } = held.object;
    const lacks = (present: Readonly<Record<string, string>> | undefined, wanted: Readonly<Record<string, string>>) =>
      Object.entries(wanted).some(([key, value]) => present?.[key] !== value);
    return {
      spec: fingerprint(held.object.spec) !== fingerprint(made.spec),
      metadata: lacks(metadata.labels, own) || lacks(metadata.annotations, notes),
    };
  }

  perform(step: TopologyStep): void {
    const { metadata, spec } = this.cluster;
    switch (step.type) {
      case "set-variables":
        this.cluster = {
          ...this.cluster,
          spec: {
            ...spec,
            topology: {
              ...spec.topology,
              ...(step.body["spec"] as { topology: object }).topology,
            } as Cluster["spec"]["topology"],
          },
        } as Cluster;
        return;
      case "apply-cluster": {
        const applied = step.object as Cluster;
        this.cluster = {
          ...this.cluster,
          metadata: {
            ...metadata,
            labels: { ...metadata.labels, ...applied.metadata.labels },
            annotations: { ...metadata.annotations, ...applied.metadata.annotations },
          },
          spec: { ...spec, ...applied.spec },
        };
        return;
      }
      case "set-hooks":
        throw new Error("no extension is there to call");
      case "delete":
        for (const [id, { object }] of this.objects) if (object.metadata.uid === step.uid) this.remove(id);
        return;
      default: {
        const id = idOf(step.made.kind, step.made.object);
        const held = this.objects.get(id);
        const uid = held?.object.metadata.uid ?? `uid-${(this.#uids += 1)}`;
        const { metadata: own } = step.made.object;
        const merged = { ...own, uid, labels: { ...held?.object.metadata.labels, ...own.labels } };
        this.objects.set(id, {
          kind: step.made.kind,
          object: { ...held?.object, ...step.made.object, metadata: merged },
        });
      }
    }
  }

  remove(id: string): void {
    const name = this.objects.get(id)?.object.metadata.name ?? "";
    this.objects.delete(id);
    // What belongs to a MachineDeployment goes with it.
    for (const [other, { object }] of this.objects)
      if (object.metadata.labels?.["owner"] === name) this.objects.delete(other);
  }

  /** What other controllers do meanwhile. */
  others(all: boolean): void {
    for (const held of this.objects.values()) {
      if (held.kind.kind === "HostedControlPlane" && (all || this.chance(0.5)))
        held.object = { ...held.object, status: { version: held.object.spec["version"] } };
    }
    for (const deployment of this.of(MachineDeployment))
      if (all || this.chance(0.5)) this.#roll(deployment, all || this.chance(0.5));
  }

  #roll(deployment: MachineDeployment, finish: boolean): void {
    const { name } = deployment.metadata;
    const { template } = deployment.spec;
    const set = `${name}-${fingerprint(template.spec)}`;
    const owned = (kind: string, own: string, spec: object): void => {
      const found = { kind, group: "cluster.x-k8s.io" } as Kind<KubeObject>;
      const marks = { ...template.metadata?.labels, owner: name };
      this.objects.set(`${kind}/${own}`, {
        kind: found,
        object: {
          apiVersion: "cluster.x-k8s.io/v1beta2",
          kind,
          metadata: { name: own, namespace, labels: marks },
          spec: spec as Record<string, unknown>,
        },
      });
    };
    owned("MachineSet", set, { clusterName: "demo", template });
    if (!finish) return;
    owned("Machine", `${name}-machine`, { version: template.spec.version });
    for (const [id, { object }] of this.objects)
      if (object.kind === "MachineSet" && object.metadata.labels?.["owner"] === name && object.metadata.name !== set)
        this.objects.delete(id);
  }

  /** The user. */
  change(): void {
    const topology = this.cluster.spec.topology;
    if (!topology) return;
    const workers = ["a", "b", "c"]
      .filter(() => this.chance(0.6))
      .map((name) => ({
        class: "default-worker",
        name,
        replicas: 1,
        metadata: { labels: { mark: this.pick(["x", "y"]) } },
      }));
    const changes: Partial<NonNullable<Cluster["spec"]["topology"]>>[] = [
      { variables: [{ name: "flavor", value: this.pick(["m1.small", "m1.large", "m1.huge"]) }] },
      { workers: workers.length > 0 ? { machineDeployments: workers } : {} },
      { classRef: { name: this.pick(["class", "other"]) } },
      { version: topology.version === "v1.34.0" ? "v1.35.0" : topology.version },
    ];
    this.cluster = {
      ...this.cluster,
      spec: { ...this.cluster.spec, topology: { ...topology, ...this.pick(changes) } },
    };
  }
}

/** At any moment: what exists is referred to by the Cluster or goes with it, and nothing exists twice. */
function checkAlways(model: Model): void {
  const { infrastructureRef, controlPlaneRef } = model.cluster.spec;
  for (const { kind, object } of model.objects.values()) {
    const { name, ownerReferences = [] } = object.metadata;
    if (kind.kind === "OpenStackCluster") expect(name).toBe(infrastructureRef?.name);
    if (kind.kind === "HostedControlPlane") expect(name).toBe(controlPlaneRef?.name);
    if (!["Machine", "MachineSet"].includes(kind.kind))
      expect(ownerReferences.map(({ uid }) => uid)).toEqual(["uid-cluster"]);
  }
  const names = model.of(MachineDeployment).map(({ metadata }) => metadata.labels?.[labels.topologyDeploymentName]);
  expect(new Set(names).size).toBe(names.length);
}

function checkSettled(model: Model): void {
  const wanted = (model.cluster.spec.topology?.workers?.machineDeployments ?? []).map(({ name }) => name).toSorted();
  const deployments = model.of(MachineDeployment);
  expect(deployments.map(({ metadata }) => metadata.labels?.[labels.topologyDeploymentName] ?? "").toSorted()).toEqual(
    wanted,
  );
  expect(deployments.every(({ spec }) => spec.template.spec.version === model.cluster.spec.topology?.version)).toBe(
    true,
  );
  const used = deployments
    .flatMap(({ spec }) => [
      spec.template.spec.bootstrap.configRef?.name ?? "",
      spec.template.spec.infrastructureRef.name,
    ])
    .toSorted();
  const templates = [...model.objects.values()].filter(({ kind }) => kind.kind.endsWith("Template"));
  expect(templates.map(({ object }) => object.metadata.name).toSorted()).toEqual(used);
  const flavor = model.cluster.spec.topology?.variables?.find(({ name }) => name === "flavor")?.value;
  for (const { kind, object } of templates) {
    const { template } = object.spec as { template: { spec: { flavor?: { filter: { name: string } } } } };
    if (kind.kind === "OpenStackMachineTemplate") expect(template.spec.flavor?.filter.name).toBe(flavor);
  }
}

async function play(number: number): Promise<void> {
  const model = new Model(randomOf(seed * 7919 + number));
  let late: readonly TopologyStep[] = [];
  for (let turn = 0; turn < 25; turn++) {
    if (model.chance(0.3)) model.change();
    const { steps } = planTopology(await model.observed());
    for (const step of steps) {
      // A crash before a step: those after it are not done.
      if (model.chance(0.15)) break;
      model.perform(step);
      checkAlways(model);
      // A lost answer: the step was done, and is done once more.
      if (model.chance(0.1)) model.perform(step);
    }
    // A leader that has lost its lease performs the deletions and creations of a plan of before.
    if (model.chance(0.1)) for (const step of late) if (step.type === "delete") model.perform(step);
    late = steps;
    model.others(false);
  }
  let left = -1;
  for (let turn = 0; turn < 60 && left !== 0; turn++) {
    model.others(true);
    const observed = await model.observed();
    const { steps, status } = planTopology(observed);
    for (const step of steps) model.perform(step);
    left = steps.length + (status.condition.status === "True" ? 0 : 1);
  }
  expect(left, `schedule ${number} settles`).toBe(0);
  checkSettled(model);
}

test(`${schedules} schedules of faults end with the objects that the topology asks for, and no others (seed ${seed})`, async () => {
  for (let number = from; number < schedules; number++) {
    await play(number).catch((error: unknown) => {
      throw new Error(`schedule ${number}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    });
  }
});
