import type { ObjectKey } from "@causeway/kubernetes";
import type { BalancerStep } from "../balancer/steps.ts";

/** A change of an Ingress itself. */
export type IngressStep =
  | { readonly type: "add-finalizer"; readonly key: ObjectKey }
  | { readonly type: "clear-status"; readonly key: ObjectKey }
  | { readonly type: "remove-finalizer"; readonly key: ObjectKey };

/** What is done for one Ingress, or for a class whose Ingresses share a load balancer. */
export type Step = BalancerStep | IngressStep;
