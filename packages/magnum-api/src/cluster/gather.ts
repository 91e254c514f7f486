import {
  AddonSet,
  Cluster,
  credentialsOf,
  HostedControlPlane,
  KubeadmConfigTemplate,
  labels,
  Machine,
  MachineDeployment,
  MachineHealthCheck,
  MagnumCluster,
  OpenStackCluster,
  OpenStackMachine,
  OpenStackMachineTemplate,
} from "@causeway/api";
import { Secret, type Informer, type Informers, type KubeObject, type ObjectKey } from "@causeway/kubernetes";
import { addonSetNameOf } from "./addons.ts";
import type { Installation } from "./desired.ts";

/** Everything that the plan of one cluster is made from. */
export interface Observed {
  readonly object: MagnumCluster;
  readonly installation: Installation;
  /** The objects of the cluster that are applied, as they are. */
  readonly standing: readonly KubeObject[];
  readonly cluster: Cluster | undefined;
  readonly controlPlane: HostedControlPlane | undefined;
  readonly infrastructure: OpenStackCluster | undefined;
  readonly deployments: readonly MachineDeployment[];
  readonly machines: readonly Machine[];
  readonly servers: readonly OpenStackMachine[];
  /** Its own; others of the cluster are those of the operator. */
  readonly addonSet: AddonSet | undefined;
  readonly hasCredentials: boolean;
  /** What the last probe of its control plane found. */
  readonly probe?: ClusterProbe | undefined;
}

/** "ok", or what is wrong, of the API and of a kubelet that it was to reach. */
export interface ClusterProbe {
  readonly api: string;
  readonly kubelet?: { readonly node: string; readonly state: string };
}

/** The informers that a cluster is gathered from. */
export interface Sources {
  readonly magnum: Informer<MagnumCluster>;
  readonly clusters: Informer<Cluster>;
  readonly controlPlanes: Informer<HostedControlPlane>;
  readonly infrastructures: Informer<OpenStackCluster>;
  readonly deployments: Informer<MachineDeployment>;
  readonly machines: Informer<Machine>;
  readonly servers: Informer<OpenStackMachine>;
  readonly machineTemplates: Informer<OpenStackMachineTemplate>;
  readonly bootstrapTemplates: Informer<KubeadmConfigTemplate>;
  readonly healthChecks: Informer<MachineHealthCheck>;
  readonly addonSets: Informer<AddonSet>;
  readonly secrets: Informer<Secret>;
}

const byCluster = "magnum cluster";

/**
 * Opens the informers of a cluster's objects and indexes them by cluster. Callers share them: each type has one
 * informer.
 */
export function openSources(informers: Informers): Sources {
  const indexed = <T extends KubeObject>(informer: Informer<T>): Informer<T> => {
    informers.index(informer, { [byCluster]: (object: T) => clusterOf(object) });
    return informer;
  };
  return {
    magnum: informers.for(MagnumCluster),
    clusters: informers.for(Cluster),
    controlPlanes: informers.for(HostedControlPlane),
    infrastructures: informers.for(OpenStackCluster),
    deployments: indexed(informers.for(MachineDeployment)),
    machines: indexed(informers.for(Machine)),
    servers: indexed(informers.for(OpenStackMachine)),
    machineTemplates: indexed(informers.for(OpenStackMachineTemplate)),
    bootstrapTemplates: indexed(informers.for(KubeadmConfigTemplate)),
    healthChecks: indexed(informers.for(MachineHealthCheck)),
    addonSets: informers.for(AddonSet),
    secrets: informers.for(Secret, { labelSelector: labels.clusterName }),
  };
}

/** "NAMESPACE/CLUSTER" of an object that has the contract's label. */
function clusterOf({ metadata }: KubeObject): readonly string[] {
  const name = metadata.labels?.[labels.clusterName];
  return name === undefined ? [] : [`${metadata.namespace ?? ""}/${name}`];
}

/** The Machines of a cluster. */
export function machinesOf(sources: Pick<Sources, "machines">, key: ObjectKey): readonly Machine[] {
  return sources.machines.byIndex(byCluster, `${key.namespace}/${key.name}`);
}

/**
 * Reads all that there is of a cluster from the caches; undefined: its MagnumCluster is gone. `probe` is the last
 * result of the health prober for it.
 */
export function gather(
  sources: Sources,
  installation: Installation,
  key: ObjectKey,
  probe?: ClusterProbe,
): Observed | undefined {
  const object = sources.magnum.get(key);
  if (!object) return undefined;
  const index = `${key.namespace}/${key.name}`;
  const of = <T extends KubeObject>(informer: Informer<T>) => informer.byIndex(byCluster, index);
  const deployments = of(sources.deployments);
  const [cluster, controlPlane, infrastructure] = [
    sources.clusters.get(key),
    sources.controlPlanes.get(key),
    sources.infrastructures.get(key),
  ];
  const addonSet = sources.addonSets.get({ namespace: key.namespace, name: addonSetNameOf(key.name) });
  const one = [cluster, controlPlane, infrastructure, addonSet].filter((each) => each !== undefined);
  return {
    object,
    installation,
    standing: [
      ...one,
      ...deployments,
      ...of(sources.machineTemplates),
      ...of(sources.bootstrapTemplates),
      ...of(sources.healthChecks),
    ],
    cluster,
    controlPlane,
    infrastructure,
    deployments,
    machines: of(sources.machines),
    servers: of(sources.servers),
    addonSet,
    hasCredentials: sources.secrets.get({ namespace: key.namespace, name: credentialsOf(key.name) }) !== undefined,
    probe,
  };
}
