import { isObject, type JsonObject } from "../../kernel/json.ts";
import { fault, invalid } from "../errors.ts";
import { listOf, object, readCreate } from "../kit/fields.ts";
import { listenerFields, makeListener } from "./listeners.ts";
import { makeMember, memberFields, memberViews } from "./members.ts";
import { makeMonitor, monitorFields } from "./health-monitors.ts";
import { makePool, poolFields } from "./pools.ts";
import { driverOf } from "../rules/drivers.ts";
import { makePolicy, makeRule, policyFields, ruleFields } from "./l7.ts";
import { checkL7 } from "../rules/providers.ts";
import type { BalancerState, Listener, LoadBalancer, Pool } from "../model.ts";
import { checkQuota } from "../kit/routes.ts";
import { listenerView, monitorView, poolView } from "../views.ts";

/** The children of a fully populated create, as its body has them. */
export interface GraphAsk {
  readonly listeners: readonly JsonObject[];
  readonly pools: readonly JsonObject[];
}

/** The child fields of a load balancer's body. */
export const graphFields = {
  listeners: { read: listOf(object), put: false },
  pools: { read: listOf(object), put: false },
} as const;

/**
 * Creates all children of a new load balancer; returns the references that become ACTIVE with it. With OVN the monitors
 * are not among them: they remain PENDING_CREATE for good, as with the OVN provider of OpenStack Zed.
 */
export function makeGraph(state: BalancerState, balancer: LoadBalancer, ask: GraphAsk): readonly string[] {
  const touched: string[] = [];
  const byName = new Map<string, Pool>();
  const policies: { readonly listener: Listener; readonly policy: JsonObject }[] = [];
  for (const given of ask.pools) {
    const pool = makePoolTree(state, balancer, { given, touched });
    if (pool.name !== "") byName.set(pool.name, pool);
  }
  for (const given of ask.listeners) {
    const { default_pool: wanted, l7policies, ...rest } = given;
    const pool = wanted === undefined ? undefined : defaultPool(state, balancer, { wanted, byName, touched });
    if (pool && pool.name !== "") byName.set(pool.name, pool);
    const poolId = pool?.id;
    const fields = {
      ...rest,
      loadbalancer_id: balancer.id,
      ...(poolId === undefined ? {} : { default_pool_id: poolId }),
    };
    const input = readCreate(listenerFields, fields, "load_balancer.loadbalancer.listeners");
    quota(state, balancer, "listener");
    const listener = makeListener(state, balancer, input);
    touched.push(`listener:${listener.id}`);
    policies.push(...listOf(object)(l7policies ?? [], "l7policies").map((policy) => ({ listener, policy })));
  }
  // As Octavia does: a policy may name a pool of any listener of the request.
  for (const each of policies) touched.push(...makePolicyTree(state, balancer, { ...each, byName, touched }));
  return touched;
}

interface PolicyAsk {
  readonly listener: Listener;
  readonly policy: JsonObject;
  readonly byName: Map<string, Pool>;
  readonly touched: string[];
}

/** A policy with its rules; its pool is named, or given whole. */
function makePolicyTree(
  state: BalancerState,
  balancer: LoadBalancer,
  { listener, policy, byName, touched }: PolicyAsk,
): string[] {
  const { redirect_pool: wanted, rules, ...rest } = policy;
  const pool = wanted === undefined ? undefined : defaultPool(state, balancer, { wanted, byName, touched });
  if (pool && pool.name !== "") byName.set(pool.name, pool);
  const fields = { ...rest, listener_id: listener.id, ...(pool ? { redirect_pool_id: pool.id } : {}) };
  quota(state, balancer, "l7policy");
  const made = makePolicy(state, balancer, { listener, input: readCreate(policyFields, fields, "l7policies") });
  const ruleRefs = listOf(object)(rules ?? [], "rules").map((rule) => {
    quota(state, balancer, "l7rule");
    return `rule:${makeRule(state, balancer, { policy: made, input: readCreate(ruleFields, rule, "rules") }).id}`;
  });
  // Octavia calls the driver last.
  checkL7(balancer, "l7policies");
  return [`l7policy:${made.id}`, ...ruleRefs];
}

