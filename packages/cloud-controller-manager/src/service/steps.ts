import type { PlannedEvent } from "@causeway/kubernetes";
import type {
  HealthMonitorCreate,
  HealthMonitorUpdate,
  ListenerCreate,
  ListenerUpdate,
  LoadBalancerCreate,
  LoadBalancerUpdate,
  MemberCreate,
  MemberUpdate,
  PoolCreate,
  PoolUpdate,
} from "@causeway/openstack";

/** A change of a pool's members. `more`: another change of the load balancer follows it. */
export type MemberStep = { readonly poolId: string; readonly more?: true } & (
  | { readonly type: "replace-members"; readonly members: readonly MemberCreate[] }
  | { readonly type: "create-member"; readonly body: MemberCreate }
  | { readonly type: "update-member"; readonly id: string; readonly change: MemberUpdate }
  | { readonly type: "delete-member"; readonly id: string }
);

/** Changes of a load balancer and its parts. Each leaves it PENDING: the plan never has two of them, and waits after each. */
export type TreeStep =
  | { readonly type: "update-load-balancer"; readonly id: string; readonly change: LoadBalancerUpdate }
  | { readonly type: "create-listener"; readonly body: ListenerCreate }
  | { readonly type: "update-listener"; readonly id: string; readonly change: ListenerUpdate }
  | { readonly type: "delete-listener"; readonly id: string }
  | { readonly type: "create-pool"; readonly body: PoolCreate }
  | { readonly type: "update-pool"; readonly id: string; readonly change: PoolUpdate }
  | { readonly type: "delete-pool"; readonly id: string }
  | MemberStep
  | { readonly type: "create-monitor"; readonly body: HealthMonitorCreate }
  | {
      readonly type: "update-monitor";
      readonly id: string;
      readonly poolId: string;
      readonly change: HealthMonitorUpdate;
    }
  | { readonly type: "delete-monitor"; readonly id: string; readonly poolId: string }
  | { readonly type: "failover"; readonly id: string; readonly event: PlannedEvent }
  | {
      readonly type: "delete-load-balancer";
      readonly id: string;
      readonly cascade: boolean;
      readonly event: PlannedEvent;
      /** It is made anew: not at once, if it breaks again and again. */
      readonly broken?: true;
    };

export type AddressStep =
  | {
      readonly type: "create-floating-ip";
      readonly networkId: string;
      readonly description: string;
      /** Undefined: it waits unattached for the VIP to give up another. */
      readonly portId?: string;
      /** Tried in this order while they are full; empty: Neutron chooses. */
      readonly subnetIds: readonly string[];
      readonly address?: string;
    }
  | { readonly type: "attach-floating-ip"; readonly id: string; readonly portId: string }
  | { readonly type: "describe-floating-ip"; readonly id: string; readonly description: string }
  | { readonly type: "detach-floating-ip"; readonly id: string }
  /** `onlyFree`: not if somebody has given it to a port since it was listed. */
  | { readonly type: "delete-floating-ip"; readonly id: string; readonly onlyFree?: true };

export type KubernetesStep =
  | { readonly type: "add-finalizer" }
  | { readonly type: "annotate"; readonly annotations: Readonly<Record<string, string | null>> }
  | { readonly type: "clear-status" }
  | { readonly type: "remove-finalizer" };

/** One change of the world on the way of a Service to one load balancer. */
export type OneStep =
  | { readonly type: "create-load-balancer"; readonly body: LoadBalancerCreate }
  | TreeStep
  | AddressStep
  | KubernetesStep;

/** The same, on the way to all its load balancers. */
export type Step = OneStep | { readonly type: "of-second"; readonly step: OneStep };

export function isOfMembers(step: TreeStep): step is MemberStep {
  return ["replace-members", "create-member", "update-member", "delete-member"].includes(step.type);
}
