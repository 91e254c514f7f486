import type { PlannedEvent } from "@causeway/kubernetes";
import type { FloatingIp, LoadBalancer } from "@causeway/openstack";
import type { AddressObserved, ServiceObserved, TreeObserved } from "../observed.ts";
import { annotation } from "../../config/annotations.ts";
import { floatingIpDescription, isOurFloatingIp } from "../parameters/names.ts";
import { isOwner } from "../ownership.ts";
import type { AddressStep } from "../steps.ts";

/** What makes the VIP have its floating IP, or none. */
export interface AddressPlan {
  readonly steps: readonly AddressStep[];
  readonly events: readonly PlannedEvent[];
}

const nothing: AddressPlan = { steps: [], events: [] };

/**
 * Which floating IP the VIP shall have (cloud-provider-openstack's rules). It can be given as soon as the VIP has its
 * port.
 */
export function planFloatingIp(
  observed: ServiceObserved & TreeObserved & AddressObserved,
  lb: LoadBalancer,
): AddressPlan {
  const { parameters, floatingIp, externalNetwork } = observed;
  if (!isOwner(observed, lb)) return floatingIp || parameters.internal ? nothing : onlyOwner(lb);
  if (parameters.internal) return floatingIp ? does(giveUp(floatingIp, parameters.keepFloatingIp)) : nothing;
  if (lb.vip_address.includes(":")) return skipped(observed);
  if (floatingIp && isWanted(observed, floatingIp))
    return { steps: [...renamed(observed, floatingIp).steps, ...surplus(observed, floatingIp).steps], events: [] };
  if (externalNetwork === undefined) return floatingIp ? nothing : withoutNetwork;
  const taken = observed.wantedFloatingIp;
  if (taken && !isFree(taken))
    return warns(
      "SyncLoadBalancerFailed",
      `Error syncing load balancer: floating IP ${taken.floating_ip_address} is used by another port`,
    );
  return isComing(observed) ? nothing : does(obtain(observed, lb, externalNetwork.id));
}

/** As cloud-provider-openstack, two events: the search found no network, and the load balancer remains internal. */
const withoutNetwork: AddressPlan = {
  steps: [],
  events: [
    {
      type: "Warning",
      reason: "LoadBalancerExternalNetworkSearchFailed",
      message: "there is no external network with an IPv4 subnet",
    },
    {
      type: "Warning",
      reason: "LoadBalancerForcedInternal",
      message: "there is no external network for a floating IP; the load balancer remains internal",
    },
  ],
};

/** The former load balancer, on its way out, still has the floating IP that the new one is to get. */
function isComing({ ownFloatingIps, leaving, service }: ServiceObserved & TreeObserved & AddressObserved): boolean {
  if ((service.spec.loadBalancerIP ?? "") !== "") return false;
  return ownFloatingIps.some((ip) => leaving.some((l) => l.vip_port_id === ip.port_id));
}

/** A second floating IP of ours that is free because its load balancer was deleted by hand carries no traffic. */
function surplus({ ownFloatingIps, parameters }: ServiceObserved & AddressObserved, used: FloatingIp): AddressPlan {
  const extra = parameters.keepFloatingIp ? [] : ownFloatingIps.filter((ip) => ip.id !== used.id && isFree(ip));
  return { steps: extra.map(({ id }) => ({ type: "delete-floating-ip", id, onlyFree: true })), events: [] };
}

/** After a rename of the cluster, its floating IP is found again by its description only. */
function renamed(
  { service, clusterName, ...observed }: ServiceObserved & TreeObserved,
  floatingIp: FloatingIp,
): AddressPlan {
  const beginning = floatingIpDescription("", service);
  const description = floatingIpDescription(clusterName, service);
  const noted = service.metadata.annotations?.[annotation.loadBalancerAddress] === floatingIp.floating_ip_address;
  const former = floatingIp.description.startsWith(beginning) && floatingIp.description !== description;
  if (!noted || !former || observed.loadBalancers[0]?.name !== observed.lbName) return nothing;
  return does({ type: "describe-floating-ip", id: floatingIp.id, description });
}

/** Ours are deleted unless they are to be kept; a person's are only detached. */
export function giveUp(floatingIp: FloatingIp, keep: boolean): AddressStep {
  const ours = isOurFloatingIp(floatingIp.description) && !keep;
  return { type: ours ? "delete-floating-ip" : "detach-floating-ip", id: floatingIp.id };
}

/** Whether no port has it: Neutron reports null or "". */
export function isFree(floatingIp: FloatingIp): boolean {
  return floatingIp.port_id === null || floatingIp.port_id === "";
}

function isWanted({ service }: ServiceObserved, floatingIp: FloatingIp): boolean {
  const address = service.spec.loadBalancerIP ?? "";
  return address === "" || address === floatingIp.floating_ip_address;
}

/**
 * One that we made before and that lost its port comes first: a lost answer never makes a second. Where another is to
 * be replaced, the new one is there before the old one goes.
 */
function obtain(observed: ServiceObserved & AddressObserved, lb: LoadBalancer, networkId: string): AddressStep {
  const { service, wantedFloatingIp, ownFloatingIps, parameters, clusterName, floatingIp } = observed;
  const address = service.spec.loadBalancerIP ?? "";
  const ready = address === "" ? ownFloatingIps.find(isFree) : wantedFloatingIp;
  if (ready && floatingIp) return giveUp(floatingIp, parameters.keepFloatingIp);
  if (ready) return { type: "attach-floating-ip", id: ready.id, portId: lb.vip_port_id };
  return {
    type: "create-floating-ip",
    networkId,
    description: floatingIpDescription(clusterName, service),
    ...(floatingIp ? {} : { portId: lb.vip_port_id }),
    subnetIds: subnetsFor(observed, address),
    ...(address === "" ? {} : { address }),
  };
}

/** An address that is named says itself which subnet it is of. */
function subnetsFor({ parameters, floatingSubnets }: ServiceObserved & AddressObserved, address: string): string[] {
  if (parameters.floatingSubnetId !== undefined) return [parameters.floatingSubnetId];
  return address === "" ? (floatingSubnets ?? []).map((subnet) => subnet.id) : [];
}

/** Emitted once, before the address is published. */
function skipped({ service }: ServiceObserved): AddressPlan {
  if ((service.status?.loadBalancer?.ingress ?? []).length > 0) return nothing;
  const message = "an IPv6 address needs no floating IP";
  return { steps: [], events: [{ type: "Warning", reason: "LoadBalancerFloatingIPSkipped", message }] };
}

function onlyOwner(lb: LoadBalancer): AddressPlan {
  return warns(
    "SyncLoadBalancerFailed",
    `Error syncing load balancer: ${lb.name} has no floating IP, and only the Service that owns it may give it one`,
  );
}

function does(step: AddressStep): AddressPlan {
  return { steps: [step], events: [] };
}

function warns(reason: string, message: string): AddressPlan {
  return { steps: [], events: [{ type: "Warning", reason, message }] };
}
