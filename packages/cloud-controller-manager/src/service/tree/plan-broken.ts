import type { ServiceStatus } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import type { MemoryObserved, Observed } from "../observed.ts";
import { loadBalancerPrefix } from "../parameters/names.ts";
import { isOwner, isRegistered, othersTags } from "../ownership.ts";
import type { OnePlan } from "../plan-events.ts";

/** Milliseconds. */
const resyncInterval = 60_000;
/** No provider needs longer for one change. */
const stuckAfter = 600_000;

/**
 * A load balancer in ERROR accepts no change but failover and deletion. One that never served is recreated. One that
 * has served is failed over where its provider supports it and we may; else, where it carries no traffic any more, it
 * is recreated with its addresses kept; else an event advises the user. Each is repeated with an increasing delay.
 */
export function planBroken(
  observed: Observed,
  lb: LoadBalancer,
  from: { status: ServiceStatus; now: number },
): OnePlan {
  const { now, status } = from;
  const { held } = observed;
  const owned = isOwner(observed, lb) && othersTags(lb, observed).length === 0;
  const served = (observed.service.status?.loadBalancer?.ingress?.length ?? 0) > 0;
  const until = held.broken;
  if (until !== undefined && until > now)
    return { steps: [], status, wait: { for: `load balancer ${lb.id} to leave ERROR`, until } };
  if (!served && owned) return rebuild(lb, { status, why: "went to ERROR while it was made" });
  if (lb.provider !== "ovn" && !held.failoverRefused && isRegistered(observed, lb)) {
    const message = `load balancer ${lb.id} is in ERROR; it is failed over`;
    return { steps: [{ type: "failover", id: lb.id, event: warning(message) }], status };
  }
  const dead = lb.operating_status === "ERROR" || lb.operating_status === "OFFLINE";
  if (owned && dead && lb.name.startsWith(loadBalancerPrefix))
    return rebuild(lb, { status, why: "is in ERROR and carries no traffic" });
  const advice = `fail it over (openstack loadbalancer failover ${lb.id}), or delete it and it is recreated`;
  const event = warning(`load balancer ${lb.id} is in ERROR: ${advice}`);
  return {
    steps: [],
    status,
    events: [event],
    wait: { for: `load balancer ${lb.id} to leave ERROR`, until: now + resyncInterval },
  };
}

function rebuild(lb: LoadBalancer, how: { status: ServiceStatus; why: string }): OnePlan {
  const event = warning(`load balancer ${lb.id} ${how.why}; it is deleted and recreated`);
  return {
    steps: [{ type: "delete-load-balancer", id: lb.id, cascade: true, broken: true, event }],
    status: how.status,
  };
}

function warning(what: string) {
  return {
    type: "Warning",
    reason: "SyncLoadBalancerFailed",
    message: `Error syncing load balancer: ${what}`,
  } as const;
}

/** A load balancer that has been PENDING for too long: only the cloud's operator can end that. */
export function stuckEvents({ held }: MemoryObserved, lb: LoadBalancer, now: number): ReturnType<typeof warning>[] {
  if (held.pendingSince === undefined || now - held.pendingSince < stuckAfter) return [];
  return [
    warning(
      `load balancer ${lb.id} has been ${lb.provisioning_status} for more than ten minutes and refuses every change, including its deletion; ask the cloud's operator to set its status (openstack loadbalancer status set) or to fail it over`,
    ),
  ];
}
