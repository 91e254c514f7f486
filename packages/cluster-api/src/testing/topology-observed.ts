import {
  KubeadmConfigTemplate,
  KubeadmControlPlane,
  labels,
  MachineDeployment,
  MachineHealthCheck,
  MachinePool,
  OpenStackCluster,
  OpenStackMachineTemplate,
  type Cluster,
  type Kind,
} from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import type { ProviderObject } from "../contract/provider-object.ts";
import { noHooks, type HookState } from "../topology/hooks.ts";
import type { MadeObject } from "../topology/made-objects.ts";
import { idOf, type CurrentState, type Difference } from "../topology/model.ts";
import type { Observed } from "../topology/observed.ts";
import type { TopologyStep } from "../topology/steps.ts";

type Desired = NonNullable<Observed["desired"]>;

const namespace = "default";
/** Metadata of an object that is being deleted. */
export const gone = { deletionTimestamp: "2026-11-21T00:00:00Z" };
/** An object that the topology wants. */
export const made = (kind: Kind<KubeObject>, name: string): MadeObject => ({
  kind,
  object: { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name, namespace }, spec: {} },
});
const kindOf = <K>(kind: K) => kind as unknown as Kind<KubeObject>;
/** The kind of templates of machines. */
export const template = kindOf(OpenStackMachineTemplate);
/** The kind of templates of bootstrap configurations. */
export const bootstrap = kindOf(KubeadmConfigTemplate);
/** MachineDeployments as a kind of the topology. */
export const deployments = kindOf(MachineDeployment);
const pools = kindOf(MachinePool);
/** MachineHealthChecks as a kind of the topology. */
export const checks = kindOf(MachineHealthCheck);

const progress = { upgrading: [], pending: [], deferred: [], waitingForCreation: [] };
/** Nothing is on its way. */
export const upgrades: Desired["upgrades"] = {
  controlPlane: "v1.34.0",
  workers: new Map(),
  pools: new Map(),
  path: { controlPlane: [], workers: [] },
  isProvisioning: false,
  starts: false,
  controlPlaneMoves: false,
  controlPlanePending: false,
  deployments: progress,
  machinePools: progress,
};
const decision = { version: "v1.34.0" };
/** A MachineDeployment with what belongs to it. */
export const workers: Desired["workers"][number] = {
  topologyName: "a",
  deployment: made(deployments, "web-a"),
  bootstrap: made(bootstrap, "a-config"),
  infrastructure: made(template, "a-machine"),
  healthCheck: made(checks, "web-a"),
  decision,
};
/** A MachinePool with what belongs to it. */
export const pool: Desired["pools"][number] = {
  topologyName: "p",
  pool: made(pools, "web-p"),
  bootstrap: made(bootstrap, "p-config"),
  infrastructure: made(template, "p-machine"),
  decision,
};
/** What the topology wants. */
export const desired: Desired = {
  variables: [{ name: "size", value: 1 }],
  infrastructure: made(kindOf(OpenStackCluster), "web"),
  controlPlane: {
    object: made(kindOf(KubeadmControlPlane), "web-cp"),
    machineTemplate: made(template, "cp-machine"),
    healthCheck: made(checks, "web-cp"),
  },
  workers: [workers],
  pools: [pool],
  upgrades,
  patcher: {} as Desired["patcher"],
};

/** The labels of the Cluster and all objects. */
export const owned = { [labels.clusterName]: "web", [labels.topologyOwned]: "" };
/** The Cluster, as the topology has it. */
export const cluster = (metadata: object = {}, spec: object = {}): Cluster =>
  ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "web", namespace, uid: "uid-web", resourceVersion: "7", labels: owned, ...metadata },
    spec: {
      infrastructureRef: { apiGroup: OpenStackCluster.group, kind: "OpenStackCluster", name: "web" },
      controlPlaneRef: { apiGroup: KubeadmControlPlane.group, kind: "KubeadmControlPlane", name: "web-cp" },
      topology: { classRef: { name: "class" }, version: "v1.34.0", variables: desired.variables },
      ...spec,
    },
  }) as unknown as Cluster;

