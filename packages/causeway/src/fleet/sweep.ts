import { messageOf, shortList, type Clock, type Log } from "@causeway/foundation";
import { sweepAbandoned, type ProjectListings, type Swept } from "@causeway/cloud-controller-manager";
import { resolveIdentity } from "@causeway/cluster-api-openstack";
import type { Cluster, HostedControlPlane, OpenStackCluster } from "@causeway/api";
import type { EventRecorder, Informers, KubeObject } from "@causeway/kubernetes";
import type { CloudPool } from "@causeway/openstack";
import { cloudNameOf } from "./member.ts";

/** The load balancers of a cluster whose API is gone, as far as they were swept. */
export interface Sweep {
  /** A sweep is under way. */
  isRunning: boolean;
  /** When the first one began (ms since epoch). */
  readonly since: number;
  /** When the next one may begin. */
  again: number;
  /** When the last one ended: what it removed is in no listing that is read later. */
  ended?: number;
  /** Undefined: none has ended. What a sweep removed remains in the account of the next one. */
  swept: readonly Swept[] | undefined;
  /** Why the last one could not be done. */
  error?: string | undefined;
}

/** The cluster that is swept, and with what. */
export interface SweepOf {
  readonly informers: Pick<Informers, "client">;
  readonly clouds: Pick<CloudPool, "get">;
  /** Of projects, for the sweeps of all clusters. */
  readonly listings: ProjectListings;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<EventRecorder, "event">;
  readonly cluster: Cluster;
  readonly controlPlane: HostedControlPlane;
  readonly infrastructure: OpenStackCluster;
}

/** Milliseconds between two sweeps of one cluster: as long as a listing is used, so that sweeps share it. */
const PAUSE = 60_000;

/** Sweeps once, and notes in `sweep` what became of it: what is left to do is reported once. Never throws. */
export async function runSweep(sweep: Sweep, of: SweepOf, signal: AbortSignal): Promise<void> {
  const { informers, clouds, listings, clock, cluster, infrastructure } = of;
  const before = problemOf(sweep);
  const notBefore = sweep.ended ?? 0;
  sweep.isRunning = true;
  try {
    const config = await resolveIdentity({ client: informers.client, owner: infrastructure }, signal);
    const { cloud } = clouds.get(config);
    const networkId = ownNetworkOf(infrastructure);
    const place = `${config.authUrl} ${config.region ?? ""}`;
    const read = (stop: AbortSignal) => listings.read({ cloud, place, notBefore }, stop);
    const known = { networkId, proven: failedOf(sweep), read };
    const swept = await sweepAbandoned({ cloud, clusterName: cloudNameOf(cluster), ...known, clock }, signal);
    const seen = new Set(swept.map(({ id }) => id));
    const gone = (sweep.swept ?? []).filter(({ id, outcome }) => outcome === "removed" && !seen.has(id));
    [sweep.swept, sweep.error] = [[...gone, ...swept], undefined];
  } catch (error) {
    sweep.error = messageOf(error);
  } finally {
    sweep.ended = clock.now();
    sweep.again = clock.now() + PAUSE;
    sweep.isRunning = false;
  }
  const problem = problemOf(sweep);
  if (problem !== undefined && problem !== before && !signal.aborted) recordProblem(problem, of);
}

/** What the sweeps before could not remove, and would have. */
function failedOf({ swept = [] }: Sweep): ReadonlySet<string> {
  return new Set(swept.filter(({ outcome }) => outcome === "failed").map(({ id }) => id));
}

/** The network that was made for the cluster; undefined: it was given one, which other clusters may use, too. */
function ownNetworkOf({ spec, status }: OpenStackCluster): string | undefined {
  return (spec.managedSubnets ?? []).length === 0 ? undefined : (status?.network?.id ?? "");
}

/** Why the control plane is held still; undefined: no call of the last sweep failed. */
function problemOf({ swept, error }: Sweep): string | undefined {
  const failed = (swept ?? []).filter(({ outcome }) => outcome === "failed");
  return error ?? (failed.length === 0 ? undefined : linesOf(failed));
}

function recordProblem(problem: string, { log, events, cluster, controlPlane }: SweepOf): void {
  const { namespace, name } = cluster.metadata;
  log.warn("load balancers of a cluster without an API are not swept yet", {
    cluster: `${namespace}/${name}`,
    problem,
  });
  const message = `the API of the cluster cannot be reached, and its load balancers cannot be deleted without it yet, which is tried again: ${problem}`;
  for (const object of [controlPlane, cluster])
    events.event(object, { type: "Warning", reason: "SweepFailed", message });
}

/** Lines of an account: what was removed, what was kept and why, what failed. */
const SHOWN = 20;

/** An event for the control plane and for its Cluster: what became of load balancers whose API is gone. */
export function recordAccount(
  events: Pick<EventRecorder, "event">,
  {
    cluster,
    controlPlane,
    sweep,
  }: { cluster: Cluster | undefined; controlPlane: HostedControlPlane; sweep: Sweep | undefined },
): void {
  const message = `the API of the cluster could not be reached, ${accountOf(sweep)}`;
  const objects: readonly KubeObject[] = [controlPlane, ...(cluster ? [cluster] : [])];
  for (const object of objects) events.event(object, { type: "Warning", reason: "SweptWithoutAPI", message });
}

function accountOf(sweep: Sweep | undefined): string {
  if (sweep?.swept === undefined)
    return "and its load balancers were not searched, since its OpenStackCluster, which has the credentials, is gone: delete in the cloud what is left of them";
  const account = sweep.swept.length === 0 ? "nothing of them was found" : linesOf(sweep.swept);
  return `so that its load balancers were searched by name in the cloud: ${account}`;
}

function linesOf(swept: readonly Swept[]): string {
  const lines = swept.map(({ kind, name, id, outcome, kept, error }) => {
    const why = kept ?? error;
    return `${kind} ${name} (${id}) ${outcome}${why === undefined ? "" : `: ${why}`}`;
  });
  return shortList(lines, SHOWN, { separator: "; " });
}
