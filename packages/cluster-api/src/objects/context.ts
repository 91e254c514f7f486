import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  Cluster,
  ClusterClass,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  ExtensionConfig,
  KubeadmConfig,
  KubeadmControlPlane,
  labels,
  Machine,
  MachineDeployment,
  MachineDrainRule,
  MachineHealthCheck,
  MachinePool,
  MachineSet,
  type Kind,
} from "@causeway/api";
import {
  controllerOf,
  keyOf,
  Secret,
  type EventRecorder,
  type Informer,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type RemoteCluster,
  type RemoteClusters,
  type Shards,
} from "@causeway/kubernetes";
import {
  createKindTable,
  referenceIndex,
  type ContractReference,
  type KindTable,
  type Referred,
} from "../contract/kind-table.ts";
import { isProviderKind, type ProviderObject } from "../contract/provider-object.ts";
import { HookCalls } from "../runtime/calls.ts";
import { NamedCalls } from "../runtime/named-calls.ts";
import { createExtensionClient, type ExtensionClient } from "../runtime/client.ts";
import type { ControlPlaneAccess } from "./access.ts";
import { UnreachableTracker } from "./unreachable-tracker.ts";
import type { NamesInUse } from "./names.ts";
import { TopologyReports } from "./topology-reports.ts";
import { PendingDeletions } from "./pending-deletions.ts";

/** The management cluster, access to workload clusters, and switches of the controllers. */
export interface ClusterApiOptions {
  /** Of the management cluster; their creator runs them. */
  readonly informers: Informers;
  /** Run by their creator. */
  readonly remoteClusters: RemoteClusters;
  /** The kinds that references may name: those of bootstrap, control plane and infrastructure providers. */
  readonly kinds: readonly Kind<KubeObject>[];
  /** Which controllers run: all by default. */
  readonly providers?: readonly ProviderPart[];
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  /** The namespaces whose clusters this process works on. Default: all. */
  readonly shards?: Shards | undefined;
  /**
   * How etcd and the certificates on control-plane machines are reached. Default: by port-forwarding through the
   * workload cluster.
   */
  readonly access?: ControlPlaneAccess;
  /** How runtime extensions are called. Default: over HTTPS. */
  readonly extensions?: ExtensionClient;
}

/** What the controllers share: the caches with their indexes, and the connections to workload clusters. */
export interface Context extends Omit<ClusterApiOptions, "kinds"> {
  readonly kinds: KindTable;
  readonly clusters: Informer<Cluster>;
  readonly classes: Informer<ClusterClass>;
  readonly machines: Informer<Machine>;
  readonly sets: Informer<MachineSet>;
  readonly deployments: Informer<MachineDeployment>;
  readonly pools: Informer<MachinePool>;
  readonly resourceSets: Informer<ClusterResourceSet>;
  readonly bindings: Informer<ClusterResourceSetBinding>;
  readonly healthChecks: Informer<MachineHealthCheck>;
  readonly drainRules: Informer<MachineDrainRule>;
  readonly configs: Informer<KubeadmConfig>;
  readonly controlPlanes: Informer<KubeadmControlPlane>;
  /** Secrets that belong to clusters. */
  readonly secrets: Informer<Secret>;
  readonly pendingDeletions: PendingDeletions;
  readonly unreachable: UnreachableTracker;
  readonly topologies: TopologyReports;
  readonly extensionConfigs: Informer<ExtensionConfig>;
  readonly hooks: HookCalls;
  /** Handlers that ClusterClasses name. */
  readonly named: NamedCalls;
}

/** The providers of Cluster API that are controllers of this package. */
export type ProviderPart = "core" | "bootstrap" | "control-plane";

/** Whether the controllers of this provider run here. */
export function runs({ providers }: Pick<ClusterApiOptions, "providers">, part: ProviderPart): boolean {
  return providers === undefined || providers.includes(part);
}

