import type { PlannedEvent } from "@causeway/kubernetes";
import type * as Tree from "@causeway/octavia-tree";
import type { LoadBalancerCreate } from "@causeway/openstack";

/**
 * Changes of a load balancer and its parts. Each leaves it PENDING: the plan never has two of them, and waits after
 * each.
 */
export type TreeStep =
  | Tree.TreeStep
  | { readonly type: "failover"; readonly id: string; readonly event: PlannedEvent }
  | {
      readonly type: "delete-load-balancer";
      readonly id: string;
      readonly cascade: boolean;
      readonly event: PlannedEvent;
      /** It is recreated, with an increasing delay if it breaks again and again. */
      readonly broken?: true;
    };

/** One call to Neutron for the floating IP of a VIP. */
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
  /** `onlyFree`: not if it was attached to a port since it was listed. */
  | { readonly type: "delete-floating-ip"; readonly id: string; readonly onlyFree?: true };

/** A change of the Service itself. */
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