type ExistingObject = { readonly kind: Kind<KubeObject>; readonly object: ProviderObject };
/** An object that exists. */
export const existing = (kind: Kind<KubeObject>, name: string, metadata: object = {}): ExistingObject => {
  const ownerReferences = [{ apiVersion: "v1", kind: "Cluster", name: "web", uid: "uid-web" }];
  const { object } = made(kind, name);
  return {
    kind,
    object: { ...object, metadata: { ...object.metadata, uid: `uid-${name}`, ownerReferences, ...metadata } },
  };
};
/** A MachineDeployment, MachineSet or MachinePool whose machines are made from two objects. */
export const holder = <T>(
  kind: Kind<KubeObject>,
  name: string,
  [config, machine]: readonly [string, string],
  metadata = {},
) =>
  ({
    ...existing(kind, name, metadata).object,
    spec: {
      template: {
        spec: {
          bootstrap: { configRef: { apiGroup: bootstrap.group, kind: bootstrap.kind, name: config } },
          infrastructureRef: { apiGroup: template.group, kind: template.kind, name: machine },
        },
      },
    },
  }) as unknown as T;
/** The label of its name in the topology. */
export const inTopology = { labels: { [labels.topologyDeploymentName]: "a" } };
/** The MachineDeployment, made from these templates. */
export const deployment = (config = "a-config", machine = "a-machine", metadata: object = inTopology) =>
  holder<MachineDeployment>(deployments, "web-a", [config, machine], metadata);
/** The MachinePool. */
export const machinePool = (metadata: object = {}) =>
  holder<MachinePool>(pools, "web-p", ["p-config", "p-machine"], {
    labels: { [labels.topologyPoolName]: "p" },
    ...metadata,
  });
/** The control plane, with the template of its machines. */
export const controlPlane = (machine: string): ProviderObject => ({
  ...existing(kindOf(KubeadmControlPlane), "web-cp").object,
  spec: {
    machineTemplate: { spec: { infrastructureRef: { apiGroup: template.group, kind: template.kind, name: machine } } },
  },
});
/** All that the topology wants, as it exists. */
export const all: CurrentState = {
  infrastructure: existing(kindOf(OpenStackCluster), "web").object,
  controlPlane: controlPlane("cp-machine"),
  deployments: [deployment()],
  pools: [machinePool()],
  poolObjects: [existing(bootstrap, "p-config"), existing(template, "p-machine")],
  sets: [],
  machines: [],
  healthChecks: [
    existing(checks, "web-a").object as MachineHealthCheck,
    existing(checks, "web-cp").object as MachineHealthCheck,
  ],
  templates: [existing(template, "cp-machine"), existing(bootstrap, "a-config"), existing(template, "a-machine")],
};
/** There is no difference. */
export const same: Difference = { spec: false, metadata: false };
/** All that the topology wants, in the order in which it is created. */
export const everything: readonly MadeObject[] = [
  desired.infrastructure,
  desired.controlPlane.machineTemplate,
  desired.controlPlane.object,
  desired.controlPlane.healthCheck,
  workers.bootstrap,
  workers.infrastructure,
  workers.deployment,
  workers.healthCheck,
  pool.bootstrap,
  pool.infrastructure,
  pool.pool,
].filter((one) => one !== undefined);
/** No differences but these, by "Kind name"; undefined: the object does not exist. */
export const differences = (
  other: Readonly<Record<string, Difference | undefined>> = {},
): ReadonlyMap<string, Difference> =>
  new Map(
    everything.flatMap(({ kind, object }): [string, Difference][] => {
      const key = `${kind.kind} ${object.metadata.name}`;
      const difference = key in other ? other[key] : same;
      return difference ? [[idOf(kind, object), difference]] : [];
    }),
  );

/** What differs from a topology that is settled. */
export type Change = Partial<Omit<Observed, "current" | "desired" | "hooks">> & {
  readonly current?: Partial<CurrentState>;
  readonly desired?: Partial<Desired>;
  readonly hooks?: Partial<HookState>;
};
/** A settled topology with a change. */
export const observed = ({ current, desired: wanted, hooks, ...more }: Change): Observed => ({
  cluster: cluster(),
  kinds: {} as Observed["kinds"],
  differences: differences(),
  ...more,
  hooks: { ...noHooks, ...hooks },
  current: { ...all, ...current },
  desired: { ...desired, ...wanted },
});
/** A step in words. */
export const shown = (step: TopologyStep): string => {
  if (step.type === "delete") return `delete ${step.resource.kind} ${step.key.namespace}/${step.key.name} ${step.uid}`;
  if (step.type !== "apply") return step.type;
  const { kind, object } = step.made;
  return `${step.why} ${kind.kind} ${object.metadata.name}${step.replaces === undefined ? "" : ` for ${step.replaces}`}`;
};
