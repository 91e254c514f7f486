import type { Plan, ServiceStatus } from "@causeway/kubernetes";
import type { Adoption } from "./observed.ts";
import type { MemoryObserved, ServiceObserved } from "./observed.ts";
import type { OneStep } from "./steps.ts";

const resyncInterval = 60_000;

/**
 * The tags are rewritten first, so that they alone say whose the load balancer is. What is published remains until
 * then.
 */
export function planAdoption(
  { service, held }: ServiceObserved & MemoryObserved,
  { lb, tags, event }: Adoption,
  now: number,
): Plan<OneStep, ServiceStatus> {
  const status = service.status ?? {};
  if (lb.provisioning_status === "ERROR") {
    const message = `Error syncing load balancer: load balancer ${lb.id} is in ERROR and cannot be adopted: fail it over (openstack loadbalancer failover ${lb.id}), or delete it and another one is created`;
    const events = [{ type: "Warning", reason: "SyncLoadBalancerFailed", message }] as const;
    return { steps: [], status, events, wait: { for: `load balancer ${lb.id} in ERROR`, until: now + resyncInterval } };
  }
  const busy = held.busy !== undefined && held.busy > now ? held.busy : undefined;
  const until = lb.provisioning_status === "ACTIVE" ? busy : now + resyncInterval;
  if (until !== undefined)
    return { steps: [], status, wait: { for: `load balancer ${lb.id} to be changeable`, until } };
  const step: OneStep = { type: "update-load-balancer", id: lb.id, change: { tags: [...tags] } };
  return { steps: [step], status, events: [event] };
}
