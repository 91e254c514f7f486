import type { Metrics } from "@causeway/foundation";

/** Registers the gateway's metrics, causeway_api_gateway_connections and more. */
export function gatewayMetrics(metrics: Metrics) {
  const prefix = "causeway_api_gateway";
  return {
    connections: metrics.gauge({
      name: `${prefix}_connections`,
      help: "Open connections, by tenant (its namespace in the service cluster).",
      labels: ["tenant"],
    }),
    pending: metrics.gauge({
      name: `${prefix}_pending_connections`,
      help: "Connections whose ClientHello has not come yet.",
    }),
    accepted: metrics.counter({
      name: `${prefix}_connections_total`,
      help: "Connections that reached their API server, by tenant.",
      labels: ["tenant"],
    }),
    refused: metrics.counter({
      name: `${prefix}_refused_total`,
      help: "Connections without a tenant that were refused, by reason.",
      labels: ["reason"],
    }),
    limited: metrics.counter({
      name: `${prefix}_limited_total`,
      help: "Connections that were refused or ended by a limit, by tenant and limit (tenant, total).",
      labels: ["tenant", "limit"],
    }),
    hibernated: metrics.counter({
      name: `${prefix}_hibernated_total`,
      help: "Connections that were refused because the control plane hibernates, by tenant.",
      labels: ["tenant"],
    }),
    unreachable: metrics.counter({
      name: `${prefix}_dial_failures_total`,
      help: "Connections whose API server could not be reached, by tenant.",
      labels: ["tenant"],
    }),
    bytes: metrics.counter({
      name: `${prefix}_bytes_total`,
      help: "Bytes of ended connections, by tenant and direction (received from clients, sent to them).",
      labels: ["tenant", "direction"],
    }),
    dialSeconds: metrics.histogram({
      name: `${prefix}_dial_duration_seconds`,
      help: "Time to connect to an API server.",
      buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5],
    }),
  };
}

/** The metrics of one gateway. */
export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;
