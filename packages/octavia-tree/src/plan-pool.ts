import type { Listener, PoolUpdate } from "@causeway/openstack";
import { monitorBody } from "./bodies.ts";
import type { DesiredPool } from "./desired.ts";
import { enabled } from "./plan-listener.ts";
import { memberChange } from "./plan-members.ts";
import type { ObservedPool } from "./pool-details.ts";
import type { MonitorStep, TreeStep } from "./steps.ts";

/** The changes of a pool, its members and its monitor, in the order in which they are to be made. */
export function* poolChanges(
  observed: ObservedPool,
  wanted: Omit<DesiredPool, "poolName">,
  methodRefused: boolean,
): Generator<TreeStep> {
  const { pool, monitor } = observed;
  const tags = (wanted.poolTags ?? []).filter((tag) => !pool.tags.includes(tag));
  const change: PoolUpdate = {
    ...enabled(pool),
    ...(tags.length === 0 ? {} : { tags: [...pool.tags, ...tags] }),
    ...(pool.lb_algorithm === wanted.algorithm || methodRefused ? {} : { lb_algorithm: wanted.algorithm }),
    ...((pool.session_persistence?.type ?? null) === (wanted.persistence?.type ?? null)
      ? {}
      : { session_persistence: wanted.persistence }),
  };
  if (Object.keys(change).length > 0) yield { type: "update-pool", id: pool.id, change };
  // An unwanted monitor could mark new members as failed; one of another type is deleted before its successor is
  // created.
  const unfit = monitor && (wanted.monitor === undefined || monitor.type !== wanted.monitor.type);
  if (unfit) yield { type: "delete-monitor", id: monitor.id, poolId: pool.id };
  const members = memberChange(observed, wanted);
  if (members) yield members;
  const monitoring = unfit ? undefined : monitorChange(observed, wanted);
  if (monitoring) yield monitoring;
}

/**
 * The changes of a pool of which only the members are kept as desired. A pool that is new, or that no listener uses
 * yet, gets its monitor, for it is still being made; `observed.monitor` is not needed.
 */
export function* accessChanges(
  { pool, members }: Pick<ObservedPool, "pool" | "members">,
  wanted: DesiredPool,
  isUsed: boolean,
): Generator<TreeStep> {
  const change = memberChange({ pool, members }, wanted, "access");
  if (change) yield change;
  const isMonitored = (pool.healthmonitor_id ?? "") !== "";
  if (wanted.monitor && (!isUsed || wanted.isNew === true) && !isMonitored)
    yield { type: "create-monitor", body: { pool_id: pool.id, ...monitorBody(wanted.monitor, wanted.monitorName) } };
}

function monitorChange(
  { pool, monitor }: ObservedPool,
  wanted: Pick<DesiredPool, "monitor" | "monitorName">,
): MonitorStep | undefined {
  if (!wanted.monitor) return undefined;
  const body = monitorBody(wanted.monitor, wanted.monitorName);
  if (!monitor) return { type: "create-monitor", body: { pool_id: pool.id, ...body } };
  const optional = ["url_path", "http_method", "expected_codes"] as const;
  const given = optional.filter((key) => key in body);
  const keys = ["delay", "timeout", "max_retries", "max_retries_down", ...given] as const;
  const differing = keys.filter((key) => monitor[key] !== body[key]);
  const change = { ...enabled(monitor), ...Object.fromEntries(differing.map((key) => [key, body[key]])) };
  if (Object.keys(change).length === 0) return undefined;
  return { type: "update-monitor", id: monitor.id, poolId: pool.id, change };
}

/** The listener's default pool. */
export function poolOf(pools: readonly ObservedPool[], listener: Listener): ObservedPool | undefined {
  return pools.find(
    (p) => p.pool.id === listener.default_pool_id || p.pool.listeners.some((l) => l.id === listener.id),
  );
}

/**
 * Deletes a listener; first its pool, unless another listener uses it, because a listener's deletion leaves the pool
 * behind.
 */
export function removal(pools: readonly ObservedPool[], listener: Listener): TreeStep {
  const pool = poolOf(pools, listener)?.pool;
  const shared = pool?.listeners.some((l) => l.id !== listener.id) === true;
  return pool && !shared ? { type: "delete-pool", id: pool.id } : { type: "delete-listener", id: listener.id };
}

/** HTTP, HTTPS and TERMINATED_HTTPS listeners take a port of TCP. */
export function transport(protocol: string): string {
  return protocol === "UDP" || protocol === "SCTP" ? protocol : "TCP";
}
