import { fault, invalid, notFound } from "../errors.ts";
import {
  bool,
  cidrs,
  common,
  given,
  integer,
  listOf,
  object,
  oneOf,
  orNull,
  owner,
  text,
  uuid,
  type InputOf,
  words,
} from "../kit/fields.ts";
import { checkAllowedCidrs, checkProtocol } from "../rules/providers.ts";
import { born, type BalancerState, type Listener, type LoadBalancer } from "../model.ts";
import { found, mountChild, ROOT, type BalancerApp, type Kind } from "../kit/routes.ts";
import { listenerView } from "../views.ts";

const timeout = integer(0, 86_400_000);
const fields = {
  ...common,
  ...owner,
  description: { read: words },
  loadbalancer_id: { read: uuid, required: true, put: false },
  protocol: {
    read: oneOf("TCP", "SCTP", "PROMETHEUS", "HTTP", "HTTPS", "TERMINATED_HTTPS", "UDP"),
    required: true,
    put: false,
  },
  protocol_port: { read: integer(1, 65535), required: true, put: false },
  connection_limit: { read: orNull(integer(-1, 1_000_000_000)) },
  default_pool_id: { read: orNull(uuid) },
  insert_headers: { read: headers },
  timeout_client_data: { read: timeout },
  timeout_member_connect: { read: timeout },
  timeout_member_data: { read: timeout },
  timeout_tcp_inspect: { read: timeout },
  allowed_cidrs: { read: cidrs },
  default_tls_container_ref: { read: orNull(text) },
  sni_container_refs: { read: listOf(text) },
  client_ca_tls_container_ref: { read: orNull(text) },
  client_authentication: { read: oneOf("NONE", "OPTIONAL", "MANDATORY") },
  client_crl_container_ref: { read: orNull(text) },
  tls_ciphers: { read: orNull(text) },
  tls_versions: { read: orNull(listOf(text)) },
  alpn_protocols: { read: orNull(listOf(text)) },
} as const;
/** What a listener may be given, also inside a tree of one request. */
export const listenerFields = fields;
type ListenerInput = InputOf<typeof fields>;

/** Listeners. A change of one puts it and its load balancer in transition, and nothing else. */
export function listenerKind(state: BalancerState): Kind<Listener, typeof fields> {
  return {
    singular: "listener",
    plural: "listeners",
    label: "Listener",
    argument: "listener_",
    quota: "listener",
    fields,
    find: (id) => state.listeners.get(id),
    used: (projectId) => state.listeners.count("project_id", projectId),
    view: (row) => listenerView(state, row),
    balancer: (row) => state.loadBalancers.get(row.loadbalancer_id),
    parents: () => [],
    update: (row, input, balancer) => {
      checkAllowedCidrs(balancer, input.allowed_cidrs);
      checkHeaders(row.protocol, input.insert_headers);
      if (input.default_pool_id) checkPool(state, balancer, { id: input.default_pool_id, protocol: row.protocol });
      const { project_id: _p, connection_limit: limit, ...rest } = given(input);
      return state.listeners.update(row.id, {
        ...rest,
        ...(limit === undefined ? {} : { connection_limit: limit ?? -1 }),
      });
    },
  };
}

/** The routes below /lbaas/listeners. Statistics are zeros: traffic is not counted. */
export function mountListeners(app: BalancerApp, state: BalancerState, kind: ReturnType<typeof listenerKind>): void {
  const byBalancer = (row: Listener, ids: readonly string[]) =>
    ids.includes(state.listeners.get(row.id)?.loadbalancer_id ?? "");
  const special = { loadbalancer_id: byBalancer, load_balancer_id: byBalancer };
  mountChild(app, state, {
    path: "listeners",
    kind,
    rows: () => state.listeners.all(),
    special,
    create(_c, input, lock) {
      const id = input.loadbalancer_id ?? "";
      return makeListener(state, lock(state.loadBalancers.get(id), id), input);
    },
  });
  app.get(`${ROOT}/listeners/:id/stats`, (c) => {
    found(kind, c.var.caller, c.req.param("id"));
    return c.json({ stats: noTraffic });
  });
}

/** No bytes go through a simulated load balancer. */
export const noTraffic = {
  bytes_in: 0,
  bytes_out: 0,
  active_connections: 0,
  total_connections: 0,
  request_errors: 0,
};

