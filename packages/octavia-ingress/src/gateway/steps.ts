import type { BalancerStep } from "../balancer/steps.ts";

/** A change of the Gateway itself. */
export type GatewayStep = { readonly type: "add-finalizer" } | { readonly type: "remove-finalizer" };

/** What is done for one Gateway. */
export type Step = BalancerStep | GatewayStep;
