import type { Plan, ServiceStatus } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import { serviceFinalizer, type Observed } from "./gather.ts";
import { annotation, loadBalancerPrefix } from "./names.ts";
import { giveUp } from "./plan-floating-ip.ts";
import type { Step } from "./steps.ts";

const patience = 60_000;

/**
 * Gives everything back: the floating IP first, then the load balancer, then, when neither is listed any more, the
 * finalizer. A load balancer that others share loses only our listeners; one that a person brought is not deleted.
 */
export function planRelease(observed: Observed, now: number): Plan<Step, ServiceStatus> {
  const { service } = observed;
  const status: ServiceStatus =
    service.metadata.deletionTimestamp === undefined ? { loadBalancer: {} } : (service.status ?? {});
  if (!service.metadata.finalizers?.includes(serviceFinalizer)) return { steps: [], status };
  const lb =
    observed.loadBalancers.find((l) => l.provisioning_status !== "PENDING_DELETE") ?? observed.loadBalancers[0];
  if (!lb) return { steps: [...orphanAddresses(observed), ...farewell(observed)], status };
  if (isShared(lb, observed.lbName)) return planLeave(observed, { lb, status, now });
  const addresses: Step[] = observed.floatingIp
    ? [giveUp(observed.floatingIp, observed.parameters.keepFloatingIp)]
    : [];
  if (lb.provisioning_status.startsWith("PENDING_")) {
    const what = lb.provisioning_status === "PENDING_DELETE" ? "gone" : "ACTIVE";
    return { steps: addresses, status, wait: { for: `load balancer ${lb.id} to be ${what}`, until: now + patience } };
  }
  return {
    steps: [
      ...addresses,
      { type: "delete-load-balancer", id: lb.id, name: lb.name, cascade: observed.config.loadBalancer.cascadeDelete },
    ],
    status,
  };
}

/** Others' tags, or a name that we did not give. */
function isShared(lb: LoadBalancer, lbName: string): boolean {
  const others = lb.tags.filter((tag) => tag.startsWith(loadBalancerPrefix) && tag !== lbName);
  const ours = lb.name.startsWith(loadBalancerPrefix) || /^a[0-9a-f]{31}$/.test(lb.name);
  return others.length > 0 || !ours;
}

function planLeave(
  observed: Observed,
  leaving: { lb: LoadBalancer; status: ServiceStatus; now: number },
): Plan<Step, ServiceStatus> {
  const { lb, status, now } = leaving;
  const listener = observed.listeners.find((l) => l.tags.includes(observed.lbName));
  if (!listener) return { steps: farewell(observed), status };
  if (lb.provisioning_status !== "ACTIVE")
    return { steps: [], status, wait: { for: `load balancer ${lb.id} to be ACTIVE`, until: now + patience } };
  const pool = listener.default_pool_id === null ? {} : { poolId: listener.default_pool_id };
  return { steps: [{ type: "delete-listener", id: listener.id, ...pool }], status };
}

/** A load balancer that somebody deleted by hand leaves its floating IP; the description tells whose it was. */
function orphanAddresses({ ownFloatingIps, parameters }: Observed): Step[] {
  return parameters.keepFloatingIp
    ? []
    : ownFloatingIps.map((ip) => ({ type: "delete-floating-ip", id: ip.id, address: ip.floating_ip_address }));
}

function farewell({ service }: Observed): Step[] {
  if (service.metadata.deletionTimestamp !== undefined) return [{ type: "remove-finalizer" }];
  const annotations = { [annotation.loadBalancerId]: null, [annotation.loadBalancerAddress]: null };
  const annotated = Object.keys(annotations).some((key) => service.metadata.annotations?.[key] !== undefined);
  return [...(annotated ? [{ type: "annotate", annotations } as const] : []), { type: "remove-finalizer" }];
}
