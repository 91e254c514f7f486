import type { Listener, LoadBalancer } from "@causeway/openstack";
import type { Observed } from "./gather.ts";
import { legacyLoadBalancerName, loadBalancerPrefix } from "./names.ts";

type Whose = Pick<Observed, "service" | "lbName" | "listeners">;

/** The Service whose name the load balancer has owns it; others may only put listeners on it. */
export function isOwner({ service, lbName }: Pick<Whose, "service" | "lbName">, lb: LoadBalancer): boolean {
  return lb.name === lbName || lb.name === legacyLoadBalancerName(service);
}

/** Tagged with our name, or untagged on a load balancer that is ours. */
export function ownListeners(whose: Whose, lb: LoadBalancer): Listener[] {
  const { listeners, lbName } = whose;
  return listeners.filter((l) => l.tags.includes(lbName) || (l.tags.length === 0 && isOwner(whose, lb)));
}

/** Does another Service have listeners on it? */
export function othersTags(lb: LoadBalancer, lbName: string): string[] {
  return lb.tags.filter((tag) => tag.startsWith(loadBalancerPrefix) && tag !== lbName);
}
