import type { HealthMonitorCreate } from "@causeway/openstack";
import type { DesiredMonitor, ListenerSettings, ListenerTimeouts } from "./desired.ts";

/** The fields of a listener's create beyond its identity; defaults are left out. */
export function listenerSettings(wanted: Omit<ListenerSettings, "tags">): Record<string, unknown> {
  const { connectionLimit, allowedCidrs, tlsContainerRef, sniContainerRefs = [], insertHeaders, timeouts } = wanted;
  return {
    ...(connectionLimit === -1 ? {} : { connection_limit: connectionLimit }),
    ...(allowedCidrs && allowedCidrs.length > 0 ? { allowed_cidrs: [...allowedCidrs] } : {}),
    ...(tlsContainerRef === undefined ? {} : { default_tls_container_ref: tlsContainerRef }),
    ...(sniContainerRefs.length === 0 ? {} : { sni_container_refs: [...sniContainerRefs] }),
    ...(insertHeaders ? { insert_headers: { ...insertHeaders } } : {}),
    ...(timeouts ? timeoutFields(timeouts) : {}),
  };
}

/** The timeouts of a listener, as Octavia names them, in milliseconds. */
export type TimeoutField =
  | "timeout_client_data"
  | "timeout_member_connect"
  | "timeout_member_data"
  | "timeout_tcp_inspect";

/** Only those that are wanted. */
export function timeoutFields(timeouts: ListenerTimeouts): Partial<Record<TimeoutField, number>> {
  const fields: Record<TimeoutField, number | undefined> = {
    timeout_client_data: timeouts.clientData,
    timeout_member_connect: timeouts.memberConnect,
    timeout_member_data: timeouts.memberData,
    timeout_tcp_inspect: timeouts.tcpInspect,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** An HTTP monitor requests /healthz, which kube-proxy serves at the health check port. */
export function monitorBody(monitor: DesiredMonitor, name: string): Omit<HealthMonitorCreate, "pool_id"> {
  const http = monitor.type === "HTTP" ? { url_path: "/healthz", http_method: "GET", expected_codes: "200" } : {};
  return {
    name,
    type: monitor.type,
    delay: monitor.delay,
    timeout: monitor.timeout,
    max_retries: monitor.maxRetries,
    max_retries_down: monitor.maxRetriesDown,
    ...http,
  };
}
