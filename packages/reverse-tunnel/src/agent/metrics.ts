import type { Metrics } from "@causeway/foundation";

/** The metrics of konnectivity's agent, by its names. */
export function agentMetrics(metrics: Metrics) {
  const prefix = "konnectivity_network_proxy_agent";
  return {
    dialDuration: metrics.histogram({
      name: `${prefix}_dial_duration_seconds`,
      help: "Latency of dial to the remote endpoint, in seconds.",
      buckets: [0.000001, 0.00001, 0.0001, 0.005, 0.025, 0.1, 0.5, 2.5, 12.5],
    }),
    dialFailures: metrics.counter({
      name: `${prefix}_endpoint_dial_failure_total`,
      help: "Dials of remote endpoints that failed, by reason.",
      labels: ["reason"],
    }),
    openServers: metrics.gauge({ name: `${prefix}_open_server_connections`, help: "Open connections to servers." }),
    knownServers: metrics.gauge({ name: `${prefix}_known_server_count`, help: "Servers, by what the last one said." }),
    endpoints: metrics.gauge({ name: `${prefix}_open_endpoint_connections`, help: "Open connections to endpoints." }),
  };
}

/** The metrics of an agent, under konnectivity's names. */
export type AgentMetrics = ReturnType<typeof agentMetrics>;
