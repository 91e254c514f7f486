import type { LoadBalancer } from "@causeway/openstack";
import { limitsOf, type ObservedPool } from "@causeway/octavia-tree";
import type { ServiceObserved, TreeObserved } from "../observed.ts";
import { loadBalancerDescription, maxNameLength } from "../parameters/names.ts";
import { isOwner, ownerTag, ownListeners, proofTags, sharerTag } from "../ownership.ts";
import type { TreeStep } from "../steps.ts";

/**
 * The next part that still has the name from before the cluster was renamed: monitors, pools, listeners, and the load
 * balancer last, so that its old name shows that the rename is not complete. Nothing that carries traffic is recreated.
 */
export function nextRename(observed: ServiceObserved & TreeObserved, lb: LoadBalancer): TreeStep | undefined {
  const { formerName: former, lbName } = observed;
  if (former === undefined) return undefined;
  const renamed = (name: string) => name.replace(former, lbName).slice(0, maxNameLength);
  const tagged = (tags: readonly string[]) => [...new Set(tags.map((tag) => (tag === former ? lbName : tag)))];
  const hasTags = limitsOf(lb.provider, observed.facts.version).tags;
  const own = ownListeners(observed, lb);
  const served = ({ pool }: ObservedPool) =>
    pool.listeners.length === 0 || pool.listeners.some((l) => own.some((o) => o.id === l.id));
  for (const { pool, monitor } of observed.pools.filter(served)) {
    if (monitor?.name.includes(former))
      return { type: "update-monitor", id: monitor.id, poolId: pool.id, change: { name: renamed(monitor.name) } };
    if (pool.name.includes(former)) return { type: "update-pool", id: pool.id, change: { name: renamed(pool.name) } };
  }
  const listener = own.find((l) => l.tags.includes(former) || l.name.includes(former));
  if (listener) {
    const change = { name: renamed(listener.name), ...(hasTags ? { tags: tagged(listener.tags) } : {}) };
    return { type: "update-listener", id: listener.id, change };
  }
  if (!hasTags && lb.name !== former) return undefined;
  const description = loadBalancerDescription(observed.clusterName, observed.service);
  const owned = lb.name === former ? { name: lbName, description } : {};
  const { clusterName, service } = observed;
  const mine = new Set(proofTags(lb, service));
  const proof = isOwner(observed, lb) ? ownerTag(clusterName, service) : sharerTag(clusterName, service);
  const tags = [...tagged(lb.tags.filter((tag) => !mine.has(tag))), proof];
  return { type: "update-load-balancer", id: lb.id, change: { ...owned, ...(hasTags ? { tags } : {}) } };
}
