import type {
  ListenerCreate,
  ListenerUpdate,
  LoadBalancerCreate,
  MemberCreate,
  PoolCreate,
  PoolUpdate,
  HealthMonitorCreate,
  HealthMonitorUpdate,
} from "@causeway/openstack";

/**
 * One change of the world on the way of a Service to its load balancer. Those that change the load balancer leave it
 * PENDING: the plan never has two of them, and waits after each.
 */
export type Step =
  | { readonly type: "add-finalizer" }
  | { readonly type: "create-load-balancer"; readonly body: LoadBalancerCreate }
  | { readonly type: "create-listener"; readonly body: ListenerCreate }
  | { readonly type: "update-listener"; readonly id: string; readonly change: ListenerUpdate }
  | { readonly type: "delete-listener"; readonly id: string; readonly poolId?: string }
  | { readonly type: "create-pool"; readonly body: PoolCreate }
  | { readonly type: "update-pool"; readonly id: string; readonly change: PoolUpdate }
  | { readonly type: "delete-pool"; readonly id: string }
  | { readonly type: "replace-members"; readonly poolId: string; readonly members: readonly MemberCreate[] }
  | { readonly type: "create-monitor"; readonly body: HealthMonitorCreate }
  | { readonly type: "update-monitor"; readonly id: string; readonly change: HealthMonitorUpdate }
  | { readonly type: "delete-monitor"; readonly id: string; readonly poolId: string }
  | {
      readonly type: "create-floating-ip";
      readonly networkId: string;
      readonly portId: string;
      readonly description: string;
      readonly subnetId?: string;
      readonly address?: string;
    }
  | { readonly type: "attach-floating-ip"; readonly id: string; readonly portId: string }
  | { readonly type: "detach-floating-ip"; readonly id: string }
  | { readonly type: "delete-floating-ip"; readonly id: string; readonly address: string }
  | {
      readonly type: "delete-load-balancer";
      readonly id: string;
      readonly name: string;
      readonly cascade: boolean;
      readonly reason?: string;
    }
  | { readonly type: "annotate"; readonly annotations: Readonly<Record<string, string | null>> }
  | { readonly type: "remove-finalizer" };

/** What a plan may do at once beside the one change of the load balancer. */
export function changesLoadBalancer(step: Step): boolean {
  return ![
    "add-finalizer",
    "annotate",
    "remove-finalizer",
    "create-floating-ip",
    "attach-floating-ip",
    "detach-floating-ip",
    "delete-floating-ip",
  ].includes(step.type);
}
