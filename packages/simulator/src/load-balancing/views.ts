import type { JsonObject } from "../kernel/json.ts";
import type {
  BalancerState,
  HealthMonitor,
  L7Policy,
  L7Rule,
  Listener,
  LoadBalancer,
  Member,
  Pool,
  Resource,
} from "./model.ts";
import { noTls } from "./rules/pool-tls.ts";
import { driverOf } from "./rules/drivers.ts";

/** How the wire shows rows. Operating statuses are derived, never kept. */

const ids = (rows: readonly Resource[]) => rows.map(({ id }) => ({ id })).sort((a, b) => (a.id < b.id ? -1 : 1));

const worst = (statuses: readonly string[]): string =>
  statuses.includes("ERROR") ? "ERROR" : statuses.includes("DEGRADED") ? "DEGRADED" : "ONLINE";

const isDown = (row: Resource): boolean => !row.admin_state_up || row.provisioning_status === "PENDING_CREATE";

/** The operating status of a load balancer: the worst of its pools', unless it failed or is disabled itself. */
export function balancerStatus(state: BalancerState, row: LoadBalancer): string {
  if (row.provisioning_status === "ERROR") return "ERROR";
  if (isDown(row)) return "OFFLINE";
  return worst(state.pools.by("loadbalancer_id", row.id).map((pool) => poolStatus(state, pool)));
}

/** The operating status of a listener: its default pool's, except that an idle pool leaves it ONLINE. */
export function listenerStatus(state: BalancerState, row: Listener): string {
  if (isDown(row)) return "OFFLINE";
  const pool = row.default_pool_id === null ? undefined : state.pools.get(row.default_pool_id);
  const status = pool ? poolStatus(state, pool) : "ONLINE";
  return status === "OFFLINE" ? "ONLINE" : status;
}

/** The operating status of a pool: ERROR if all members fail, DEGRADED if some do, OFFLINE if it is not used. */
export function poolStatus(state: BalancerState, row: Pool): string {
  if (isDown(row) || isIdle(state, row)) return "OFFLINE";
  const statuses = state.members.by("pool_id", row.id).map((member) => memberStatus(state, member));
  const dead = statuses.filter((status) => status === "ERROR").length;
  if (dead === 0) return "ONLINE";
  return dead === statuses.length ? "ERROR" : "DEGRADED";
}

/** Pools are nothing yet before a listener leads to them; OVN's are something with a member, too. */
function isIdle(state: BalancerState, { id, loadbalancer_id }: Pool): boolean {
  if (state.listeners.count("default_pool_id", id) > 0) return false;
  const provider = state.loadBalancers.get(loadbalancer_id)?.provider ?? "";
  return driverOf(provider) === "ovn"
    ? state.members.count("pool_id", id) === 0
    : !state.policies.all().some((policy) => policy.redirect_pool_id === id);
}

/** ERROR if a test ordered the outcome "error" of "member.health" for its address, name or id. */
export function memberStatus(state: BalancerState, row: Member): string {
  if (!row.admin_state_up) return "OFFLINE";
  const monitor = state.monitors.by("pool_id", row.pool_id)[0];
  if (!monitor || monitor.provisioning_status === "PENDING_CREATE") return "NO_MONITOR";
  if (row.provisioning_status === "PENDING_CREATE") return "OFFLINE";
  if (state.kernel.outcome("member.health", row.address, row.name, row.id) === "error") return "ERROR";
  const balancer = state.loadBalancers.get(state.pools.get(row.pool_id)?.loadbalancer_id ?? "");
  return row.weight === 0 && driverOf(balancer?.provider ?? "") === "amphora" ? "DRAINING" : "ONLINE";
}

/** A load balancer as Octavia returns it, with the ids of its listeners and pools. */
export function balancerView(state: BalancerState, row: LoadBalancer): JsonObject {
  const { owns_port: _, ...wire } = row;
  return {
    ...wire,
    tenant_id: row.project_id,
    operating_status: balancerStatus(state, row),
    listeners: ids(state.listeners.by("loadbalancer_id", row.id)),
    pools: ids(state.pools.by("loadbalancer_id", row.id)),
    additional_vips: row.additional_vips ?? [],
  };
}

