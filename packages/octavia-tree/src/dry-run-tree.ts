import type {
  HealthMonitor,
  HealthMonitorCreate,
  L7Policy,
  L7PolicyCreate,
  L7Rule,
  L7RuleCreate,
  Listener,
  LoadBalancer,
  LoadBalancerCreate,
  Member,
  MemberCreate,
  PoolInCreate,
} from "@causeway/openstack";
import type { AnyTreeStep, ObservedTree } from "./plan-tree.ts";
import { placed, withoutPolicy, withPolicy, withRule } from "./policy-details.ts";
import type { ObservedPolicy } from "./policy-key.ts";
import type { ObservedPool } from "./pool-details.ts";
import { isOfPolicies, type MemberStep, type PolicyStep, type TreeStep } from "./steps.ts";

/**
 * The tree after one change of it, for a preview: nothing else happens, and the load balancer is ACTIVE again.
 */
export function treeAfter(tree: ObservedTree, step: AnyTreeStep): ObservedTree {
  if (isOfPolicies(step)) return withPolicies(tree, step.listenerId, (before) => policiesAfter(before, step));
  const { lb, listeners, pools } = tree;
  switch (step.type) {
    case "update-load-balancer":
      return { ...tree, lb: { ...lb, ...step.change } };
    case "create-listener":
      return { ...tree, listeners: [...listeners, listenerOf(lb, step.body)] };
    case "update-listener":
      return {
        ...tree,
        listeners: listeners.map((l) => (l.id === step.id ? ({ ...l, ...step.change } as Listener) : l)),
      };
    case "delete-listener":
      return {
        ...withPolicies(tree, step.id, () => []),
        listeners: listeners.filter(({ id }) => id !== step.id),
      };
    case "create-pool":
      return { ...tree, pools: [...pools, poolOf(lb, step.body as PoolInCreate)] };
    case "delete-pool":
      return { ...tree, pools: pools.filter(({ pool }) => pool.id !== step.id) };
    default:
      return { ...tree, pools: pools.map((each) => poolAfter(each, step)) };
  }
}

/** The tree that a create of all in one request makes. `chosen`: what of the load balancer the cloud would choose. */
export function treeOfCreate(body: LoadBalancerCreate, chosen: Partial<LoadBalancer> = {}): ObservedTree {
  const lb = {
    ...common("load balancer", body.name),
    ...body,
    tags: body.tags ?? [],
    vip_address: body.vip_address ?? "(its VIP)",
    vip_port_id: "(port of its VIP)",
    provider: body.provider ?? "",
    listeners: [],
    pools: [],
    ...chosen,
  } as unknown as LoadBalancer;
  const made = (body.listeners ?? []).map((each) => ({ each, listener: listenerOf(lb, each) }));
  const defaults = made.flatMap(({ each }) => (each.default_pool ? poolOf(lb, each.default_pool) : []));
  const pools = [...(body.pools ?? []).map((pool) => poolOf(lb, pool)), ...defaults];
  const idOf = (name: string | undefined): string | null =>
    pools.find(({ pool }) => pool.name === name)?.pool.id ?? null;
  return {
    lb,
    pools,
    listeners: made.map(({ each, listener }) => ({ ...listener, default_pool_id: idOf(each.default_pool?.name) })),
    policies: new Map(
      made.map(({ each, listener }) => [
        listener.id,
        (each.l7policies ?? []).map((policy, i) => {
          const { redirect_pool: pool, rules, ...fields } = policy;
          const id = idOf(pool?.name);
          const target = id === null ? {} : { redirect_pool_id: id };
          return policyOf({ ...fields, ...target, position: i + 1, listener_id: listener.id }, rules);
        }),
      ]),
    ),
  };
}

/** What all parts have; the cloud chooses the id. */
function common(kind: string, name = "") {
  return {
    id: `(new ${kind} ${name})`,
    name,
    description: "",
    provisioning_status: "ACTIVE",
    operating_status: "ONLINE",
    admin_state_up: true,
    tags: [],
    created_at: "",
    updated_at: null,
  } as const;
}

function listenerOf({ id }: LoadBalancer, body: object & { readonly name?: string }): Listener {
  const unset = {
    connection_limit: -1,
    default_pool_id: null,
    allowed_cidrs: null,
    insert_headers: {},
    l7policies: [],
  };
  return { ...common("listener", body.name), ...unset, loadbalancers: [{ id }], ...body } as unknown as Listener;
}

