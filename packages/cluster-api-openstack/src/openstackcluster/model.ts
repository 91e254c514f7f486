import type { OpenStackCluster, OpenStackMachine } from "@causeway/api";
import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";
import type * as OpenStack from "@causeway/openstack";
import type { Hold, IdentityState } from "../identity/state.ts";

/** The part of a project that a cluster can be concerned with, as the informers hold it. */
export interface ClusterCloud {
  readonly projectId: string;
  /** "region/project". */
  readonly identity: string;
  readonly networks: readonly OpenStack.Network[];
  readonly subnets: readonly OpenStack.Subnet[];
  readonly routers: readonly OpenStack.Router[];
  readonly ports: readonly OpenStack.Port[];
  readonly securityGroups: readonly OpenStack.SecurityGroup[];
  readonly floatingIps: readonly OpenStack.FloatingIp[];
  readonly loadBalancing: LoadBalancing;
  readonly zones: readonly OpenStack.AvailabilityZone[];
}

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
}

/** Everything that the planner reads. */
export interface ClusterObserved {
  readonly object: OpenStackCluster;
  /** The owning Cluster's name; undefined while it has none. */
  readonly clusterName: string | undefined;
  readonly paused: boolean;
  readonly identity: IdentityState<ClusterCloud>;
  readonly machines: readonly OpenStackMachine[];
  /** What the owning Cluster has for a control plane. */
  readonly controlPlane?: ControlPlaneOwner | undefined;
  /** The ranges that the Cluster reserves for Services and Pods: no subnet may overlap them. */
  readonly reserved?: readonly ReservedRange[];
  /** The refusal of an earlier attempt, while it is too soon to retry. */
  readonly hold?: Hold | undefined;
}

/** A spec that can be satisfied, its cloud and its names: what the parts of the planner work on. */
export interface ClusterContext {
  readonly object: OpenStackCluster;
  readonly cloud: ClusterCloud;
  readonly crn: string;
  readonly tags: readonly string[];
  readonly machines: readonly OpenStackMachine[];
  readonly reserved: readonly ReservedRange[];
  readonly controlPlane?: ControlPlaneOwner | undefined;
}

export interface ControlPlaneOwner {
  readonly kind: string;
  readonly name: string;
}

export interface ReservedRange {
  /** "service" or "pod". */
  readonly use: string;
  readonly cidr: string;
}

export type ConditionType =
  | "OpenStackAuthenticationSucceeded"
  | "NetworkReady"
  | "RouterReady"
  | "SecurityGroupsReady"
  | "APIEndpointReady";

/** One part of a plan: what it found out, and what it wants done. */
export interface Part {
  readonly finding: WantedCondition<ConditionType>;
  readonly steps: readonly ClusterStep[];
  readonly wait?: string;
  readonly events?: readonly PlannedEvent[];
}

/** One call to OpenStack or Kubernetes. `for` is the condition that a failure belongs to. */
export type ClusterStep = { readonly for: ConditionType } & (
  | { readonly do: "add-finalizer"; readonly identity: string }
  /** `account` says what the deletion removed and kept. */
  | { readonly do: "remove-finalizer"; readonly account: string }
  /** The hashes of the rules of the spec's lists, before they are created. */
  | { readonly do: "record-rules"; readonly hashes: string }
  | { readonly do: "record-endpoint"; readonly host: string; readonly port: number }
  | { readonly do: "create-network"; readonly body: OpenStack.NetworkCreate }
  | { readonly do: "create-subnet"; readonly body: OpenStack.SubnetCreate }
  | { readonly do: "update-subnet"; readonly id: string; readonly dnsNameservers: string[] }
  | { readonly do: "create-router"; readonly body: OpenStack.RouterCreate }
  | { readonly do: "update-router"; readonly id: string; readonly gateway: OpenStack.ExternalGatewayInfo }
  | { readonly do: "add-router-interface"; readonly routerId: string; readonly subnetId: string }
  | { readonly do: "set-tags"; readonly kind: OpenStack.Taggable; readonly id: string; readonly tags: string[] }
  | { readonly do: "create-security-group"; readonly body: OpenStack.SecurityGroupCreate }
  | { readonly do: "create-rules"; readonly rules: readonly OpenStack.SecurityGroupRuleCreate[] }
  | { readonly do: "delete-rule"; readonly groupId: string; readonly id: string; readonly about: string }
  | { readonly do: "create-load-balancer"; readonly body: OpenStack.LoadBalancerCreate }
  | { readonly do: "create-listener"; readonly body: OpenStack.ListenerCreate }
  | { readonly do: "update-listener"; readonly listener: OpenStack.Listener; readonly allowedCidrs: string[] }
  | {
      readonly do: "replace-members";
      readonly loadBalancerId: string;
      readonly poolId: string;
      readonly members: readonly OpenStack.MemberCreate[];
    }
  | { readonly do: "create-floating-ip"; readonly body: OpenStack.FloatingIpCreate }
  | { readonly do: "associate-floating-ip"; readonly id: string; readonly portId: string; readonly address: string }
  | { readonly do: "delete-load-balancer"; readonly id: string; readonly name: string }
  | { readonly do: "delete-floating-ip"; readonly id: string; readonly address: string }
  | {
      readonly do: "remove-router-interface";
      readonly routerId: string;
      readonly subnetId: string;
      readonly portId: string;
    }
  | { readonly do: "delete-router"; readonly id: string; readonly name: string }
  | { readonly do: "delete-port"; readonly id: string; readonly name: string }
  | { readonly do: "delete-network"; readonly id: string; readonly name: string }
  | { readonly do: "delete-security-group"; readonly id: string; readonly name: string }
);

export function found(type: ConditionType, reason: string, message?: string): WantedCondition<ConditionType> {
  return { type, status: "True", reason, ...(message === undefined ? {} : { message }) };
}

export function missing(type: ConditionType, reason: string, message: string): WantedCondition<ConditionType> {
  return { type, status: "False", reason, message };
}
