import type { LoadBalancer } from "@causeway/openstack";
import type { Owner } from "../names.ts";

/** Whether Octavia is deleting it: it serves nothing any more, and its name is not free yet. */
export function isLeaving({ provisioning_status: status }: LoadBalancer): boolean {
  return status === "PENDING_DELETE" || status === "DELETED";
}

/**
 * The load balancers of an owner, by its name or tag, the one to use first: those with our tag come first, then the
 * oldest, so that two processes choose the same one.
 */
export function selectBalancers(
  all: readonly LoadBalancer[],
  { tag }: Pick<Owner, "tag">,
): { readonly found: readonly LoadBalancer[]; readonly leaving: readonly LoadBalancer[] } {
  const rank = (lb: LoadBalancer): string => `${lb.tags.includes(tag) ? 0 : 1} ${lb.created_at} ${lb.id}`;
  return {
    found: all.filter((lb) => !isLeaving(lb)).toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)),
    leaving: all.filter(isLeaving),
  };
}
