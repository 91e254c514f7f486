import type { Listener, LoadBalancer, Pool } from "@causeway/openstack";
import { listenerSettings } from "./bodies.ts";
import type { DesiredListener, DesiredPool, DesiredTree } from "./desired.ts";
import { enabled, listenerChange, sourceRangeChange } from "./plan-listener.ts";
import { accessChanges, poolChanges, transport } from "./plan-pool.ts";
import { policyChanges } from "./plan-policies.ts";
import type { ObservedPolicy } from "./policy-key.ts";
import type { ObservedPool } from "./pool-details.ts";
import { isOfMembers, type PolicyStep, type TreeStep } from "./steps.ts";

/** A load balancer with everything below it, as the cloud has it. */
export interface ObservedTree {
  readonly lb: LoadBalancer;
  readonly listeners: readonly Listener[];
  readonly pools: readonly ObservedPool[];
  /** By listener id. */
  readonly policies: ReadonlyMap<string, readonly ObservedPolicy[]>;
}

/** Whose a part is that the desired tree does not have: only what is ours is deleted. */
export interface Ownership {
  readonly listener: (listener: Listener) => boolean;
  readonly pool: (pool: Pool) => boolean;
  readonly policy: (policy: ObservedPolicy) => boolean;
  /** The description that ours have. */
  readonly policyDescription: string;
}

/** Any change of a load balancer and its parts. */
export type AnyTreeStep = TreeStep | PolicyStep;

/**
 * The next change that brings the observed tree nearer to the desired one; undefined when nothing is to be done, or
 * nothing but what `isHeld` holds back. One at a time: each leaves the load balancer PENDING.
 */
export function nextTreeChange(
  desired: DesiredTree,
  observed: ObservedTree,
  owns: Ownership,
  isHeld: (step: AnyTreeStep) => boolean = () => false,
): AnyTreeStep | undefined {
  const free = treeChanges(desired, observed, owns).filter((step) => !isHeld(step));
  const step = free.next().value;
  if (!step || !isOfMembers(step) || step.more) return step;
  return free.next().done === true ? step : { ...step, more: true };
}

/**
 * All changes in the order in which they are to be made, as far as they can be foreseen: pools with their members,
 * listeners, policies; then what is no longer wanted, from the policies that name a pool down to the pool. A listener
 * that occupies a wanted port is deleted first.
 */
export function* treeChanges(desired: DesiredTree, observed: ObservedTree, owns: Ownership): Generator<AnyTreeStep> {
  const { lb, listeners, pools } = observed;
  const unwanted = listeners.filter((l) => owns.listener(l) && !desired.listeners.some((d) => isListenerOf(d, l)));
  const blocking = unwanted.filter((l) => desired.listeners.some((d) => occupies(l, d)));
  for (const { id } of blocking) yield { type: "delete-listener", id };
  for (const wanted of desired.pools) yield* pool(wanted, observed, desired);
  for (const wanted of desired.listeners) yield* listener(wanted, desired, observed, owns);
  for (const each of unwanted) if (!blocking.includes(each)) yield { type: "delete-listener", id: each.id };
  const names = new Set(desired.pools.map(({ poolName, poolProtocol }) => `${poolProtocol} ${poolName}`));
  for (const each of pools)
    if (!names.has(`${each.pool.protocol} ${each.pool.name}`) && owns.pool(each.pool) && !isUsed(each.pool, observed))
      yield { type: "delete-pool", id: each.pool.id };
  if (desired.upkeep === "access") return;
  const tags = desired.tags.filter((tag) => !lb.tags.includes(tag));
  const change = {
    ...enabled(lb),
    ...(tags.length === 0 ? {} : { tags: [...lb.tags, ...tags] }),
    ...(desired.description === undefined || desired.description === lb.description
      ? {}
      : { description: desired.description }),
  };
  if (Object.keys(change).length > 0) yield { type: "update-load-balancer", id: lb.id, change };
}

function isListenerOf(wanted: DesiredListener, { protocol, protocol_port: port }: Listener): boolean {
  return protocol === wanted.protocol && port === wanted.port;
}

function occupies({ protocol, protocol_port: port }: Listener, wanted: DesiredListener): boolean {
  return port === wanted.port && transport(protocol) === transport(wanted.protocol);
}

/** A listener, or a policy that is not going, still sends requests to it: Octavia refuses to delete it. */
function isUsed({ id }: Pool, { listeners, policies }: ObservedTree): boolean {
  if (listeners.some((l) => l.default_pool_id === id)) return true;
  return [...policies.values()].flat().some(({ policy }) => policy.redirect_pool_id === id);
}

function* pool(
  wanted: DesiredPool,
  observed: ObservedTree,
  { upkeep }: Pick<DesiredTree, "upkeep">,
): Generator<AnyTreeStep> {
  const { lb, pools } = observed;
  const found = poolNamed(pools, wanted);
  if (found && upkeep === "access") return yield* accessChanges(found, wanted, isUsed(found.pool, observed));
  if (found) return yield* poolChanges(found, wanted, false);
  yield {
    type: "create-pool",
    body: {
      loadbalancer_id: lb.id,
      name: wanted.poolName,
      protocol: wanted.poolProtocol,
      lb_algorithm: wanted.algorithm,
      ...(wanted.persistence ? { session_persistence: wanted.persistence } : {}),
      ...(wanted.poolTags?.length ? { tags: [...wanted.poolTags] } : {}),
    },
  };
}

function poolNamed(
  pools: readonly ObservedPool[],
  { poolName, poolProtocol }: Pick<DesiredPool, "poolName" | "poolProtocol">,
): ObservedPool | undefined {
  return pools.find((p) => p.pool.name === poolName && p.pool.protocol === poolProtocol);
}

function* listener(
  wanted: DesiredListener,
  desired: DesiredTree,
  observed: ObservedTree,
  owns: Ownership,
): Generator<AnyTreeStep> {
  const { lb, listeners, pools, policies } = observed;
  const poolId = (name: string): string | undefined => {
    const pool = desired.pools.find(({ poolName }) => poolName === name);
    return pool && poolNamed(pools, pool)?.pool.id;
  };
  const found = listeners.find((l) => isListenerOf(wanted, l));
  const defaultId = wanted.defaultPool === undefined ? null : poolId(wanted.defaultPool);
  if (!found) {
    if (defaultId === undefined) return;
    return yield {
      type: "create-listener",
      body: {
        loadbalancer_id: lb.id,
        name: wanted.listenerName,
        protocol: wanted.protocol,
        protocol_port: wanted.port,
        ...listenerSettings(wanted),
        ...(defaultId === null ? {} : { default_pool_id: defaultId }),
        ...(wanted.tags.length > 0 ? { tags: [...wanted.tags] } : {}),
      },
    };
  }
  const isKept = desired.upkeep === "access" && found.default_pool_id !== null;
  const change = {
    ...(desired.upkeep === "access" ? sourceRangeChange(found, wanted) : listenerChange(found, wanted)),
    ...(defaultId === undefined || found.default_pool_id === defaultId || isKept ? {} : { default_pool_id: defaultId }),
  };
  if (Object.keys(change).length > 0) yield { type: "update-listener", id: found.id, change };
  yield* policyChanges(policies.get(found.id) ?? [], {
    listenerId: found.id,
    wanted: wanted.policies,
    description: owns.policyDescription,
    poolId,
    owns: owns.policy,
  });
}