/** Inserts a listener of a locked load balancer; 409 for a port in use, 501 for what the provider cannot do. */
export function makeListener(state: BalancerState, balancer: LoadBalancer, input: ListenerInput): Listener {
  const { protocol = "TCP", protocol_port: port = 0, default_pool_id: poolId = null } = input;
  checkPort(state, balancer, { protocol, port });
  if (protocol === "TERMINATED_HTTPS" && !input.default_tls_container_ref && !input.sni_container_refs?.length) {
    throw invalid(
      "An SNI or default certificate container reference must be provided for TERMINATED_HTTPS protocol listeners.",
    );
  }
  if (poolId !== null) checkPool(state, balancer, { id: poolId, protocol });
  checkHeaders(protocol, input.insert_headers);
  checkProtocol(balancer, protocol);
  checkAllowedCidrs(balancer, input.allowed_cidrs);
  const { project_id: _p, loadbalancer_id: _l, connection_limit: limit, ...rest } = given(input);
  return state.listeners.insert({
    ...defaults,
    ...rest,
    ...born(state.kernel, balancer.project_id, input),
    loadbalancer_id: balancer.id,
    protocol,
    protocol_port: port,
    connection_limit: limit ?? -1,
    default_pool_id: poolId,
  });
}

const defaults = {
  description: "",
  insert_headers: {},
  timeout_client_data: 50000,
  timeout_member_connect: 5000,
  timeout_member_data: 50000,
  timeout_tcp_inspect: 0,
  allowed_cidrs: null,
  default_tls_container_ref: null,
  sni_container_refs: [],
  client_ca_tls_container_ref: null,
  client_authentication: "NONE",
  client_crl_container_ref: null,
  tls_ciphers: null,
  tls_versions: null,
  alpn_protocols: null,
} as const;

/** TCP, UDP and SCTP each have their own ports; all else is TCP below. */
function checkPort(
  state: BalancerState,
  balancer: LoadBalancer,
  { protocol, port }: { protocol: string; port: number },
): void {
  const layer = (word: string) => (word === "UDP" || word === "SCTP" ? word : "TCP");
  for (const other of state.listeners.by("loadbalancer_id", balancer.id)) {
    if (other.protocol_port !== port || layer(other.protocol) !== layer(protocol)) continue;
    const why = `Another Listener on this Load Balancer is already using protocol ${protocol} and protocol_port ${port}`;
    throw fault(409, why);
  }
}

function checkPool(
  state: BalancerState,
  balancer: LoadBalancer,
  { id, protocol }: { id: string; protocol: string },
): void {
  const pool = state.pools.get(id);
  if (!pool || pool.loadbalancer_id !== balancer.id) throw notFound("Pool", id);
  checkPoolProtocol(protocol, pool.protocol);
}

const poolProtocols: Readonly<Record<string, readonly string[]>> = {
  TCP: ["HTTP", "HTTPS", "PROXY", "PROXYV2", "TCP", "SCTP"],
  HTTP: ["HTTP", "PROXY", "PROXYV2"],
  HTTPS: ["HTTPS", "PROXY", "PROXYV2", "TCP"],
  TERMINATED_HTTPS: ["HTTP", "PROXY", "PROXYV2"],
  UDP: ["UDP"],
  SCTP: ["SCTP"],
};

/** Throws Octavia's 400 if a listener of one protocol cannot send to a pool of the other. */
export function checkPoolProtocol(listener: string, pool: string): void {
  if (poolProtocols[listener]?.includes(pool)) return;
  const why = `The pool protocol '${pool}' is invalid while the listener protocol is '${listener}'.`;
  throw fault(400, `Validation failure: ${why}`);
}

function checkHeaders(protocol: string, wanted: Readonly<Record<string, string>> | undefined): void {
  if (!wanted || Object.keys(wanted).length === 0 || protocol === "HTTP" || protocol === "TERMINATED_HTTPS") return;
  throw fault(400, `insert-headers is not a valid option for a ${protocol} protocol listener.`);
}

function headers(value: unknown, field: string): Readonly<Record<string, string>> {
  const entries = Object.entries(object(value ?? {}, field));
  return Object.fromEntries(entries.map(([key, word]) => [key, String(bool(word, field))]));
}
