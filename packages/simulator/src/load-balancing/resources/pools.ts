import { fault, invalid, notFound } from "../errors.ts";
import { bool, common, given, object, oneOf, orNull, owner, uuid, type InputOf, words } from "../kit/fields.ts";
import { checkPoolProtocol } from "./listeners.ts";
import { checkAlgorithm, checkProtocol } from "../rules/providers.ts";
import { born, type BalancerState, type Listener, type LoadBalancer, type Pool } from "../model.ts";
import { mountChild, type BalancerApp, type Kind } from "../kit/routes.ts";
import { defaultTls, noTls, tlsFields } from "../rules/pool-tls.ts";
import { poolView } from "../views.ts";

const fields = {
  ...common,
  ...owner,
  description: { read: words },
  loadbalancer_id: { read: uuid, put: false },
  listener_id: { read: uuid, put: false },
  protocol: { read: oneOf("TCP", "SCTP", "HTTP", "HTTPS", "PROXY", "PROXYV2", "UDP"), required: true, put: false },
  lb_algorithm: { read: oneOf("ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"), required: true },
  session_persistence: { read: orNull(persistence) },
  tls_enabled: { read: bool },
  ...tlsFields,
} as const;

/** All four fields, whatever was given. */
function persistence(value: unknown, field: string): Readonly<Record<string, unknown>> {
  const asked = object(value, field);
  const type = oneOf("APP_COOKIE", "SOURCE_IP", "HTTP_COOKIE")(asked["type"], "type");
  return { type, cookie_name: null, persistence_timeout: null, persistence_granularity: null, ...asked };
}
/** What a pool may be given, also inside a tree of one request. */
export const poolFields = fields;
type PoolInput = InputOf<typeof fields>;

/** Pools. One that an L7 policy redirects to cannot be deleted: 409. */
export function poolKind(state: BalancerState): Kind<Pool, typeof fields> {
  return {
    singular: "pool",
    plural: "pools",
    label: "Pool",
    argument: "pool_",
    quota: "pool",
    fields,
    find: (id) => state.pools.get(id),
    used: (projectId) => state.pools.count("project_id", projectId),
    view: (row) => poolView(state, row),
    balancer: (row) => state.loadBalancers.get(row.loadbalancer_id),
    parents: (row) => listenerRefs(state, row.id),
    update: (row, input, balancer) => {
      if (input.lb_algorithm !== undefined) checkAlgorithm(balancer, input.lb_algorithm);
      const { project_id: _p, listener_id: _l, ...rest } = given(input);
      return state.pools.update(row.id, rest);
    },
    checkDelete: (row) => {
      if (state.policies.all().some((policy) => policy.redirect_pool_id === row.id)) {
        throw fault(409, `Pool ${row.id} is in use and cannot be deleted.`);
      }
    },
  };
}

/** References of the listeners that use a pool. */
export function listenerRefs(state: BalancerState, poolId: string): readonly string[] {
  return state.listeners.by("default_pool_id", poolId).map((listener) => `listener:${listener.id}`);
}

/** The routes below /lbaas/pools. A request names the load balancer or a listener as the pool's parent. */
export function mountPools(app: BalancerApp, state: BalancerState, kind: ReturnType<typeof poolKind>): void {
  const byBalancer = (row: Pool, ids: readonly string[]) =>
    ids.includes(state.pools.get(row.id)?.loadbalancer_id ?? "");
  const byListener = (row: Pool, ids: readonly string[]) =>
    ids.some((id) => state.listeners.get(id)?.default_pool_id === row.id);
  const special = { loadbalancer_id: byBalancer, load_balancer_id: byBalancer, listener_id: byListener };
  mountChild(app, state, {
    path: "pools",
    kind,
    rows: () => state.pools.all(),
    special,
    create(_c, input, lock) {
      const { loadbalancer_id: balancerId, listener_id: listenerId } = input;
      if (balancerId === undefined && listenerId === undefined) {
        throw invalid("Must provide at least one of: loadbalancer_id, listener_id");
      }
      const listener = listenerId === undefined ? undefined : state.listeners.get(listenerId);
      if (listenerId !== undefined && !listener) throw notFound("Listener", listenerId);
      const id = balancerId ?? listener?.loadbalancer_id ?? "";
      return makePool(state, lock(state.loadBalancers.get(id), id), { input, listener });
    },
  });
}

/** What a request says of TLS; null leaves the default. */
function tlsOf(input: PoolInput): Partial<Pool> {
  const names = Object.keys(tlsFields) as (keyof typeof tlsFields)[];
  return Object.fromEntries(names.flatMap((name) => (input[name] ? [[name, input[name]]] : [])));
}

/** Inserts a pool of a locked load balancer, as its listener's default if one is given. */
export function makePool(
  state: BalancerState,
  balancer: LoadBalancer,
  { input, listener }: { input: PoolInput; listener?: Listener | undefined },
): Pool {
  const { protocol = "TCP", lb_algorithm: algorithm = "ROUND_ROBIN" } = input;
  if (listener && listener.default_pool_id !== null) throw fault(409, "This listener already has a default pool");
  checkProtocol(balancer, protocol);
  if (listener) checkPoolProtocol(listener.protocol, protocol);
  checkAlgorithm(balancer, algorithm);
  const pool = state.pools.insert({
    ...born(state.kernel, balancer.project_id, input),
    description: input.description ?? "",
    loadbalancer_id: balancer.id,
    protocol,
    lb_algorithm: algorithm,
    session_persistence: input.session_persistence ?? null,
    tls_enabled: input.tls_enabled ?? false,
    ...noTls,
    ...(input.tls_enabled === true ? defaultTls : {}),
    ...tlsOf(input),
  });
  if (listener) state.listeners.update(listener.id, { default_pool_id: pool.id });
  return pool;
}
