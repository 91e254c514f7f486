import type { DesiredPort } from "./desired.ts";

/** What a listener is told beyond its identity; what is the default is not said. */
export function listenerSettings(port: DesiredPort): Record<string, unknown> {
  return {
    ...(port.connectionLimit === -1 ? {} : { connection_limit: port.connectionLimit }),
    ...(port.allowedCidrs && port.allowedCidrs.length > 0 ? { allowed_cidrs: [...port.allowedCidrs] } : {}),
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

export function monitorBody(port: DesiredPort): {
  name: string;
  type: string;
  delay: number;
  timeout: number;
  max_retries: number;
  max_retries_down: number;
  url_path?: string;
  http_method?: string;
  expected_codes?: string;
} {
  const { type = "TCP", delay = 5, timeout = 3, maxRetries = 1, maxRetriesDown = 3 } = port.monitor ?? {};
  const http = type === "HTTP" ? { url_path: "/healthz", http_method: "GET", expected_codes: "200" } : {};
  return {
    name: port.monitorName,
    type,
    delay,
    timeout,
    max_retries: maxRetries,
    max_retries_down: maxRetriesDown,
    ...http,
  };
}
