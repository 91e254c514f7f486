import type { Plan, PlannedEvent, ServiceStatus } from "@causeway/kubernetes";
import type { Listener, LoadBalancer } from "@causeway/openstack";
import { removal } from "@causeway/octavia-tree";
import { serviceFinalizer } from "./parameters/concern.ts";
import type { AddressObserved, MemoryObserved, Observed, ServiceObserved, TreeObserved } from "./observed.ts";
import { annotation } from "../config/annotations.ts";
import { loadBalancerPrefix } from "./parameters/names.ts";
import { isAnothers, isOwner, isRegistered, othersTags, ownListeners, proofTags } from "./ownership.ts";
import { stuckEvents } from "./tree/plan-broken.ts";
import { giveUp, isFree } from "./address/plan-floating-ip.ts";
import { retireAtOnce } from "./tree/plan-provider.ts";
import type { OneStep, TreeStep } from "./steps.ts";

const resyncInterval = 60_000;

/**
 * Gives everything back: the floating IP first, then the load balancer, then, when neither is listed any more, the
 * finalizer. A load balancer that others share loses only our listeners; one that a person brought is not deleted.
 */
export function planRelease(observed: Observed, now: number): Plan<OneStep, ServiceStatus> {
  const { service, leaving } = observed;
  const status = service.status ?? {};
  if (!service.metadata.finalizers?.includes(serviceFinalizer)) return { steps: [], status };
  if (!observed.octavia && service.metadata.annotations?.[annotation.loadBalancerId] !== undefined) {
    const message = "Error deleting load balancer: the cloud has no load balancing service (Octavia) any more";
    const events = [{ type: "Warning", reason: "SyncLoadBalancerFailed", message } as const];
    return { steps: [], status, events, wait: { for: "Octavia to be back", until: now + resyncInterval } };
  }
  const retired = retireAtOnce(observed, now);
  if (retired) return { ...retired, status };
  const lb = observed.loadBalancers[0];
  const going = leaving[0];
  if (!lb && going)
    return {
      steps: [],
      status,
      events: stuckEvents(observed, going, now),
      wait: { for: `load balancer ${going.id} to be gone`, until: now + resyncInterval },
    };
  if (!lb) return { steps: [...orphanAddresses(observed), ...farewell(observed)], status };
  const shared = othersTags(lb, observed).length > 0 || isAnothers(lb, observed.service) || !wasMadeByUs(observed, lb);
  const addresses: OneStep[] =
    observed.floatingIp && !shared ? [giveUp(observed.floatingIp, observed.parameters.keepFloatingIp)] : [];
  const change = shared ? leave(observed, lb) : remove(observed, lb);
  if (change === undefined) return { steps: farewell(observed), status };
  const until = changeableAt(observed, lb, now);
  if (until !== undefined)
    return {
      steps: addresses,
      status,
      events: [...waiting(lb), ...stuckEvents(observed, lb, now)],
      wait: { for: `load balancer ${lb.id} to be changeable`, until },
    };
  return { steps: [...addresses, change], status };
}

/** When to check a load balancer again that cannot be changed now; undefined when it can. */
function changeableAt({ held }: MemoryObserved, lb: LoadBalancer, now: number): number | undefined {
  if (lb.provisioning_status.startsWith("PENDING_")) return now + resyncInterval;
  return held.busy !== undefined && held.busy > now ? held.busy : undefined;
}

/** Octavia refuses to delete what is being changed. */
function waiting({ id, provisioning_status: status }: LoadBalancer): PlannedEvent[] {
  if (!status.startsWith("PENDING_")) return [];
  const message = `Waiting for load balancer ${id}, which is ${status}, to become ACTIVE before it can be deleted`;
  return [{ type: "Normal", reason: "DeletingLoadBalancer", message }];
}

/** By our manager for this Service, or for one that is gone and whose last sharer this Service is. */
function wasMadeByUs(observed: Observed, lb: LoadBalancer): boolean {
  return isOwner(observed, lb) || (lb.name.startsWith(loadBalancerPrefix) && isRegistered(observed, lb));
}

/** As a whole, or (cascade-delete=false) part after part from the monitors up. In ERROR no part can be changed. */
function remove(observed: ServiceObserved & TreeObserved, lb: LoadBalancer): TreeStep {
  const { cascadeDelete } = observed.config.loadBalancer;
  const event = { type: "Normal", reason: "DeletingLoadBalancer", message: "Deleting load balancer" } as const;
  if (cascadeDelete || lb.provisioning_status === "ERROR")
    return { type: "delete-load-balancer", id: lb.id, cascade: true, event };
  const monitored = observed.pools.find((p) => p.monitor !== undefined);
  if (monitored?.monitor) return { type: "delete-monitor", id: monitored.monitor.id, poolId: monitored.pool.id };
  const pool = observed.pools[0];
  if (pool) return { type: "delete-pool", id: pool.pool.id };
  const listener = observed.listeners[0];
  if (listener) return { type: "delete-listener", id: listener.id };
  return { type: "delete-load-balancer", id: lb.id, cascade: false, event };
}

/** Our listeners go, then our tag; what is others' remains. */
function leave(observed: ServiceObserved & TreeObserved, lb: LoadBalancer): TreeStep | undefined {
  const own: Listener | undefined = ownListeners(observed, lb)[0];
  if (own) return removal(observed.pools, own);
  const ours = new Set([observed.lbName, observed.formerName, ...proofTags(lb, observed.service)]);
  const tags = lb.tags.filter((tag) => !ours.has(tag));
  if (tags.length === lb.tags.length) return undefined;
  return { type: "update-load-balancer", id: lb.id, change: { tags } };
}

/** A load balancer that is deleted by hand leaves its floating IP; the description names the Service it belonged to. */
function orphanAddresses({ ownFloatingIps, parameters }: ServiceObserved & AddressObserved): OneStep[] {
  if (parameters.keepFloatingIp) return [];
  return ownFloatingIps.filter(isFree).map((ip) => ({ type: "delete-floating-ip", id: ip.id }));
}

/** A Service that remains, as another type, must not keep what the load balancer left on it. */
function farewell({ service }: ServiceObserved): OneStep[] {
  if (service.metadata.deletionTimestamp !== undefined) return [{ type: "remove-finalizer" }];
  const annotations = { [annotation.loadBalancerId]: null, [annotation.loadBalancerAddress]: null };
  const annotated = Object.keys(annotations).some((key) => service.metadata.annotations?.[key] !== undefined);
  const published = (service.status?.loadBalancer?.ingress ?? []).length > 0;
  return [
    ...(annotated ? [{ type: "annotate", annotations } as const] : []),
    ...(published ? [{ type: "clear-status" } as const] : []),
    { type: "remove-finalizer" },
  ];
}
