import type { Listener, ListenerUpdate, LoadBalancer, Member, MemberCreate, PoolUpdate } from "@causeway/openstack";
import type { DesiredPort } from "./desired.ts";
import type { Observed, ObservedPool } from "./gather.ts";
import { listenerSettings, monitorBody } from "./bodies.ts";
import { limitsOf } from "./provider.ts";
import type { Step } from "./steps.ts";

export interface TreeGoal {
  readonly lb: LoadBalancer;
  readonly wanted: readonly DesiredPort[];
}

/**
 * The next change that brings a load balancer's tree nearer to its Service; undefined when nothing is to be done. Ports that
 * no longer are wanted go first, so that another may take their number; then each port from the listener down.
 */
export function nextChange(observed: Observed, goal: TreeGoal): Step | undefined {
  const own = ownListeners(observed, goal.lb);
  const extra = own.find((listener) => !goal.wanted.some((port) => isListenerOf(port, listener)));
  if (extra) return removal(extra);
  for (const port of goal.wanted) {
    const change = portChange(observed, goal, port);
    if (change) return change;
  }
  return undefined;
}

/** Tagged with our name, or untagged on a load balancer that is ours. */
function ownListeners({ listeners, lbName }: Observed, lb: LoadBalancer): Listener[] {
  return listeners.filter((l) => l.tags.includes(lbName) || (lb.name === lbName && l.tags.length === 0));
}

function isListenerOf(port: DesiredPort, listener: Listener): boolean {
  return listener.protocol === port.protocol && listener.protocol_port === port.port;
}

function removal(listener: Listener): Step {
  return {
    type: "delete-listener",
    id: listener.id,
    ...(listener.default_pool_id === null ? {} : { poolId: listener.default_pool_id }),
  };
}

function portChange(observed: Observed, goal: TreeGoal, port: DesiredPort): Step | undefined {
  const listener = observed.listeners.find((l) => isListenerOf(port, l));
  if (!listener) return createListener(observed, goal.lb, port);
  const settings = listenerChange(listener, port, observed.lbName);
  if (settings) return { type: "update-listener", id: listener.id, change: settings };
  const pool = observed.pools.find(
    (p) => p.pool.id === listener.default_pool_id || p.pool.listeners.some((l) => l.id === listener.id),
  );
  if (!pool) return createPool(port, listener.id);
  if (pool.pool.protocol !== port.poolProtocol) return { type: "delete-pool", id: pool.pool.id };
  return poolChange(pool, port, goal.lb.provider);
}

function createListener(observed: Observed, lb: LoadBalancer, port: DesiredPort): Step {
  return {
    type: "create-listener",
    body: {
      loadbalancer_id: lb.id,
      name: port.listenerName,
      protocol: port.protocol,
      protocol_port: port.port,
      ...listenerSettings(port),
      tags: [observed.lbName],
    },
  };
}

function createPool(port: DesiredPort, listenerId: string): Step {
  return {
    type: "create-pool",
    body: {
      listener_id: listenerId,
      name: port.poolName,
      protocol: port.poolProtocol,
      lb_algorithm: port.algorithm,
      ...(port.persistence ? { session_persistence: port.persistence } : {}),
    },
  };
}

/** Only what differs and what the provider honours; others' tags stay. */
function listenerChange(listener: Listener, port: DesiredPort, lbName: string): ListenerUpdate | undefined {
  const change: Record<string, unknown> = {};
  if (!listener.tags.includes(lbName)) change["tags"] = [...listener.tags, lbName];
  if (listener.connection_limit !== port.connectionLimit) change["connection_limit"] = port.connectionLimit;
  if (port.allowedCidrs && !sameSet(listener.allowed_cidrs ?? [], port.allowedCidrs))
    change["allowed_cidrs"] = [...port.allowedCidrs];
  if (port.timeouts) {
    const pairs = [
      ["timeout_client_data", port.timeouts.clientData],
      ["timeout_member_connect", port.timeouts.memberConnect],
      ["timeout_member_data", port.timeouts.memberData],
      ["timeout_tcp_inspect", port.timeouts.tcpInspect],
    ] as const;
    for (const [key, value] of pairs)
      if (listener[key] !== undefined && listener[key] !== null && listener[key] !== value) change[key] = value;
  }
  const headers = port.insertHeaders ?? {};
  if (JSON.stringify(listener.insert_headers ?? {}) !== JSON.stringify(headers)) change["insert_headers"] = headers;
  return Object.keys(change).length === 0 ? undefined : (change as ListenerUpdate);
}

function poolChange(observed: ObservedPool, port: DesiredPort, provider: string): Step | undefined {
  const { pool, monitor } = observed;
  const change: PoolUpdate = {
    ...(pool.lb_algorithm === port.algorithm ? {} : { lb_algorithm: port.algorithm }),
    ...((pool.session_persistence?.type ?? null) === (port.persistence?.type ?? null)
      ? {}
      : { session_persistence: port.persistence }),
  };
  if (Object.keys(change).length > 0) return { type: "update-pool", id: pool.id, change };
  if (!sameMembers(observed.members, port.members))
    return { type: "replace-members", poolId: pool.id, members: port.members };
  if (port.monitor === undefined)
    return monitor ? { type: "delete-monitor", id: monitor.id, poolId: pool.id } : undefined;
  return monitorChange(observed, port, provider);
}

function monitorChange({ pool, monitor }: ObservedPool, port: DesiredPort, provider: string): Step | undefined {
  const body = monitorBody(port);
  if (!monitor) return { type: "create-monitor", body: { pool_id: pool.id, ...body } };
  if (monitor.type !== body.type) return { type: "delete-monitor", id: monitor.id, poolId: pool.id };
  const { type: _type, ...settings } = body;
  const keys = [
    "delay",
    "timeout",
    "max_retries",
    ...(limitsOf(provider).monitorPort ? (["max_retries_down"] as const) : []),
  ] as const;
  const change = Object.fromEntries(
    keys.filter((key) => monitor[key] !== settings[key]).map((key) => [key, settings[key]]),
  );
  return Object.keys(change).length === 0 ? undefined : { type: "update-monitor", id: monitor.id, change };
}

/** As a set of address, port and monitor port: weights that a person set are left alone. */
function sameMembers(have: readonly Member[], want: readonly MemberCreate[]): boolean {
  const alive = have.filter((m) => m.provisioning_status !== "PENDING_DELETE" && m.provisioning_status !== "DELETED");
  return sameSet(
    alive.map((m) => `${m.address} ${m.protocol_port} ${m.monitor_port ?? ""}`),
    want.map((m) => `${m.address} ${m.protocol_port} ${m.monitor_port ?? ""}`),
  );
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === new Set(a).size;
}
