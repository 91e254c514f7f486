import { fault, invalid, notFound } from "../errors.ts";
import { common, given, integer, oneOf, orNull, owner, text, uuid, type InputOf } from "../kit/fields.ts";
import { listenerRefs } from "./pools.ts";
import { checkMonitorType } from "../rules/providers.ts";
import { born, type BalancerState, type HealthMonitor, type LoadBalancer, type Pool } from "../model.ts";
import { mountChild, type BalancerApp, type Kind } from "../kit/routes.ts";
import { monitorView } from "../views.ts";

const seconds = integer(0, 2_147_483_647);
const retries = integer(1, 10);
const fields = {
  ...common,
  ...owner,
  pool_id: { read: uuid, required: true, put: false },
  type: { read: oneOf("TCP", "SCTP", "TLS-HELLO", "PING", "HTTP", "HTTPS", "UDP-CONNECT"), required: true, put: false },
  delay: { read: seconds, required: true },
  timeout: { read: seconds, required: true },
  max_retries: { read: retries, required: true },
  max_retries_down: { read: retries },
  http_method: { read: orNull(oneOf("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE")) },
  url_path: { read: orNull(text) },
  expected_codes: { read: orNull(text) },
  http_version: { read: orNull((value: unknown) => Number(value)) },
  domain_name: { read: orNull(text) },
} as const;
/** What a health monitor may be given, also inside a tree of one request. */
export const monitorFields = fields;
/** A health monitor as a request gives it. */
export type MonitorInput = InputOf<typeof fields>;

/** Health monitors. With one its pool is in transition, and the listeners that lead to the pool. */
export function monitorKind(state: BalancerState): Kind<HealthMonitor, typeof fields> {
  return {
    singular: "healthmonitor",
    plural: "healthmonitors",
    label: "Health Monitor",
    argument: "health_monitor_",
    quota: "health_monitor",
    fields,
    find: (id) => state.monitors.get(id),
    used: (projectId) => state.monitors.count("project_id", projectId),
    view: (row) => monitorView(state, row),
    balancer: (row) => state.loadBalancers.get(state.pools.get(row.pool_id)?.loadbalancer_id ?? ""),
    parents: (row) => [...listenerRefs(state, row.pool_id), `pool:${row.pool_id}`],
    update: (row, input) => {
      checkOptions(row.type, input);
      const { project_id: _p, ...rest } = given(input);
      return state.monitors.update(row.id, rest);
    },
  };
}

/** The routes below /lbaas/healthmonitors. A pool has at most one monitor. */
export function mountHealthMonitors(app: BalancerApp, state: BalancerState): void {
  const kind = monitorKind(state);
  const special = {
    pool_id: (row: HealthMonitor, ids: readonly string[]) => ids.includes(state.monitors.get(row.id)?.pool_id ?? ""),
  };
  mountChild(app, state, {
    path: "healthmonitors",
    kind,
    rows: () => state.monitors.all(),
    special,
    create(_c, input, lock) {
      const pool = state.pools.get(input.pool_id ?? "");
      if (!pool) throw notFound("Pool", input.pool_id ?? "");
      const balancer = lock(state.loadBalancers.get(pool.loadbalancer_id), pool.loadbalancer_id);
      return makeMonitor(state, { balancer, pool }, input);
    },
  });
}

/** Inserts the monitor of a locked load balancer's pool. */
export function makeMonitor(
  state: BalancerState,
  { balancer, pool }: { balancer: LoadBalancer; pool: Pool },
  input: MonitorInput,
): HealthMonitor {
  const type = input.type ?? "TCP";
  if (state.monitors.by("pool_id", pool.id).length > 0) throw fault(409, "This pool already has a health monitor");
  checkType(type, pool.protocol, input.delay ?? 0);
  checkOptions(type, input);
  checkMonitorType(balancer, type);
  const http = type === "HTTP" || type === "HTTPS";
  return state.monitors.insert({
    ...born(state.kernel, balancer.project_id, input),
    pool_id: pool.id,
    type,
    delay: input.delay ?? 0,
    timeout: input.timeout ?? 0,
    max_retries: input.max_retries ?? 3,
    max_retries_down: input.max_retries_down ?? 3,
    http_method: input.http_method ?? (http ? "GET" : null),
    url_path: input.url_path ?? (http ? "/" : null),
    expected_codes: input.expected_codes ?? (http ? "200" : null),
    http_version: input.http_version ?? null,
    domain_name: input.domain_name ?? null,
  });
}

const datagram = ["UDP-CONNECT", "SCTP"];

function checkType(type: string, protocol: string, delay: number): void {
  const isDatagram = protocol === "UDP" || protocol === "SCTP";
  if (datagram.includes(type) && !isDatagram)
    throw invalid(`The ${type} type is only supported for pools of type UDP/SCTP.`);
  if (isDatagram && !["UDP-CONNECT", "SCTP", "TCP", "HTTP"].includes(type)) {
    const why = `The associated pool protocol is ${protocol}, so only a UDP-CONNECT, SCTP, TCP, HTTP health monitor is supported.`;
    throw invalid(why);
  }
  if (type === "UDP-CONNECT" && delay < 3) {
    throw invalid(`The request delay value ${delay} should be larger than 3 for UDP-CONNECT health monitor type.`);
  }
}

function checkOptions(type: string, input: MonitorInput): void {
  if (type === "HTTP" || type === "HTTPS") return;
  for (const option of ["http_method", "url_path", "expected_codes", "domain_name"] as const) {
    if ((input[option] ?? null) === null) continue;
    throw fault(400, `${option} is not a valid option for health monitors of type ${type}`);
  }
}
