import type { Clock, Log, Metrics } from "@causeway/foundation";
import { Cluster, HostedControlPlane, labels, OpenStackCluster } from "@causeway/api";
import {
  addFinalizer,
  removeFinalizer,
  runController,
  Secret,
  watchInformer,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type RemoteCluster,
  type RemoteClusters,
  type Source,
} from "@causeway/kubernetes";
import type { CloudPool } from "@causeway/openstack";
import { hasIngresses, identityDigest, loadBalancersDigest, startMember, type Member } from "./member.ts";

/** Holds a control plane until the load balancers of its Services are gone: only its own API knows them all. */
export const fleetFinalizer = "cloud-controller-manager.causeway.dev/load-balancers";

/** The management cluster, and what all members have in common. */
export interface FleetOptions {
  readonly informers: Informers;
  readonly remoteClusters: RemoteClusters;
  readonly clouds: CloudPool;
  readonly provider: string | undefined;
  /** Installs the Cinder CSI node plugin in each cluster. */
  readonly csiImage?: string | undefined;
  /** False: the clusters run drivers of their own for Cinder volumes. */
  readonly withVolumes: boolean;
  /** Where reconciles that do not converge are counted, of all clusters together. */
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
}

const retryLater = { after: 2_000 };

/**
 * One cloud controller manager for each workload cluster on OpenStack, all in this process, each with clients of its
 * own. When a cluster is deleted its Services' load balancers go first, while its API still serves.
 */
export function createFleet(options: FleetOptions): { run(signal: AbortSignal): Promise<void> } {
  const { informers, remoteClusters, clock, log } = options;
  const clusters = informers.for(Cluster);
  const infrastructures = informers.for(OpenStackCluster);
  const controlPlanes = informers.for(HostedControlPlane);
  const secrets = informers.for(Secret, { labelSelector: labels.clusterName });
  const members = new Map<string, Member>();
  /** Clusters of which a Secret was written since their member was checked. */
  const changed = new Set<string>();

  const reconcile = async (key: ObjectKey, signal: AbortSignal) => {
    const cluster = clusters.get(key);
    const id = `${key.namespace}/${key.name}`;
    const remote = remoteClusters.get(key);
    const member = members.get(id);
    if (member && (remote !== member.remote || !cluster)) {
      members.delete(id);
      await member.stop();
      return { after: 0 };
    }
    if (!cluster) return;
    const controlPlane = controlPlaneOf(controlPlanes.list(key.namespace), cluster);
    if (controlPlane && !isInitialized(controlPlane)) return;
    if (!member && remote) return join({ id, cluster, controlPlane, remote }, signal);
    if (member && (await isOutdated(member, cluster, signal))) {
      members.delete(id);
      await member.stop();
      return { after: 0 };
    }
    if (cluster.metadata.deletionTimestamp === undefined || !member) return;
    member.release();
    if (!member.released) return retryLater;
    if (controlPlane)
      await removeFinalizer(informers.client, HostedControlPlane, controlPlane, { finalizer: fleetFinalizer, signal });
    return;
  };

  const infrastructureOf = (cluster: Cluster) =>
    infrastructures.get({
      namespace: cluster.metadata.namespace ?? "",
      name: cluster.spec.infrastructureRef?.name ?? "",
    });

  /** With credentials that are revoked no node and no load balancer would be served any longer. */
  const isOutdated = async (member: Member, cluster: Cluster, signal: AbortSignal): Promise<boolean> => {
    const id = `${cluster.metadata.namespace}/${cluster.metadata.name}`;
    if (changed.delete(id) && (await hasNewIdentity(member, cluster, signal))) return true;
    return member.loadBalancers !== loadBalancersDigest({ cluster, provider: options.provider });
  };

  /** A Secret that cannot be read keeps the member: it is written again. */
  const hasNewIdentity = async (member: Member, cluster: Cluster, signal: AbortSignal): Promise<boolean> => {
    const infrastructure = infrastructureOf(cluster);
    if (!infrastructure) return false;
    const now = await identityDigest({ informers, infrastructure }, signal).catch(() => undefined);
    return now !== undefined && now !== member.identity;
  };

  const join = async (
    joining: { id: string; cluster: Cluster; controlPlane: HostedControlPlane | undefined; remote: RemoteCluster },
    signal: AbortSignal,
  ) => {
    const { id, cluster, controlPlane, remote } = joining;
    const infrastructure = infrastructureOf(cluster);
    if (!infrastructure) return retryLater;
    // Their load balancers are in its subnet.
    if (hasIngresses(cluster) && infrastructure.status?.network?.subnets?.[0] === undefined) return retryLater;
    if (
      controlPlane?.metadata.deletionTimestamp !== undefined &&
      !controlPlane.metadata.finalizers?.includes(fleetFinalizer)
    )
      return;
    if (controlPlane && controlPlane.metadata.deletionTimestamp === undefined)
      await addFinalizer(informers.client, HostedControlPlane, controlPlane, { finalizer: fleetFinalizer, signal });
    members.set(id, await startMember({ ...options, cluster, infrastructure, remote }, signal));
    return { after: 0 };
  };

  const clusterOf = (controlPlane: HostedControlPlane): ObjectKey[] =>
    clusters
      .list(controlPlane.metadata.namespace)
      .filter((c) => c.spec.controlPlaneRef?.name === controlPlane.metadata.name)
      .map((c) => ({ namespace: c.metadata.namespace ?? "", name: c.metadata.name }));
  const connected: Source = (enqueue) => remoteClusters.onConnect((remote) => enqueue(remote.key));
  const sources = [
    watchInformer(clusters),
    watchInformer(controlPlanes, (change) => clusterOf(change.object)),
    connected,
    watchInformer(secrets, ({ object: { metadata } }) => {
      const name = metadata.labels?.[labels.clusterName];
      if (name === undefined || name === "") return [];
      const key = { namespace: metadata.namespace ?? "", name };
      changed.add(`${key.namespace}/${key.name}`);
      return [key];
    }),
  ];

  return {
    async run(signal) {
      await runController(
        { name: "fleet", reconcile, sources, clock, log, ready: (stop) => informers.whenSynced(stop) },
        signal,
      );
      await Promise.all([...members.values()].map((member) => member.stop()));
    },
  };
}

function controlPlaneOf(
  controlPlanes: readonly HostedControlPlane[],
  cluster: Cluster,
): HostedControlPlane | undefined {
  const ref = cluster.spec.controlPlaneRef;
  return ref?.kind === HostedControlPlane.kind ? controlPlanes.find((c) => c.metadata.name === ref.name) : undefined;
}

function isInitialized(controlPlane: HostedControlPlane): boolean {
  return controlPlane.status?.initialization?.controlPlaneInitialized === true;
}