/** Names of indexes. */
export const by = {
  cluster: "cluster",
  controller: "controller",
  reference: "reference",
  node: "node",
  providerID: "providerID",
  uid: "uid",
  class: "class",
  topology: "topology",
};

/** Adds all indexes; informers are started by who created them. */
export function createContext(options: ClusterApiOptions): Context {
  const { informers } = options;
  let hooks: HookCalls | undefined;
  let named: NamedCalls | undefined;
  const extensions = options.extensions ?? createExtensionClient();
  const context: Context = {
    ...options,
    extensions,
    // Only the core provider asks extensions.
    get extensionConfigs() {
      return informers.for(ExtensionConfig);
    },
    get hooks() {
      const { clock } = options;
      const configs = informers.for(ExtensionConfig);
      return (hooks ??= new HookCalls({ configs, kubernetes: informers.client, extensions, clock }));
    },
    get named() {
      const { clock } = options;
      const configs = informers.for(ExtensionConfig);
      return (named ??= new NamedCalls({ configs, kubernetes: informers.client, extensions, clock }));
    },
    kinds: createKindTable(options.kinds),
    clusters: informers.for(Cluster),
    machines: informers.for(Machine),
    sets: informers.for(MachineSet),
    deployments: informers.for(MachineDeployment),
    pools: informers.for(MachinePool),
    resourceSets: informers.for(ClusterResourceSet),
    bindings: informers.for(ClusterResourceSetBinding),
    healthChecks: informers.for(MachineHealthCheck),
    drainRules: informers.for(MachineDrainRule),
    // Only the core provider reads it.
    get classes() {
      return informers.for(ClusterClass);
    },
    // Only the bootstrap provider reads it: a cluster with another provider has no such kind.
    get configs() {
      return informers.for(KubeadmConfig);
    },
    get controlPlanes() {
      return informers.for(KubeadmControlPlane);
    },
    secrets: informers.for(Secret, { labelSelector: labels.clusterName }),
    pendingDeletions: new PendingDeletions(),
    unreachable: new UnreachableTracker(),
    topologies: new TopologyReports(),
  };
  addIndexes(context);
  return context;
}

function addIndexes(context: Context): void {
  const { informers, clusters, machines, sets, deployments, pools, healthChecks } = context;
  const controller = (object: KubeObject) => {
    const uid = controllerOf(object)?.uid;
    return uid ? [uid] : [];
  };
  informers.index(clusters, {
    [by.reference]: (c) => references(c, [c.spec.infrastructureRef, c.spec.controlPlaneRef]),
    [by.class]: (c) => classOf(c),
  });
  if (runs(context, "core")) {
    for (const kind of templateKinds(context)) informers.index(informers.for(kind), { [by.topology]: topologyOf });
    for (const kind of poolKinds(context)) informers.index(informers.for(kind), { [by.topology]: topologyOfPool });
  }
  informers.index(machines, {
    [by.cluster]: (m) => [clusterIndex(m)],
    [by.controller]: controller,
    [by.reference]: (m) => references(m, [m.spec.infrastructureRef, m.spec.bootstrap.configRef]),
    [by.node]: (m) => (m.status?.nodeRef ? [`${clusterIndex(m)}/${m.status.nodeRef.name}`] : []),
    [by.providerID]: (m) => (m.spec.providerID ? [`${clusterIndex(m)}/${m.spec.providerID}`] : []),
  });
  informers.index(sets, {
    [by.cluster]: (s) => [clusterIndex(s)],
    [by.controller]: controller,
    [by.reference]: (s) =>
      references(s, [s.spec.template.spec.infrastructureRef, s.spec.template.spec.bootstrap.configRef]),
  });
  informers.index(pools, {
    [by.cluster]: (p) => [clusterIndex(p)],
    [by.reference]: (p) =>
      references(p, [p.spec.template.spec.infrastructureRef, p.spec.template.spec.bootstrap.configRef]),
  });
  informers.index(healthChecks, { [by.cluster]: (check) => [clusterIndex(check)] });
  informers.index(deployments, { [by.cluster]: (d) => [clusterIndex(d)] });
  if (runs(context, "bootstrap"))
    informers.index(context.configs, { [by.uid]: ({ metadata }) => (metadata.uid ? [metadata.uid] : []) });
}