function poolOf({ id }: LoadBalancer, { members = [], healthmonitor, ...rest }: PoolInCreate): ObservedPool {
  const pool = {
    ...common("pool", rest.name),
    session_persistence: null,
    healthmonitor_id: null,
    loadbalancers: [{ id }],
    listeners: [],
    members: [],
    ...rest,
  };
  const made = { pool, members: members.map(memberOf), monitor: undefined } as unknown as ObservedPool;
  return healthmonitor ? withMonitor(made, monitorOf(made, healthmonitor)) : made;
}

function monitorOf({ pool }: ObservedPool, body: Omit<HealthMonitorCreate, "pool_id">): HealthMonitor {
  const base = common("monitor", `${pool.id} ${body.name ?? ""}`);
  return { ...base, pools: [{ id: pool.id }], ...body } as unknown as HealthMonitor;
}

function withMonitor(observed: ObservedPool, monitor: HealthMonitor | undefined): ObservedPool {
  return { ...observed, pool: { ...observed.pool, healthmonitor_id: monitor?.id ?? null }, monitor };
}

function memberOf(body: MemberCreate): Member {
  const base = { ...common("member", `${body.address} ${body.protocol_port}`), name: "" };
  return {
    ...base,
    weight: 1,
    subnet_id: null,
    monitor_address: null,
    monitor_port: null,
    ...body,
  } as unknown as Member;
}

function policyOf(body: Partial<L7PolicyCreate>, rules: readonly L7RuleCreate[]): ObservedPolicy {
  const made = rules.map((rule, i) => ruleOf(rule, i));
  const unset = { redirect_pool_id: null, redirect_url: null, redirect_prefix: null, redirect_http_code: null };
  const policy = { ...common("policy", body.name), ...unset, ...body, rules: made.map(({ id }) => ({ id })) };
  return { policy: policy as unknown as L7Policy, rules: made };
}

function ruleOf(body: L7RuleCreate, i: number): L7Rule {
  return { ...common("rule", String(i)), key: null, invert: false, ...body } as unknown as L7Rule;
}

function withPolicies(
  tree: ObservedTree,
  listenerId: string,
  change: (before: readonly ObservedPolicy[]) => readonly ObservedPolicy[],
): ObservedTree {
  return { ...tree, policies: new Map(tree.policies).set(listenerId, change(tree.policies.get(listenerId) ?? [])) };
}

function policiesAfter(before: readonly ObservedPolicy[], step: PolicyStep): readonly ObservedPolicy[] {
  switch (step.type) {
    case "create-policy":
      return withPolicy(before, policyOf(step.body, []).policy);
    case "create-rule":
      return withRule(before, step.policyId, ruleOf(step.body, before.length));
    case "delete-policy":
      return withoutPolicy(before, step.id);
    case "update-policy": {
      const { position, ...fields } = step.change;
      const changed = before.map((each) =>
        each.policy.id === step.id ? { ...each, policy: { ...each.policy, ...fields } as L7Policy } : each,
      );
      return position === undefined ? changed : placed(changed, step.id, position);
    }
  }
}

/** A step of another pool changes nothing. */
function poolAfter(observed: ObservedPool, step: TreeStep): ObservedPool {
  const { pool } = observed;
  if (step.type === "update-pool" && step.id === pool.id)
    return { ...observed, pool: { ...pool, ...step.change } as ObservedPool["pool"] };
  if (step.type === "create-monitor")
    return step.body.pool_id === pool.id ? withMonitor(observed, monitorOf(observed, step.body)) : observed;
  if (!("poolId" in step) || step.poolId !== pool.id) return observed;
  switch (step.type) {
    case "update-monitor":
      return { ...observed, monitor: { ...observed.monitor, ...step.change } as HealthMonitor };
    case "delete-monitor":
      return withMonitor(observed, undefined);
    default:
      return { ...observed, members: membersAfter(observed.members, step) };
  }
}

function membersAfter(members: readonly Member[], step: MemberStep): readonly Member[] {
  switch (step.type) {
    case "replace-members":
      return step.members.map(memberOf);
    case "create-member":
      return [...members, memberOf(step.body)];
    case "update-member":
      return members.map((member) => (member.id === step.id ? { ...member, ...step.change } : member));
    case "delete-member":
      return members.filter(({ id }) => id !== step.id);
  }
}