interface DefaultPoolAsk {
  readonly wanted: unknown;
  readonly byName: ReadonlyMap<string, Pool>;
  readonly touched: string[];
}

/** A whole pool, or by name one of those given next to the listeners. */
function defaultPool(state: BalancerState, balancer: LoadBalancer, { wanted, byName, touched }: DefaultPoolAsk): Pool {
  const given = object(wanted, "default_pool");
  const reference = Object.keys(given).length === 1 && typeof given["name"] === "string" ? given["name"] : undefined;
  if (reference === undefined) return makePoolTree(state, balancer, { given, touched });
  const pool = byName.get(reference);
  if (!pool) throw invalid(`Pool ${reference} referenced but not found in the request.`);
  return pool;
}

function makePoolTree(
  state: BalancerState,
  balancer: LoadBalancer,
  { given, touched }: { given: JsonObject; touched: string[] },
): Pool {
  const { members, healthmonitor, ...rest } = given;
  const input = readCreate(poolFields, rest, "load_balancer.loadbalancer.pools");
  if (!input.name) throw invalid("Pools must be named when creating a fully populated loadbalancer.");
  quota(state, balancer, "pool");
  const pool = makePool(state, balancer, { input });
  touched.push(`pool:${pool.id}`);
  for (const element of listOf(object)(members ?? [], "members")) {
    quota(state, balancer, "member");
    const member = readCreate(memberFields, element, "load_balancer.loadbalancer.members");
    touched.push(`member:${makeMember(state, { balancer, pool }, member).id}`);
  }
  if (isObject(healthmonitor)) {
    const fields = { ...healthmonitor, pool_id: pool.id };
    const monitor = readCreate(monitorFields, fields, "load_balancer.loadbalancer.healthmonitor");
    quota(state, balancer, "health_monitor");
    const made = makeMonitor(state, { balancer, pool }, monitor);
    if (driverOf(balancer.provider) !== "ovn") touched.push(`healthmonitor:${made.id}`);
  }
  return pool;
}

function quota(state: BalancerState, { project_id: project }: LoadBalancer, resource: string): void {
  const kinds = {
    listener: { label: "Listener", used: () => state.listeners.count("project_id", project) },
    pool: { label: "Pool", used: () => state.pools.count("project_id", project) },
    member: { label: "Member", used: () => state.members.count("project_id", project) },
    l7policy: { label: "L7 Policy", used: () => state.policies.count("project_id", project) },
    l7rule: { label: "L7Rule", used: () => state.rules.count("project_id", project) },
    health_monitor: { label: "Health Monitor", used: () => state.monitors.count("project_id", project) },
  } as const;
  if (!Object.hasOwn(kinds, resource)) throw fault(500, `no quota ${resource}`);
  const kind = kinds[resource as keyof typeof kinds];
  checkQuota(state, project, { quota: resource, label: kind.label, used: kind.used() });
}

/** What the response to a create shows of the children: whole, not by id. */
export function graphView(state: BalancerState, balancer: LoadBalancer): JsonObject {
  const listeners = state.listeners.by("loadbalancer_id", balancer.id).map((row) => withoutParent(state, row));
  const pools = state.pools.by("loadbalancer_id", balancer.id).map((pool) => {
    const { loadbalancers: _, ...view } = poolView(state, pool);
    const monitor = state.monitors.by("pool_id", pool.id)[0];
    return {
      ...view,
      members: memberViews(state, pool),
      healthmonitor: monitor ? monitorView(state, monitor) : null,
    };
  });
  return { listeners, pools };
}

function withoutParent(state: BalancerState, row: Listener): JsonObject {
  const { loadbalancers: _, ...view } = listenerView(state, row);
  return view;
}
