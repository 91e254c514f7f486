import type { Listener, LoadBalancer, Pool } from "@causeway/openstack";
import {
  enabled,
  isOfMembers,
  listenerChange,
  listenerSettings,
  poolChanges,
  poolOf,
  removal,
  transport,
  type ObservedPool,
} from "@causeway/octavia-tree";
import type { DesiredPort } from "../parameters/desired.ts";
import type { MemoryObserved, ServiceObserved, TreeObserved } from "../observed.ts";
import { childName } from "../parameters/names.ts";
import { ownListeners } from "../ownership.ts";
import type { TreeStep } from "../steps.ts";

/** The load balancer as it is, and the ports and tags that it is to have. */
export interface TreeGoal {
  readonly lb: LoadBalancer;
  readonly wanted: readonly DesiredPort[];
  /** The tags that the load balancer must have; it may have others. */
  readonly tags: readonly string[];
}

type PlannedTree = ServiceObserved & TreeObserved & MemoryObserved;

/**
 * The next change that brings a load balancer's tree nearer to its Service; undefined when nothing is to be done, or
 * nothing but what is held back.
 */
export function nextChange(observed: PlannedTree, goal: TreeGoal): TreeStep | undefined {
  const free = changes(observed, goal).filter((change) => observed.held.braked(change) === undefined);
  const change = free.next().value;
  if (!change || !isOfMembers(change) || change.more) return change;
  return free.next().done === true ? change : { ...change, more: true };
}

/**
 * When the first of the changes that are held back may be tried again; undefined where none is. `more`: changes in
 * addition to those of the tree.
 */
export function brakedUntil(observed: PlannedTree, goal: TreeGoal, more: readonly TreeStep[] = []): number | undefined {
  const untils = [...more, ...changes(observed, goal)].flatMap((change) => observed.held.braked(change) ?? []);
  return untils.length === 0 ? undefined : Math.min(...untils);
}

/**
 * Ports that no longer are wanted go first, so that another may take their number; then each port from the listener
 * down.
 */
function* changes(observed: PlannedTree, goal: TreeGoal): Generator<TreeStep> {
  const own = ownListeners(observed, goal.lb);
  for (const listener of own)
    if (!goal.wanted.some((port) => isListenerOf(port, listener))) yield removal(observed.pools, listener);
  for (const port of goal.wanted) yield* portChanges({ observed, lb: goal.lb, own }, port);
  for (const { pool } of observed.pools) if (isStray(pool, observed, goal)) yield { type: "delete-pool", id: pool.id };
  const { lb } = goal;
  const tags = goal.tags.filter((tag) => !lb.tags.includes(tag));
  const change = { ...enabled(lb), ...(tags.length === 0 ? {} : { tags: [...lb.tags, ...tags] }) };
  if (Object.keys(change).length > 0) yield { type: "update-load-balancer", id: lb.id, change };
}

/** A pool of ours without a listener, unless the listener that is to be created takes it. */
function isStray(pool: Pool, observed: ServiceObserved & TreeObserved, { wanted }: TreeGoal): boolean {
  const isWanted = wanted.some(
    (port) =>
      port.poolName === pool.name &&
      port.poolProtocol === pool.protocol &&
      !observed.listeners.some((listener) => isListenerOf(port, listener)),
  );
  return !isWanted && isNamedAsOurs(pool.name, observed) && isUnused(pool, observed);
}

function isUnused(pool: Pool, { listeners }: TreeObserved): boolean {
  return pool.listeners.length === 0 && !listeners.some((listener) => listener.default_pool_id === pool.id);
}

/** A pool of ours whose listener was deleted by hand; a pool with any other name belongs to a user. */
function isNamedAsOurs(name: string, { lbName }: ServiceObserved): boolean {
  const index = /^pool_(\d+)_/.exec(name)?.[1];
  return index !== undefined && name === childName("pool", Number(index), lbName);
}

/** Ports that another owner's listener uses on the same load balancer, as "TCP 80". */
export function takenPorts(observed: ServiceObserved & TreeObserved, goal: TreeGoal): string[] {
  const own = new Set(ownListeners(observed, goal.lb).map((l) => l.id));
  const others = observed.listeners.filter((l) => !own.has(l.id));
  return goal.wanted
    .filter((port) =>
      others.some((l) => l.protocol_port === port.port && transport(l.protocol) === transport(port.protocol)),
    )
    .map((port) => `${port.protocol} ${port.port}`);
}

function isListenerOf(port: DesiredPort, listener: Listener): boolean {
  return listener.protocol === port.protocol && listener.protocol_port === port.port;
}

interface Place {
  readonly observed: PlannedTree;
  readonly lb: LoadBalancer;
  readonly own: readonly Listener[];
}

function* portChanges({ observed, lb, own }: Place, port: DesiredPort): Generator<TreeStep> {
  const listener = own.find((l) => isListenerOf(port, l));
  if (!listener) return yield createListener(observed, lb, port);
  const settings = listenerChange(listener, port);
  if (settings) yield { type: "update-listener", id: listener.id, change: settings };
  const pool = poolOf(observed.pools, listener);
  if (!pool) return yield createPool(port, listener.id);
  if (pool.pool.protocol !== port.poolProtocol) return yield { type: "delete-pool", id: pool.pool.id };
  const methodRefused = observed.held.refusedMethods.has(pool.pool.id);
  for (const change of poolChanges(pool, port, methodRefused))
    yield isStuck(observed, pool) ? { type: "delete-pool", id: pool.pool.id } : change;
}

/**
 * A pool that remains PENDING on an ACTIVE load balancer refuses every change but its deletion (seen on amphora after a
 * populated create). It is recreated once it has refused for half a minute.
 */
function isStuck({ held }: MemoryObserved, { pool }: ObservedPool): boolean {
  return held.refusals >= patientRefusals && pool.provisioning_status.startsWith("PENDING_");
}

const patientRefusals = 6;

/** A pool of ours that lost its listener gets it back. */
function createListener(observed: TreeObserved, lb: LoadBalancer, port: DesiredPort): TreeStep {
  const { pool } =
    observed.pools.find(
      (p) => p.pool.name === port.poolName && p.pool.protocol === port.poolProtocol && p.pool.listeners.length === 0,
    ) ?? {};
  return {
    type: "create-listener",
    body: {
      loadbalancer_id: lb.id,
      name: port.listenerName,
      protocol: port.protocol,
      protocol_port: port.port,
      ...listenerSettings(port),
      ...(pool ? { default_pool_id: pool.id } : {}),
      ...(port.tags.length > 0 ? { tags: [...port.tags] } : {}),
    },
  };
}

function createPool(port: DesiredPort, listenerId: string): TreeStep {
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
