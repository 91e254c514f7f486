import type { Node } from "@causeway/kubernetes";
import { isMember, memberAddresses } from "./parameters/new-members.ts";
import type { Observed } from "./observed.ts";

/**
 * Those of the excluded Nodes that are members of none of the Service's load balancers: no plan makes them members
 * again. Undefined: a load balancer is being changed, or may have members that are not seen.
 */
export function nodesLeft(observed: Observed, excluded: readonly Node[]): readonly Node[] | undefined {
  const each = observed.second ? [observed, observed.second] : [observed];
  if (!each.every(isSeen)) return undefined;
  const members = memberAddresses(each.flatMap(({ pools }) => pools));
  return excluded.filter((node) => !isMember(node, members));
}

function isSeen({ loadBalancers, retiring, leaving, adoption, unproved, held }: Observed): boolean {
  if (retiring.length + leaving.length > 0 || adoption || unproved !== undefined) return false;
  const [lb, ...more] = loadBalancers;
  if (!lb) return held.uncertain === undefined;
  return more.length === 0 && lb.provisioning_status === "ACTIVE" && held.expectedActive === undefined;
}
