import type { ListenerInCreate, LoadBalancerCreate, PoolInCreate } from "@causeway/openstack";
import { listenerSettings, monitorBody } from "./bodies.ts";
import type { DesiredListener, DesiredPool, DesiredTree } from "./desired.ts";
import { policyFields } from "./plan-policies.ts";
import { firstByName } from "./policy-key.ts";

/**
 * The parts of a load balancer's create: everything below it in one POST. A default pool is in its listener, where the
 * listener is the only one that has it; another listener gets it by an update when the load balancer is ACTIVE.
 */
export function partsInCreate(
  { listeners, pools }: DesiredTree,
  policyDescription: string,
): Pick<LoadBalancerCreate, "listeners" | "pools"> {
  const placed = new Set<string>();
  const made = listeners.map((listener) => {
    const pool = placed.has(listener.defaultPool ?? "")
      ? undefined
      : pools.find(({ poolName }) => poolName === listener.defaultPool);
    if (pool) placed.add(pool.poolName);
    return listenerInCreate(listener, pool, policyDescription);
  });
  const others = pools.filter(({ poolName }) => !placed.has(poolName)).map(poolInCreate);
  return { ...(others.length > 0 ? { pools: others } : {}), listeners: made };
}

function poolInCreate(pool: DesiredPool): PoolInCreate {
  return {
    name: pool.poolName,
    protocol: pool.poolProtocol,
    lb_algorithm: pool.algorithm,
    ...(pool.persistence ? { session_persistence: pool.persistence } : {}),
    ...(pool.poolTags?.length ? { tags: [...pool.poolTags] } : {}),
    members: [...pool.members],
    ...(pool.monitor ? { healthmonitor: monitorBody(pool.monitor, pool.monitorName) } : {}),
  };
}

/** Policies name their pools: Octavia finds them among those of the same request. */
function listenerInCreate(
  listener: DesiredListener,
  pool: DesiredPool | undefined,
  description: string,
): ListenerInCreate {
  const byName = firstByName(listener.policies);
  return {
    name: listener.listenerName,
    protocol: listener.protocol,
    protocol_port: listener.port,
    ...listenerSettings(listener),
    ...(listener.tags.length > 0 ? { tags: [...listener.tags] } : {}),
    ...(pool ? { default_pool: poolInCreate(pool) } : {}),
    ...(byName.size === 0
      ? {}
      : {
          l7policies: [...byName].map(([name, policy]) => ({
            name,
            ...policyFields(policy, description),
            ...(policy.pool === undefined ? {} : { redirect_pool: { name: policy.pool } }),
            rules: [...policy.rules],
          })),
        }),
  };
}
