import type { Cluster, HostedControlPlane, OpenStackCluster } from "@causeway/api";
import { isMoving } from "@causeway/cluster-api";
import type { Plan } from "@causeway/kubernetes";
import type { Step } from "./steps.ts";

/** Holds a control plane until the load balancers of its Services are gone: only its own API knows them all. */
export const fleetFinalizer = "cloud-controller-manager.causeway.dev/load-balancers";

/** What the plan reads of a cloud controller manager that runs. */
export interface ObservedMember {
  /** The connection that it works on is not the cluster's any longer. */
  readonly isDisconnected: boolean;
  /** It works with other credentials, or other settings of load balancers, than the cluster has now. */
  readonly isOutdated: boolean;
  readonly isReleasing: boolean;
  /** The cluster has no load balancer any longer. */
  readonly released: boolean;
}

/** What the plan of one workload cluster is made from. */
export interface Observed {
  readonly cluster: Cluster | undefined;
  readonly isConnected: boolean;
  /** The one that is hosted; undefined: another kind, or none. */
  readonly controlPlane: HostedControlPlane | undefined;
  readonly infrastructure: OpenStackCluster | undefined;
  /** Ingresses of the cluster get load balancers, in its subnet. */
  readonly hasIngresses: boolean;
  readonly member: ObservedMember | undefined;
  /** Since when the API of a deleted cluster cannot be reached, as far as this process knows (ms since epoch). */
  readonly unreachedSince?: number | undefined;
  /** What became of its load balancers without it. */
  readonly sweep?: ObservedSweep | undefined;
}

/** Where the sweep of a cluster is whose API is gone. Times are milliseconds since epoch. */
export interface ObservedSweep {
  readonly isRunning: boolean;
  readonly since: number;
  readonly again: number;
  /** Everything that was found is removed, or is kept for good. */
  readonly isDone: boolean;
  /** What is left cannot be changed now, such as a load balancer that the cloud is changing. */
  readonly isPending: boolean;
}

type FleetPlan = Plan<Step, undefined>;

const NOTHING: FleetPlan = { steps: [], status: undefined };
const RETRY = 2_000;
/** Milliseconds without the API of a deleted cluster after which its load balancers are swept by name. */
export const ABANDONED = 15 * 60_000;
/** Milliseconds that what the cloud is changing is waited for: the infrastructure object names it then. */
export const PENDING_LIMIT = 30 * 60_000;

/**
 * A connected cluster has a cloud controller manager that works with what the cluster has now. Of a deleted one the
 * load balancers go first, then its control plane may.
 */
export function plan(observed: Observed, now: number): FleetPlan {
  const { cluster, isConnected, controlPlane, member } = observed;
  if (member && (member.isDisconnected || cluster === undefined)) return steps({ type: "stop-member" });
  // The other management cluster has one, or gets one.
  if (cluster !== undefined && isMoving(cluster)) return member ? steps({ type: "stop-member" }) : NOTHING;
  if (cluster !== undefined && member?.isOutdated === true) return steps({ type: "stop-member" });
  if (cluster === undefined || (controlPlane && !isInitialized(controlPlane))) return NOTHING;
  if (member === undefined) return isConnected ? planStart(observed, now) : planUnreached(observed, now);
  if (cluster.metadata.deletionTimestamp === undefined) return NOTHING;
  if (!member.released) {
    const release: Step[] = member.isReleasing ? [] : [{ type: "release-load-balancers" }];
    return { ...steps(...release), wait: { for: "the load balancers to be deleted", until: now + RETRY } };
  }
  return controlPlane && isHeld(controlPlane) ? steps({ type: "release-control-plane" }) : NOTHING;
}

function planStart({ infrastructure, hasIngresses, controlPlane }: Observed, now: number): FleetPlan {
  const wait = (what: string): FleetPlan => ({ ...NOTHING, wait: { for: what, until: now + RETRY } });
  if (infrastructure === undefined) return wait("the OpenStackCluster");
  // Their load balancers are in its subnet.
  if (hasIngresses && infrastructure.status?.network?.subnets?.[0] === undefined) return wait("the cluster's subnet");
  const start: Step = { type: "start-member" };
  if (controlPlane === undefined || isHeld(controlPlane)) return steps(start);
  // It was released: nothing is left to delete.
  if (controlPlane.metadata.deletionTimestamp !== undefined) return NOTHING;
  return steps({ type: "hold-control-plane" }, start);
}

/** A deletion ends also where the API that knows the load balancers is gone for good. */
function planUnreached({ cluster, controlPlane, infrastructure, sweep, unreachedSince = 0 }: Observed, now: number) {
  if (cluster?.metadata.deletionTimestamp === undefined || cluster.spec.paused === true) return NOTHING;
  if (!controlPlane || !isHeld(controlPlane)) return NOTHING;
  const until = unreachedSince + ABANDONED;
  if (now < until)
    return { ...NOTHING, wait: { for: "the API of the cluster, which knows its load balancers", until } };
  const isOver = sweep?.isPending === true && now >= sweep.since + PENDING_LIMIT;
  // Without the object there are no credentials, and its deletion has ended.
  if (infrastructure === undefined || sweep?.isDone === true || (isOver && sweep?.isRunning === false))
    return steps({ type: "release-control-plane" });
  const isDue = sweep === undefined || (!sweep.isRunning && now >= sweep.again);
  const wait = { for: "the load balancers to be swept", until: now + RETRY };
  return { ...steps(...(isDue ? ([{ type: "sweep-load-balancers" }] as const) : [])), wait };
}

function steps(...list: readonly Step[]): FleetPlan {
  return { steps: list, status: undefined };
}

function isHeld({ metadata }: HostedControlPlane): boolean {
  return metadata.finalizers?.includes(fleetFinalizer) === true;
}

function isInitialized(controlPlane: HostedControlPlane): boolean {
  return controlPlane.status?.initialization?.controlPlaneInitialized === true;
}
