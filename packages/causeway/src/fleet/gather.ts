import { Cluster, HostedControlPlane, OpenStackCluster } from "@causeway/api";
import type { Clock } from "@causeway/foundation";
import type { Informer, Informers, ObjectKey, RemoteCluster, RemoteClusters } from "@causeway/kubernetes";
import { hasIngresses, identityDigest, loadBalancersDigest, type Member } from "./member.ts";
import type { Observed, ObservedMember, ObservedSweep } from "./plan.ts";
import type { Sweep } from "./sweep.ts";

/** Where the state of workload clusters and of their cloud controller managers is read. */
export interface GatherFrom {
  readonly informers: Informers;
  readonly clusters: Informer<Cluster>;
  readonly infrastructures: Informer<OpenStackCluster>;
  readonly controlPlanes: Informer<HostedControlPlane>;
  readonly remoteClusters: Pick<RemoteClusters, "get">;
  /** By "namespace/name". */
  readonly members: ReadonlyMap<string, Member>;
  /** Clusters of which a Secret was written since their member was checked. */
  readonly changed: Set<string>;
  readonly provider: string | undefined;
  /** Since when the API of a deleted cluster cannot be reached, by "namespace/name". */
  readonly unreached: Map<string, number>;
  readonly sweeps: Map<string, Sweep>;
  readonly clock: Pick<Clock, "now">;
}

/** The caches that `gather` reads. */
export function openCaches(informers: Informers): Pick<GatherFrom, "clusters" | "infrastructures" | "controlPlanes"> {
  return {
    clusters: informers.for(Cluster),
    infrastructures: informers.for(OpenStackCluster),
    controlPlanes: informers.for(HostedControlPlane),
  };
}

/** From caches; credentials are read from the server, and only after a Secret of the cluster was written. */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { clusters, infrastructures, controlPlanes, remoteClusters, members } = from;
  const cluster = clusters.get(key);
  const remote = remoteClusters.get(key);
  const member = members.get(`${key.namespace}/${key.name}`);
  const id = `${key.namespace}/${key.name}`;
  // Also of one that is gone: nothing of it is known of another cluster of its name.
  if (cluster?.metadata.deletionTimestamp === undefined || remote !== undefined) {
    from.unreached.delete(id);
    from.sweeps.delete(id);
  } else if (!from.unreached.has(id)) from.unreached.set(id, from.clock.now());
  if (!cluster && !member) return undefined;
  const sweep = from.sweeps.get(id);
  const name = cluster?.spec.infrastructureRef?.name ?? "";
  const infrastructure = infrastructures.get({ namespace: key.namespace, name });
  return {
    cluster,
    isConnected: remote !== undefined,
    controlPlane: cluster && controlPlaneOf(controlPlanes, cluster),
    infrastructure,
    hasIngresses: cluster !== undefined && hasIngresses(cluster),
    unreachedSince: from.unreached.get(id),
    sweep: sweep && observedSweep(sweep),
    member: member && (await observedMember(from, { member, cluster, remote, infrastructure }, signal)),
  };
}

function observedSweep({ isRunning, since, again, swept, error }: Sweep): ObservedSweep {
  const left = (swept ?? []).filter(({ outcome, kept }) => outcome === "failed" || kept?.startsWith(PENDING));
  const isPending = error === undefined && swept !== undefined && left.every(({ outcome }) => outcome === "kept");
  return { isRunning, since, again, isPending, isDone: !isRunning && isPending && left.length === 0 };
}

/** Why a sweep keeps what the cloud is changing. */
const PENDING = "it is PENDING_";

interface Of {
  readonly member: Member;
  readonly cluster: Cluster | undefined;
  readonly remote: RemoteCluster | undefined;
  readonly infrastructure: OpenStackCluster | undefined;
}

async function observedMember(from: GatherFrom, of: Of, signal: AbortSignal): Promise<ObservedMember> {
  const { member, cluster, remote } = of;
  const isDisconnected = remote !== member.remote;
  const { isReleasing, released } = member;
  // One that is stopped starts with what is there by then.
  const isOutdated =
    cluster !== undefined && !isDisconnected && (await isOutdatedFor(from, { ...of, cluster }, signal));
  return { isDisconnected, isOutdated, isReleasing, released };
}

/** With credentials that are revoked no node and no load balancer would be served any longer. */
async function isOutdatedFor(
  { informers, changed, provider }: GatherFrom,
  { member, cluster, infrastructure }: Of & { readonly cluster: Cluster },
  signal: AbortSignal,
): Promise<boolean> {
  const wasWritten = changed.delete(`${cluster.metadata.namespace}/${cluster.metadata.name}`);
  if (wasWritten && infrastructure) {
    // A Secret that cannot be read keeps the member: it is written again.
    const now = await identityDigest({ informers, infrastructure }, signal).catch(() => undefined);
    if (now !== undefined && now !== member.identity) return true;
  }
  return member.loadBalancers !== loadBalancersDigest({ cluster, provider });
}

function controlPlaneOf(
  controlPlanes: Informer<HostedControlPlane>,
  { metadata: { namespace = "" }, spec: { controlPlaneRef: ref } }: Cluster,
): HostedControlPlane | undefined {
  if (ref?.kind !== HostedControlPlane.kind) return undefined;
  return controlPlanes.get({ namespace, name: ref.name });
}
