import type { Service } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import { isAnothers } from "./ownership.ts";
import { retiringName } from "./parameters/names.ts";

/** What the cloud has under the ID and the names by which a Service's load balancer is found. */
export interface CandidateLists {
  /** By the ID in the Service's annotation. */
  readonly annotated: LoadBalancer | undefined;
  /** Of the name that it has. */
  readonly named: readonly LoadBalancer[];
  /** Of the name that it had: the in-tree provider's, or from before the cluster was renamed. */
  readonly old: readonly LoadBalancer[];
}

/**
 * Which load balancers may be the Service's: by the annotated ID, else by name, else by the old name; with those of
 * that name that are being deleted.
 */
export function candidatesOf(
  { annotated: known, named: all, old }: CandidateLists,
  service: Service,
  lbName: string,
): readonly LoadBalancer[] {
  const isAlive = (lb: LoadBalancer) =>
    lb.provisioning_status !== "DELETED" && !(lb.name === lbName && isAnothers(lb, service));
  const isUsable = known !== undefined && isAlive(known) && known.name !== retiringName(lbName);
  const named = all.filter(isAlive);
  if (isUsable && known.provisioning_status !== "PENDING_DELETE") {
    // A second load balancer of our name is kept in the result: the plan reports it as an error.
    return known.name === lbName ? [known, ...named.filter((lb) => lb.id !== known.id)] : [known];
  }
  if (named.length > 0) return named;
  const former = old.filter(isAlive);
  return former.length > 0 || !isUsable ? former : [known];
}
