import type { Plan, PlannedEvent, ServiceStatus } from "@causeway/kubernetes";
import type { Step } from "./steps.ts";

/** An event of a plan for one load balancer of a Service. */
export interface ServiceEvent extends PlannedEvent {
  /** It is about the Service's own wishes: the plan of its second load balancer only repeats it. */
  readonly ofService?: true;
}

/** What is to be done for one load balancer of a Service, or for all of them. */
export type ServicePlan = Omit<Plan<Step, ServiceStatus>, "events"> & { readonly events?: readonly ServiceEvent[] };
