import type { PlannedEvent } from "@causeway/kubernetes";
import type { FloatingIp, LoadBalancer } from "@causeway/openstack";
import type { Observed } from "./gather.ts";
import { floatingIpDescription, isOurFloatingIp } from "./names.ts";
import type { Step } from "./steps.ts";

export interface AddressPlan {
  readonly steps: readonly Step[];
  readonly events: readonly PlannedEvent[];
}

const nothing: AddressPlan = { steps: [], events: [] };

/** Which floating IP the VIP shall have (cloud-provider-openstack's rules). It can be given as soon as the VIP has its port. */
export function planFloatingIp(observed: Observed, lb: LoadBalancer): AddressPlan {
  const { parameters, floatingIp } = observed;
  if (parameters.internal)
    return floatingIp ? { steps: [giveUp(floatingIp, parameters.keepFloatingIp)], events: [] } : nothing;
  if (floatingIp) return nothing;
  if (lb.vip_address.includes(":"))
    return event("Normal", "LoadBalancerFloatingIPSkipped", "an IPv6 address needs no floating IP");
  if (observed.externalNetwork === undefined)
    return event(
      "Warning",
      "LoadBalancerForcedInternal",
      "there is no external network for a floating IP; the load balancer stays internal",
    );
  return {
    steps: [obtain(observed, lb, observed.externalNetwork.id)].flatMap((step) => step ?? []),
    events: taken(observed),
  };
}

/** Ours are deleted unless they are to be kept; a person's are only taken off. */
export function giveUp(floatingIp: FloatingIp, keep: boolean): Step {
  if (isOurFloatingIp(floatingIp.description) && !keep)
    return { type: "delete-floating-ip", id: floatingIp.id, address: floatingIp.floating_ip_address };
  return { type: "detach-floating-ip", id: floatingIp.id };
}

/** One that we made before and that lost its port comes first: a lost answer never makes a second. */
function obtain(observed: Observed, lb: LoadBalancer, networkId: string): Step | undefined {
  const { service, wantedFloatingIp, ownFloatingIps, parameters, clusterName } = observed;
  const address = service.spec.loadBalancerIP;
  const named = address !== undefined && address !== "";
  if (named && wantedFloatingIp)
    return isFree(wantedFloatingIp)
      ? { type: "attach-floating-ip", id: wantedFloatingIp.id, portId: lb.vip_port_id }
      : undefined;
  const own = named ? undefined : ownFloatingIps.find(isFree);
  if (own) return { type: "attach-floating-ip", id: own.id, portId: lb.vip_port_id };
  return {
    type: "create-floating-ip",
    networkId,
    portId: lb.vip_port_id,
    description: floatingIpDescription(clusterName, service),
    ...(parameters.floatingSubnetId === undefined ? {} : { subnetId: parameters.floatingSubnetId }),
    ...(named ? { address } : {}),
  };
}

function taken({ wantedFloatingIp }: Observed): PlannedEvent[] {
  if (!wantedFloatingIp || isFree(wantedFloatingIp)) return [];
  return [
    {
      type: "Warning",
      reason: "SyncLoadBalancerFailed",
      message: `floating IP ${wantedFloatingIp.floating_ip_address} is used by another port`,
    },
  ];
}

function isFree(floatingIp: FloatingIp): boolean {
  return floatingIp.port_id === null || floatingIp.port_id === "";
}

function event(type: PlannedEvent["type"], reason: string, message: string): AddressPlan {
  return { steps: [], events: [{ type, reason, message }] };
}