/** A listener as Octavia returns it, with the ids of its L7 policies. */
export function listenerView(state: BalancerState, row: Listener): JsonObject {
  const { loadbalancer_id: balancer, ...wire } = row;
  return {
    ...wire,
    tenant_id: row.project_id,
    operating_status: listenerStatus(state, row),
    loadbalancers: [{ id: balancer }],
    l7policies: ids(state.policies.by("listener_id", row.id)),
  };
}

/** A pool as Octavia returns it; `healthmonitor_id` is absent without a monitor. */
export function poolView(state: BalancerState, row: Pool): JsonObject {
  const { loadbalancer_id: balancer, ...wire } = row;
  const monitor = state.monitors.by("pool_id", row.id)[0];
  return {
    ...noTls,
    ...wire,
    tenant_id: row.project_id,
    operating_status: poolStatus(state, row),
    loadbalancers: [{ id: balancer }],
    listeners: ids(state.listeners.by("default_pool_id", row.id)),
    members: ids(state.members.by("pool_id", row.id)),
    ...(monitor ? { healthmonitor_id: monitor.id } : {}),
  };
}

/** A member as Octavia returns it. */
export function memberView(state: BalancerState, row: Member): JsonObject {
  const { pool_id: _, ...wire } = row;
  return { ...wire, tenant_id: row.project_id, operating_status: memberStatus(state, row) };
}

/** A health monitor as Octavia returns it. `_` makes it fit where the other views are used. */
export function monitorView(_: BalancerState, row: HealthMonitor): JsonObject {
  const { pool_id: pool, ...wire } = row;
  return {
    ...wire,
    tenant_id: row.project_id,
    pools: [{ id: pool }],
    operating_status: isDown(row) ? "OFFLINE" : "ONLINE",
  };
}

/** An L7 policy as Octavia returns it, with the ids of its rules. */
export function policyView(state: BalancerState, row: L7Policy): JsonObject {
  return {
    ...row,
    tenant_id: row.project_id,
    operating_status: isDown(row) ? "OFFLINE" : "ONLINE",
    rules: ids(state.rules.by("l7policy_id", row.id)),
  };
}

/** An L7 rule as Octavia returns it: without a name, which rules do not have. */
export function ruleView(_: BalancerState, row: L7Rule): JsonObject {
  const { l7policy_id: _policy, name: _name, ...wire } = row;
  return { ...wire, tenant_id: row.project_id, operating_status: isDown(row) ? "OFFLINE" : "ONLINE" };
}

/**
 * GET /loadbalancers/ID/status: what belongs to the listeners, with both statuses; a pool without a listener is not
 * included.
 */
export function statusTree(state: BalancerState, row: LoadBalancer): JsonObject {
  const head = (r: Resource, status: string) => ({
    id: r.id,
    name: r.name,
    operating_status: status,
    provisioning_status: r.provisioning_status,
  });
  const poolNode = (pool: Pool) => {
    const monitor = state.monitors.by("pool_id", pool.id)[0];
    return {
      ...head(pool, poolStatus(state, pool)),
      ...(monitor
        ? { health_monitor: { ...head(monitor, isDown(monitor) ? "OFFLINE" : "ONLINE"), type: monitor.type } }
        : {}),
      members: state.members.by("pool_id", pool.id).map((member) => ({
        ...head(member, memberStatus(state, member)),
        address: member.address,
        protocol_port: member.protocol_port,
      })),
    };
  };
  const listeners = state.listeners.by("loadbalancer_id", row.id);
  return {
    ...head(row, balancerStatus(state, row)),
    listeners: listeners.map((listener) => {
      const pool = listener.default_pool_id === null ? undefined : state.pools.get(listener.default_pool_id);
      return { ...head(listener, listenerStatus(state, listener)), pools: pool ? [poolNode(pool)] : [] };
    }),
  };
}
