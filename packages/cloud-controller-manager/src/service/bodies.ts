import type { HealthMonitorCreate } from "@causeway/openstack";
import type { DesiredMonitor, DesiredPort } from "./desired.ts";

/** What a listener is told beyond its identity; what is the default is not said. */
export function listenerSettings(port: DesiredPort): Record<string, unknown> {
  return {
    ...(port.connectionLimit === -1 ? {} : { connection_limit: port.connectionLimit }),
    ...(port.allowedCidrs && port.allowedCidrs.length > 0 ? { allowed_cidrs: [...port.allowedCidrs] } : {}),
    ...(port.tlsContainerRef === undefined ? {} : { default_tls_container_ref: port.tlsContainerRef }),
    ...(port.insertHeaders ? { insert_headers: { ...port.insertHeaders } } : {}),
    ...(port.timeouts
      ? {
          timeout_client_data: port.timeouts.clientData,
          timeout_member_connect: port.timeouts.memberConnect,
          timeout_member_data: port.timeouts.memberData,
          timeout_tcp_inspect: port.timeouts.tcpInspect,
        }
      : {}),
  };
}

/** An HTTP monitor asks the health check port that kube-proxy serves. */
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
