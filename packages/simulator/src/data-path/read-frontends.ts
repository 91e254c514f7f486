import { driverOf } from "../load-balancing/rules/drivers.ts";
import type { BalancerState, L7Policy, Listener, LoadBalancer, Pool, Resource } from "../load-balancing/model.ts";
import { memberStatus } from "../load-balancing/views.ts";
import type { Backend, Frontend, Policy, PolicyAction } from "./model.ts";
import { monitorOf } from "./read-monitor.ts";

const protocols = ["TCP", "HTTP", "HTTPS", "TERMINATED_HTTPS"] as const;
const actions = ["REJECT", "REDIRECT_TO_URL", "REDIRECT_PREFIX", "REDIRECT_TO_POOL"] as const;

/** What the configuration of an amphora is made of. */
const isConfigured = ({ provisioning_status: status, admin_state_up: up }: Resource): boolean =>
  up && status !== "PENDING_DELETE";

/** The proxies of a load balancer, as Octavia configures them; `floating` are the floating IPs of the VIP's port. */
export function readFrontends(state: BalancerState, balancer: LoadBalancer, floating: readonly string[]): Frontend[] {
  if (!isConfigured(balancer)) return [];
  const more = (balancer.additional_vips ?? []).flatMap(({ ip_address }) => ip_address ?? []);
  const addresses = [balancer.vip_address, ...more, ...floating];
  return state.listeners
    .by("loadbalancer_id", balancer.id)
    .filter(isConfigured)
    .flatMap((listener) => frontendOf(state, listener, addresses) ?? []);
}

function frontendOf(state: BalancerState, listener: Listener, addresses: readonly string[]): Frontend | undefined {
  const protocol = protocols.find((each) => each === listener.protocol);
  if (!protocol) return undefined;
  const { timeout_client_data: client, timeout_member_connect: connect, timeout_member_data: data } = listener;
  const cidrs = listener.allowed_cidrs ?? [];
  return {
    id: listener.id,
    balancer: listener.loadbalancer_id,
    protocol,
    addresses,
    port: listener.protocol_port,
    connectionLimit: listener.connection_limit > 0 ? listener.connection_limit : -1,
    allowedCidrs: cidrs.length === 0 ? undefined : cidrs,
    // Zero means Octavia's default.
    clientTimeout: client === 0 ? 50_000 : client,
    connectTimeout: connect === 0 ? 5_000 : connect,
    memberTimeout: data === 0 ? 50_000 : data,
    insertHeaders: new Set(
      Object.entries(listener.insert_headers).flatMap(([name, on]) => (on.toLowerCase() === "true" ? [name] : [])),
    ),
    policies: policiesOf(state, listener),
    defaultPool: backendOf(state, listener.default_pool_id),
    tls: protocol === "TERMINATED_HTTPS" ? tlsOf(listener) : undefined,
  };
}

function tlsOf(listener: Listener): Frontend["tls"] {
  const how = listener.client_authentication;
  return {
    defaultRef: listener.default_tls_container_ref ?? undefined,
    sniRefs: listener.sni_container_refs,
    clientCaRef: listener.client_ca_tls_container_ref ?? undefined,
    clientAuthentication: how === "MANDATORY" || how === "OPTIONAL" ? how : "NONE",
    ciphers: listener.tls_ciphers ?? undefined,
    versions: listener.tls_versions ?? undefined,
  };
}

function policiesOf(state: BalancerState, listener: Listener): Policy[] {
  return state.policies
    .by("listener_id", listener.id)
    .filter(isConfigured)
    .toSorted((a, b) => a.position - b.position)
    .flatMap((policy) => policyOf(state, policy) ?? []);
}

/** A policy without rules does nothing, nor does one to a pool that is disabled. */
function policyOf(state: BalancerState, policy: L7Policy): Policy | undefined {
  const action: PolicyAction | undefined = actions.find((each) => each === policy.action);
  const rules = state.rules.by("l7policy_id", policy.id).filter(isConfigured);
  const pool = backendOf(state, policy.redirect_pool_id);
  if (!action || rules.length === 0 || (action === "REDIRECT_TO_POOL" && !pool)) return undefined;
  return {
    action,
    pool,
    target: policy.redirect_url ?? policy.redirect_prefix ?? "",
    code: policy.redirect_http_code ?? 302,
    rules: rules.map(({ type, compare_type: compare, key, value, invert }) => {
      return { type, compare, key: key ?? "", value, invert };
    }),
  };
}

function backendOf(state: BalancerState, id: string | null): Backend | undefined {
  const pool = id === null ? undefined : state.pools.get(id);
  if (!pool || !isConfigured(pool)) return undefined;
  const { type, cookie_name: cookie } = pool.session_persistence ?? {};
  return {
    id: pool.id,
    algorithm: pool.lb_algorithm,
    persistence: typeof type === "string" ? { type, cookie: typeof cookie === "string" ? cookie : "" } : undefined,
    proxyProtocol: ({ PROXY: 1, PROXYV2: 2 } as const)[pool.protocol],
    tls: pool.tls_enabled
      ? { clientRef: pool.tls_container_ref ?? undefined, caRef: pool.ca_tls_container_ref ?? undefined }
      : undefined,
    members: membersOf(state, pool),
    monitor: monitorOf(state.monitors.by("pool_id", pool.id).find(isConfigured)),
  };
}

function membersOf(state: BalancerState, pool: Pool): Backend["members"] {
  const { provider = "" } = state.loadBalancers.get(pool.loadbalancer_id) ?? {};
  return state.members
    .by("pool_id", pool.id)
    .filter(({ provisioning_status: status }) => status !== "PENDING_DELETE")
    .map((member) => ({
      id: member.id,
      address: member.address,
      port: member.protocol_port,
      // OVN has no weights.
      weight: driverOf(provider) === "ovn" ? 1 : member.weight,
      backup: member.backup,
      down: !member.admin_state_up || memberStatus(state, member) === "ERROR",
      probed: {
        address: member.monitor_address ?? member.address,
        port: member.monitor_port ?? member.protocol_port,
      },
    }));
}
