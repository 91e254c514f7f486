import type { Plan, PlannedEvent, ServiceStatus } from "@causeway/kubernetes";
import type { OneStep, Step } from "./steps.ts";

/** An event of a plan for one load balancer of a Service. */
export interface ServiceEvent extends PlannedEvent {
  /** It is about the Service's own wishes: the plan of its second load balancer only repeats it. */
  readonly ofService?: true;
}

type PlanOf<S> = Omit<Plan<S, ServiceStatus>, "events"> & { readonly events?: readonly ServiceEvent[] };

/** What is to be done for one load balancer of a Service. */
export type OnePlan = PlanOf<OneStep>;

/** What is to be done for all load balancers of a Service. */
export type ServicePlan = PlanOf<Step>;
