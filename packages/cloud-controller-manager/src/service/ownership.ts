import type { Service } from "@causeway/kubernetes";
import type { Listener, LoadBalancer } from "@causeway/openstack";
import type { Observed } from "./gather.ts";
import { annotation, legacyLoadBalancerName, loadBalancerPrefix } from "./names.ts";

type Whose = Pick<Observed, "service" | "lbName" | "listeners" | "formerName">;

/** The Service whose name the load balancer has owns it; others may only put listeners on it. */
export function isOwner({ service, lbName, formerName: former }: Omit<Whose, "listeners">, lb: LoadBalancer): boolean {
  return lb.name === lbName || lb.name === legacyLoadBalancerName(service) || lb.name === former;
}

/** Tagged with our name, or untagged on a load balancer that is ours. */
export function ownListeners(whose: Whose, lb: LoadBalancer): Listener[] {
  const { listeners, lbName, formerName: former } = whose;
  return listeners.filter(
    (l) =>
      l.tags.includes(lbName) ||
      (former !== undefined && l.tags.includes(former)) ||
      (l.tags.length === 0 && isOwner(whose, lb)),
  );
}

/** Does another Service have listeners on it? */
export function othersTags(
  lb: LoadBalancer,
  { lbName, formerName: former }: Omit<Whose, "listeners" | "service">,
): string[] {
  return lb.tags.filter((tag) => tag.startsWith(loadBalancerPrefix) && tag !== lbName && tag !== former);
}

/**
 * The name that the Service had on this load balancer before the cluster was named otherwise; undefined when it had none. Names
 * and namespaces have no underscores, so its end tells whose it is. The Service must bear the address that a controller noted
 * for it: an id alone could have been written by a person who wants to share another cluster's load balancer.
 */
export function formerName(service: Service, lb: LoadBalancer, lbName: string): string | undefined {
  const { namespace, name, annotations = {} } = service.metadata;
  if (lb.name === lbName) return undefined;
  const published = service.status?.loadBalancer?.ingress ?? [];
  const noted = annotations[annotation.loadBalancerAddress];
  if (annotations[annotation.loadBalancerId] !== lb.id || noted === undefined || published.length === 0)
    return undefined;
  const end = `_${namespace}_${name}`;
  return [lb.name, ...lb.tags].find(
    (known) => known.startsWith(loadBalancerPrefix) && known.endsWith(end) && known !== lbName,
  );
}
