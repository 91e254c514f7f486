import type { OpenStackCluster, OpenStackMachine, OpenStackServer } from "@causeway/api";
import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";
import type * as OpenStack from "@causeway/openstack";
import type { ClusterStep, ConditionType } from "./steps.ts";
import type { Hold, IdentityState } from "../identity/state.ts";
import type { NameIndex } from "../resources/of-name.ts";

/** The part of a project that a cluster can be concerned with, as the informers hold it. */
export interface ClusterCloud {
  readonly projectId: string;
  /** "region/project". */
  readonly identity: string;
  readonly networks: readonly OpenStack.Network[];
  readonly subnets: readonly OpenStack.Subnet[];
  readonly routers: readonly OpenStack.Router[];
  /** All of them; a plan that needs few finds these by `portIndex`. */
  readonly ports: readonly OpenStack.Port[];
  /** The same ports, found without reading all of them; undefined: they are few. */
  readonly portIndex?: PortIndex;
  readonly securityGroups: readonly OpenStack.SecurityGroup[];
  /** Networks, subnets, routers and security groups by their names; undefined: the lists are read. */
  readonly nameIndex?: NameIndex | undefined;
  readonly floatingIps: readonly OpenStack.FloatingIp[];
  readonly loadBalancing: LoadBalancing;
  readonly zones: readonly OpenStack.AvailabilityZone[];
}

/** Ports by their IDs, and by the devices that they are on: one project can have those of a thousand clusters. */
export interface PortIndex {
  readonly get: (id: string) => OpenStack.Port | undefined;
  readonly onDevice: (id: string) => readonly OpenStack.Port[];
}

/**
 * The load balancers of the cluster's name with their listeners and pools, and the members of the cluster's pools.
 * While the cluster is deleted: all load balancers of the project, and nothing below them.
 */
export interface LoadBalancing {
  /** False: the catalog has no load-balancer service. */
  readonly available: boolean;
  /** Names of the providers; requested only when the spec names one. */
  readonly providers: readonly string[];
  readonly loadBalancers: readonly OpenStack.LoadBalancer[];
  readonly listeners: readonly OpenStack.Listener[];
  readonly pools: readonly OpenStack.Pool[];
  /** Members of our pools, by pool. */
  readonly members: ReadonlyMap<string, readonly OpenStack.Member[]>;
  /** Names of the providers that have refused a health monitor. */
  readonly withoutMonitors: readonly string[];
}

/** Everything that the planner reads. */
export interface Observed {
  readonly object: OpenStackCluster;
  /** The owning Cluster's name; undefined while it has none. */
  readonly clusterName: string | undefined;
  readonly paused: boolean;
  readonly identity: IdentityState<ClusterCloud>;
  readonly machines: readonly OpenStackMachine[];
  /** Names of those of the control plane that leave it before they are deleted. */
  readonly leaving?: ReadonlySet<string> | undefined;
  /** What the owning Cluster has for a control plane. */
  readonly controlPlane?: ControlPlaneOwner | undefined;
  /** The OpenStackServer of the cluster's bastion. */
  readonly bastion?: OpenStackServer | undefined;
  /** The ranges that the Cluster reserves for Services and Pods: no subnet may overlap them. */
  readonly reserved?: readonly ReservedRange[];
  /** The refusal of an earlier attempt, while it is too soon to retry. */
  readonly hold?: Hold | undefined;
  /** The object or its Cluster is being deleted. */
  readonly isLeaving?: boolean;
}

/** A spec that can be satisfied, its cloud and its names: what the parts of the planner work on. */
export interface ClusterContext {
  readonly object: OpenStackCluster;
  readonly cloud: ClusterCloud;
  readonly crn: string;
  readonly tags: readonly string[];
  readonly machines: readonly OpenStackMachine[];
  readonly leaving?: ReadonlySet<string> | undefined;
  readonly reserved: readonly ReservedRange[];
  readonly controlPlane?: ControlPlaneOwner | undefined;
  readonly clusterName: string;
  readonly bastion?: OpenStackServer | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The controlPlaneRef of the owning Cluster: what a control plane without machines is recognised by. */
export interface ControlPlaneOwner {
  readonly kind: string;
  readonly name: string;
}

/** One range of spec.clusterNetwork of the owning Cluster, such as 10.96.0.0/12 for Services. */
export interface ReservedRange {
  /** "service" or "pod". */
  readonly use: string;
  readonly cidr: string;
}

/** One part of a plan: what it found out, and what it wants done. */
export interface Part {
  readonly finding: WantedCondition<ConditionType>;
  readonly steps: readonly ClusterStep[];
  readonly wait?: string;
  /** What it lacks comes with a step of another part: the spec can be satisfied. */
  readonly waitsForOthers?: true;
  readonly refresh?: ListNames;
  readonly events?: readonly PlannedEvent[];
}

/** Which lists of the cloud are worth reading in a moment, since what they wait for changes without a step of ours. */
export type ListNames = readonly ("listeners" | "networks" | "pools" | "ports")[];

/** A condition with status True. */
export function found(type: ConditionType, reason: string, message?: string): WantedCondition<ConditionType> {
  return { type, status: "True", reason, ...(message === undefined ? {} : { message }) };
}

/** A condition with status False: `reason` in CamelCase, `message` for users. */
export function missing(type: ConditionType, reason: string, message: string): WantedCondition<ConditionType> {
  return { type, status: "False", reason, message };
}
