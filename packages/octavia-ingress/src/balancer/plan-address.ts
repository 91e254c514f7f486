import type { PlannedEvent } from "@causeway/kubernetes";
import type { FloatingIp, LoadBalancer } from "@causeway/openstack";
import type { ObservedBalancer, WantedAddress } from "./balancer.ts";
import type { AddressStep } from "./steps.ts";

/**
 * What makes the VIP have its floating IP. `address` is where clients reach it now; `failure` says why it cannot have
 * the wanted one.
 */
export interface AddressPlan {
  readonly steps: readonly AddressStep[];
  readonly events: readonly PlannedEvent[];
  readonly address: string | undefined;
  readonly failure?: string;
}

/**
 * Which floating IP the VIP is to have: the one that is named, else the one that it has, else one of ours that is free,
 * else a new one.
 */
export function planAddress(wanted: WantedAddress, observed: ObservedBalancer, lb: LoadBalancer): AddressPlan {
  const { floatingIp: now, owner } = observed;
  const { vip_port_id: portId, vip_address: vip } = lb;
  if (wanted.internal || vip.includes(":")) {
    const ours = now?.description === owner.floatingIpDescription ? [giveUp(now, owner.floatingIpDescription)] : [];
    return { steps: [...ours, ...surplus(wanted, observed, now)], events: [], address: vip };
  }
  if (wanted.networkId === undefined) return { steps: [], events: [], address: vip };
  if (wanted.address !== undefined) return planNamed(wanted.address, observed, portId);
  if (now) return { steps: surplus(wanted, observed, now), events: [], address: now.floating_ip_address };
  const free = observed.own.find(isFree);
  const step: AddressStep = free
    ? { type: "attach-floating-ip", id: free.id, portId }
    : { type: "create-floating-ip", networkId: wanted.networkId, description: owner.floatingIpDescription, portId };
  return { steps: [step], events: [], address: undefined };
}

/** The VIP gives up another floating IP only when the named one can take its place. */
function planNamed(address: string, { floatingIp: now, named, owner }: ObservedBalancer, portId: string): AddressPlan {
  const reached = now?.floating_ip_address;
  if (reached === address) return { steps: [], events: [], address };
  const fails = (failure: string): AddressPlan => ({ steps: [], events: [], address: reached, failure });
  if (!named) return fails(`there is no floating IP ${address} in the project`);
  const other = namespaceOf(named.description);
  if (other !== undefined && other !== namespaceOf(owner.floatingIpDescription))
    return fails(`floating IP ${address} belongs to namespace ${other}; clear its description to give it to another`);
  if (!isFree(named)) return fails(`floating IP ${address} already used by port ${named.port_id}`);
  const step: AddressStep = now
    ? giveUp(now, owner.floatingIpDescription)
    : { type: "attach-floating-ip", id: named.id, portId };
  return { steps: [step], events: [], address: reached };
}

/** The namespace of the object that a floating IP was created for. */
function namespaceOf(description: string): string | undefined {
  return /^Floating IP for Kubernetes .* in namespace (\S+) from cluster /.exec(description)?.[1];
}

/** A second one of ours, left free by a load balancer that is gone, serves no client. */
function surplus({ keep }: WantedAddress, { own }: ObservedBalancer, used: FloatingIp | undefined): AddressStep[] {
  const extra = keep ? [] : own.filter((ip) => ip.id !== used?.id && isFree(ip));
  return extra.map(({ id }) => ({ type: "delete-floating-ip", id, onlyFree: true }));
}

function giveUp({ id, description }: FloatingIp, ours: string): AddressStep {
  return { type: description === ours ? "delete-floating-ip" : "detach-floating-ip", id };
}

function isFree({ port_id: port }: FloatingIp): boolean {
  return port === null || port === "";
}