function references(object: KubeObject, targets: readonly (ContractReference | undefined)[]): string[] {
  const namespace = object.metadata.namespace ?? "";
  return targets.flatMap((target) => (target ? [referenceIndex(namespace, target)] : []));
}

/** The index value of the ClusterClass of a Cluster. */
function classOf({ metadata, spec }: Cluster): string[] {
  if (!spec.topology) return [];
  const { name, namespace = metadata.namespace ?? "" } = spec.topology.classRef;
  return [indexOfCluster({ namespace, name })];
}

/** The index value of the Cluster whose topology an object was made for. */
function topologyOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[labels.clusterName];
  const isOwned = metadata.labels?.[labels.topologyOwned] !== undefined;
  return isOwned && name !== undefined ? [indexOfCluster({ namespace: metadata.namespace ?? "", name })] : [];
}

/** The same of an object that was made for a pool of a topology. */
function topologyOfPool(object: KubeObject): string[] {
  return object.metadata.labels?.[labels.topologyPoolName] === undefined ? [] : topologyOf(object);
}

/** An object that names its Cluster. */
export interface Member extends KubeObject {
  readonly spec: { readonly clusterName: string };
}

/** The Cluster that an object belongs to. */
export function clusterKeyOf(object: Member): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.spec.clusterName };
}

/** Its value in the index `by.cluster`. */
export function clusterIndex(object: Member): string {
  return indexOfCluster(clusterKeyOf(object));
}

/** The value in `by.cluster` of what belongs to a Cluster: `default/web`. */
export function indexOfCluster(key: ObjectKey): string {
  return `${key.namespace}/${key.name}`;
}

/** The object that a reference points to, including requested deletions. */
export function lookUp(
  { kinds, informers, pendingDeletions, clock }: Context,
  namespace: string,
  reference: ContractReference,
): Referred<ProviderObject> {
  const kind = kinds.find(reference);
  const found = kind && informers.for(kind).get({ namespace, name: reference.name });
  return { reference, kind, object: found && pendingDeletions.view(found, clock.now()) };
}

/**
 * The names of a kind's objects in a namespace. A set of them would be made of all objects, for each reconcile of each
 * of their owners.
 */
export function namesIn(informer: Pick<Informer<KubeObject>, "get"> | undefined, namespace: string): NamesInUse {
  return { has: (name) => informer?.get({ namespace, name }) !== undefined };
}

/** The kinds that providers bring. */
export function providerKinds({ kinds }: Context): readonly Kind<KubeObject>[] {
  return kinds.kinds.filter(isProviderKind);
}

/** Those of them whose objects are templates. */
export function templateKinds(context: Context): readonly Kind<KubeObject>[] {
  return providerKinds(context).filter((kind) => kind.kind.endsWith("Template"));
}

/** Those whose objects may belong to a pool of a topology: all others. */
export function poolKinds(context: Context): readonly Kind<KubeObject>[] {
  return providerKinds(context).filter((kind) => !kind.kind.endsWith("Template"));
}

/** Keys of the objects in `informer` that belong to a cluster. */
export function membersOf<T extends KubeObject>(informer: Informer<T>, cluster: ObjectKey): ObjectKey[] {
  return informer.byIndex(by.cluster, indexOfCluster(cluster)).map(keyOf);
}

/** Calls back for every connection made and again when it is lost. */
export function onConnectionChange(remotes: RemoteClusters, handler: (remote: RemoteCluster) => void): () => void {
  return remotes.onConnect((remote) => {
    handler(remote);
    remote.signal.addEventListener("abort", () => handler(remote), { once: true });
  });
}
