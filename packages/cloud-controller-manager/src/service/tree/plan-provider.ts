import type { Plan, PlannedEvent } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import { isSameProvider } from "@causeway/octavia-tree";
import type { AddressObserved, ServiceObserved, TreeObserved } from "../observed.ts";
import { retiringName } from "../parameters/names.ts";
import { isOwner, othersTags } from "../ownership.ts";
import { giveUp } from "../address/plan-floating-ip.ts";
import type { OneStep, TreeStep } from "../steps.ts";

/** What a change of the provider annotation leads to: the load balancer is retired, or an event says why it remains. */
export interface ProviderChange {
  readonly step: TreeStep | undefined;
  readonly events: readonly PlannedEvent[];
}

/** What waits for the cloud is checked again after this long (ms) even if no change was seen. */
const resyncInterval = 60_000;

const none: ProviderChange = { step: undefined, events: [] };

/**
 * A load balancer never changes its provider. Where a Service asks for another one, the old one is named aside, a new
 * one is made in its place, and the floating IP goes over when that is whole. Where clients would lose the address, it
 * remains as it is.
 */
export function providerChange(
  observed: ServiceObserved & TreeObserved & AddressObserved,
  lb: LoadBalancer,
): ProviderChange {
  const { parameters, retiring, lbName } = observed;
  const wanted = parameters.provider;
  if (wanted === undefined || isSameProvider(wanted, lb.provider) || retiring.length > 0) return none;
  const obstacle = obstacleOf(observed, lb);
  if (obstacle !== undefined) {
    const message = `load balancer ${lb.id} remains with provider ${lb.provider}: ${obstacle}; delete the Service and recreate it with ${wanted}`;
    return { step: undefined, events: [{ type: "Warning", reason: "LoadBalancerProviderUnchanged", message }] };
  }
  const message = `load balancer ${lb.id} of provider ${lb.provider} is replaced by one of ${wanted} behind the same floating IP`;
  return {
    step: { type: "update-load-balancer", id: lb.id, change: { name: retiringName(lbName) } },
    events: [{ type: "Normal", reason: "LoadBalancerProviderChanged", message }],
  };
}

function obstacleOf(observed: ServiceObserved & TreeObserved & AddressObserved, lb: LoadBalancer): string | undefined {
  if (!isOwner(observed, lb) || othersTags(lb, observed).length > 0) return "other Services share it";
  if (observed.parameters.portId !== undefined) return "its VIP is on a port of yours";
  return observed.floatingIp ? undefined : "its address is its VIP, which would change";
}

/** Once the new one is whole: its floating IP comes over, and the old one goes. */
export function retirement(observed: TreeObserved & AddressObserved, lb: LoadBalancer, now: number): Retirement {
  const [old] = observed.retiring;
  if (!old) return { steps: [] };
  const { retiringFloatingIp: ip } = observed;
  if (ip) return { steps: [{ type: "attach-floating-ip", id: ip.id, portId: lb.vip_port_id }] };
  return removedWhenSettled(old, now);
}

/** With its Service a load balancer goes that is being replaced, too. */
export function retireAtOnce(
  observed: ServiceObserved & TreeObserved & AddressObserved,
  now: number,
): Retirement | undefined {
  const [old] = observed.retiring;
  if (!old) return undefined;
  const { retiringFloatingIp: ip } = observed;
  if (ip) return { steps: [giveUp(ip, observed.parameters.keepFloatingIp)] };
  return removedWhenSettled(old, now);
}

/** What a load balancer that has been replaced still needs. */
type Retirement = Pick<Plan<OneStep, undefined>, "steps" | "wait">;

/** Being renamed keeps it busy for a while. */
function removedWhenSettled(old: LoadBalancer, now: number): Retirement {
  const settled = old.provisioning_status === "ACTIVE" || old.provisioning_status === "ERROR";
  if (settled) return { steps: [removal(old)] };
  return { steps: [], wait: { for: `load balancer ${old.id} to be changeable`, until: now + resyncInterval } };
}

function removal({ id }: LoadBalancer): TreeStep {
  const message = `Deleting load balancer ${id}, which has been replaced`;
  return {
    type: "delete-load-balancer",
    id,
    cascade: true,
    event: { type: "Normal", reason: "DeletingLoadBalancer", message },
  };
}
