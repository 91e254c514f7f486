import type {
  HealthMonitor,
  HealthMonitorCreate,
  Listener,
  ListenerCreate,
  LoadBalancer,
  LoadBalancerCreate,
  Member,
  MemberCreate,
  PoolInCreate,
} from "@causeway/openstack";
import type { ObservedPool } from "@causeway/octavia-tree";
import type { Observed } from "../observed.ts";
import type { OneStep } from "../steps.ts";

type Created = Extract<OneStep, { type: "create-load-balancer" }>;
type Tree = Pick<Observed, "loadBalancers" | "listeners" | "pools">;

/** The parts of a load balancer after one change of them. */
export function treeAfter(observed: Observed, step: OneStep): Observed {
  return { ...observed, ...changed(observed, step) };
}

function changed(tree: Tree & Pick<Observed, "service">, step: OneStep): Partial<Tree> {
  switch (step.type) {
    case "create-load-balancer":
      return created(step, tree.service.spec.ipFamilies?.[0] === "IPv6");
    case "failover":
      return { loadBalancers: tree.loadBalancers.map((lb) => ({ ...lb, provisioning_status: "ACTIVE" })) };
    case "update-load-balancer":
      return { loadBalancers: tree.loadBalancers.map((lb) => (lb.id === step.id ? { ...lb, ...step.change } : lb)) };
    case "create-listener":
      return withListener(tree, listenerOf(tree, step.body));
    case "update-listener":
      return { listeners: tree.listeners.map((l) => (l.id === step.id ? ({ ...l, ...step.change } as Listener) : l)) };
    case "delete-listener":
      return { listeners: tree.listeners.filter((l) => l.id !== step.id) };
    case "create-pool":
      return withPool(tree, step.body.listener_id ?? "", step.body);
    case "delete-pool":
      return withoutPool(tree, step.id);
    default:
      return { pools: tree.pools.flatMap((pool) => poolAfter(pool, step)) };
  }
}

/** What all parts have; Octavia will choose the id. */
function common(kind: string, name = "") {
  return {
    id: `(new ${kind} ${name})`,
    name,
    description: "",
    project_id: "",
    provisioning_status: "ACTIVE",
    operating_status: "ONLINE",
    admin_state_up: true,
    tags: [],
    created_at: "",
    updated_at: null,
  } as const;
}

function created({ body }: Created, sixth: boolean): Partial<Tree> {
  const lb: LoadBalancer = {
    ...common("load balancer", body.name),
    tags: body.tags ?? [],
    vip_address: body.vip_address ?? (sixth ? "(its VIP)::" : "(its VIP)"),
    vip_port_id: body.vip_port_id ?? "(port of its VIP)",
    vip_subnet_id: body.vip_subnet_id ?? "",
    vip_network_id: body.vip_network_id ?? "",
    provider: body.provider ?? "",
    listeners: [],
    pools: [],
  };
  const bare: Tree = { loadBalancers: [lb], listeners: [], pools: [] };
  return (body.listeners ?? []).reduce((tree, listener) => ({ ...tree, ...populated(tree, listener) }), bare);
}

function populated(tree: Tree, body: NonNullable<LoadBalancerCreate["listeners"]>[number]): Partial<Tree> {
  const { default_pool: pool, ...rest } = body;
  const listener = listenerOf(tree, { ...rest, loadbalancer_id: tree.loadBalancers[0]?.id ?? "" });
  const grown = { ...tree, ...withListener(tree, listener) };
  return pool ? { ...grown, ...withPool(grown, listener.id, pool) } : grown;
}

function listenerOf({ loadBalancers }: Tree, body: ListenerCreate): Listener {
  const unset = { connection_limit: -1, default_pool_id: null, allowed_cidrs: null, insert_headers: {} };
  const base = common("listener", body.name);
  return { ...base, ...unset, loadbalancers: loadBalancers.map(({ id }) => ({ id })), ...body } as Listener;
}

/** A pool that it takes over is its own from now on. */
function withListener(tree: Tree, listener: Listener): Partial<Tree> {
  const pools = tree.pools.map((p) =>
    p.pool.id === listener.default_pool_id ? { ...p, pool: { ...p.pool, listeners: [{ id: listener.id }] } } : p,
  );
  return { listeners: [...tree.listeners, listener], pools };
}

function withPool(tree: Tree, listenerId: string, body: PoolInCreate): Partial<Tree> {
  const { members = [], healthmonitor, ...rest } = body;
  const base = common("pool", body.name);
  const monitor = healthmonitor && monitorOf(base.id, healthmonitor);
  const made = {
    pool: {
      ...base,
      session_persistence: null,
      healthmonitor_id: monitor?.id ?? null,
      loadbalancers: tree.loadBalancers.map(({ id }) => ({ id })),
      listeners: [{ id: listenerId }],
      members: [],
      ...rest,
    },
    members: members.map(memberOf),
    monitor,
  } as unknown as ObservedPool;
  const listeners = tree.listeners.map((l) => (l.id === listenerId ? { ...l, default_pool_id: base.id } : l));
  return { listeners, pools: [...tree.pools, made] };
}

function withoutPool({ listeners, pools }: Tree, id: string): Partial<Tree> {
  return {
    pools: pools.filter((p) => p.pool.id !== id),
    listeners: listeners.map((l) => (l.default_pool_id === id ? { ...l, default_pool_id: null } : l)),
  };
}

function monitorOf(poolId: string, body: Omit<HealthMonitorCreate, "pool_id">): HealthMonitor {
  return { ...common("monitor", body.name), max_retries_down: 3, pools: [{ id: poolId }], ...body } as HealthMonitor;
}

function memberOf(body: MemberCreate): Member {
  const base = { ...common("member", `${body.address} ${body.protocol_port}`), name: "" };
  return { ...base, weight: 1, subnet_id: null, monitor_address: null, monitor_port: null, ...body } as Member;
}

/** What the step makes of it; a step of another pool makes nothing of it. */
function poolAfter(observed: ObservedPool, step: OneStep): ObservedPool {
  const { pool, members, monitor } = observed;
  if (poolIdOf(step) !== pool.id) return observed;
  switch (step.type) {
    case "update-pool":
      return { ...observed, pool: { ...pool, ...step.change } as ObservedPool["pool"] };
    case "replace-members":
      return { ...observed, members: step.members.map(memberOf) };
    case "create-member":
      return { ...observed, members: [...members, memberOf(step.body)] };
    case "update-member":
      return { ...observed, members: members.map((m) => (m.id === step.id ? { ...m, ...step.change } : m)) };
    case "delete-member":
      return { ...observed, members: members.filter((m) => m.id !== step.id) };
    case "create-monitor":
      return { ...observed, monitor: monitorOf(pool.id, step.body) };
    case "update-monitor":
      return { ...observed, monitor: { ...monitor, ...step.change } as HealthMonitor };
    case "delete-monitor":
      return { ...observed, monitor: undefined };
    default:
      return observed;
  }
}

function poolIdOf(step: OneStep): string | undefined {
  if (step.type === "update-pool") return step.id;
  if (step.type === "create-monitor") return step.body.pool_id;
  return "poolId" in step ? step.poolId : undefined;
}
