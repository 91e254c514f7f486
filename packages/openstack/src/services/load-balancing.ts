import type { ServiceClient } from "../session/client.ts";
import type { LoadBalancingService } from "../types/cloud.ts";
import type * as L from "../types/load-balancing.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { createLoadBalancingExtras } from "./load-balancing-extras.ts";

/** Before version 2.5 of the API nothing has tags. */
const untagged: { tags: string[] } = { tags: [] };

/** Octavia. */
export function createLoadBalancingService(client: ServiceClient): LoadBalancingService {
  const loadBalancers = createCollection<L.LoadBalancer, L.LoadBalancerCreate, L.LoadBalancerUpdate>(client, {
    route: "/loadbalancers",
    one: "loadbalancer",
    many: "loadbalancers",
    absent: untagged,
    size: sizeOf,
  });
  return {
    ...createLoadBalancingExtras(client),
    loadBalancers,
    async deleteLoadBalancer(id, options = {}) {
      const { cascade = false, ...rest } = options;
      const query = cascade ? { cascade: true } : {};
      await ignoringNotFound(client.send({ method: "DELETE", route: "/loadbalancers/{id}", ids: [id], query }, rest));
    },
    statusTree: (id, options) =>
      client.send({ method: "GET", route: "/loadbalancers/{id}/status", ids: [id] }, options),
    listeners: createCollection<L.Listener, L.ListenerCreate, L.ListenerUpdate>(client, {
      route: "/listeners",
      one: "listener",
      many: "listeners",
      absent: untagged,
    }),
    pools: createCollection<L.Pool, L.PoolCreate, L.PoolUpdate>(client, {
      route: "/pools",
      one: "pool",
      many: "pools",
      absent: untagged,
    }),
    members: (poolId) =>
      createCollection<L.Member, L.MemberCreate, L.MemberUpdate>(client, {
        route: "/pools/{id}/members",
        parents: [poolId],
        one: "member",
        many: "members",
        absent: untagged,
      }),
    async replaceMembers(poolId, members, options = {}) {
      const { additive = false, ...rest } = options;
      const query = additive ? { additive_only: true } : {};
      const call = { method: "PUT" as const, route: "/pools/{id}/members", ids: [poolId], query, body: { members } };
      await client.send({ ...call, size: members.length }, rest);
    },
    healthMonitors: createCollection<L.HealthMonitor, L.HealthMonitorCreate, L.HealthMonitorUpdate>(client, {
      route: "/healthmonitors",
      one: "healthmonitor",
      many: "healthmonitors",
      absent: untagged,
    }),
    providers: createCollection<L.Provider, never>(client, { route: "/providers", one: "provider", many: "providers" }),
  };
}

function sizeOf(create: L.LoadBalancerCreate): number {
  const listeners = create.listeners ?? [];
  const pools = [...listeners.map((listener) => listener.default_pool), ...(create.pools ?? [])];
  const members = pools.reduce((sum, pool) => sum + (pool?.members?.length ?? 0), 0);
  return 1 + listeners.length + members;
}
