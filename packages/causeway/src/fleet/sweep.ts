import { messageOf, type Clock } from "@causeway/foundation";
import { sweepAbandoned, type Swept } from "@causeway/cloud-controller-manager";
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
  /** Undefined: none has ended. What a sweep removed remains in the account of the next one. */
  swept: readonly Swept[] | undefined;
  /** Why the last one could not be done. */
  error?: string | undefined;
}

/** The cluster that is swept, and with what. */
export interface SweepOf {
  readonly informers: Informers;
  readonly clouds: CloudPool;
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly infrastructure: OpenStackCluster;
}

/** Milliseconds between two sweeps of one cluster. */
const PAUSE = 30_000;

/** Sweeps once, and notes in `sweep` what became of it. Never throws. */
export async function runSweep(sweep: Sweep, of: SweepOf, signal: AbortSignal): Promise<void> {
  const { informers, clouds, clock, cluster, infrastructure } = of;
  sweep.isRunning = true;
  try {
    const config = await resolveIdentity({ client: informers.client, owner: infrastructure }, signal);
    const { cloud } = clouds.get(config);
    const networkId = infrastructure.status?.network?.id ?? "";
    const swept = await sweepAbandoned({ cloud, clusterName: cloudNameOf(cluster), networkId, clock }, signal);
    const seen = new Set(swept.map(({ id }) => id));
    const before = (sweep.swept ?? []).filter(({ id, outcome }) => outcome === "removed" && !seen.has(id));
    [sweep.swept, sweep.error] = [[...before, ...swept], undefined];
  } catch (error) {
    sweep.error = messageOf(error);
  } finally {
    sweep.again = clock.now() + PAUSE;
    sweep.isRunning = false;
  }
}

/** Lines of an account: what was removed, what was kept and why, what failed. */
const SHOWN = 20;

/** An event for the control plane and for its Cluster: what became of load balancers whose API is gone. */
export function recordAccount(
  events: EventRecorder,
  {
    cluster,
    controlPlane,
    sweep,
  }: { cluster: Cluster | undefined; controlPlane: HostedControlPlane; sweep: Sweep | undefined },
): void {
  const message = accountOf(sweep?.swept ?? []);
  const objects: readonly KubeObject[] = [controlPlane, ...(cluster ? [cluster] : [])];
  for (const object of objects) events.event(object, { type: "Warning", reason: "SweptWithoutAPI", message });
}

function accountOf(swept: readonly Swept[]): string {
  const lines = swept.map(({ kind, name, id, outcome, kept, error }) => {
    const why = kept ?? error;
    return `${kind} ${name} (${id}) ${outcome}${why === undefined ? "" : `: ${why}`}`;
  });
  const more = lines.length > SHOWN ? [`and ${lines.length - SHOWN} more`] : [];
  const account = lines.length === 0 ? "nothing of them was found" : [...lines.slice(0, SHOWN), ...more].join("; ");
  return `the API of the cluster could not be reached, so that its load balancers were searched by name in the cloud: ${account}`;
}
