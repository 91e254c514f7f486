import type { Metrics } from "@causeway/foundation";

/** Upstream's metrics, by its names, and ours by tenant. */
export function serverMetrics(metrics: Metrics) {
  const upstream = "konnectivity_network_proxy_server";
  const ours = "causeway_tunnel";
  return {
    dialDuration: metrics.histogram({
      name: `${upstream}_dial_duration_seconds`,
      help: "Latency of dial to the remote endpoint, in seconds.",
      buckets: [0.000001, 0.00001, 0.0001, 0.005, 0.025, 0.1, 0.5, 2.5, 12.5],
    }),
    httpConnections: metrics.gauge({
      name: `${upstream}_http_connections`,
      help: "Open HTTP CONNECT connections of API servers.",
    }),
    grpcConnections: metrics.gauge({
      name: `${upstream}_grpc_connections`,
      help: "Open gRPC connections, by service method.",
      labels: ["service_method"],
    }),
    readyBackends: metrics.gauge({
      name: `${upstream}_ready_backend_connections`,
      help: "Connections of agents that can be dialled through.",
    }),
    pendingDials: metrics.gauge({
      name: `${upstream}_pending_backend_dials`,
      help: "Dials without a response so far.",
    }),
    established: metrics.gauge({ name: `${upstream}_established_connections`, help: "Open streams." }),
    dialFailures: metrics.counter({
      name: `${upstream}_dial_failure_count`,
      help: "Dials that failed, by reason.",
      labels: ["reason"],
    }),
    tenantStreams: metrics.gauge({ name: `${ours}_streams`, help: "Open streams, by tenant.", labels: ["tenant"] }),
    tenantAgents: metrics.gauge({ name: `${ours}_agents`, help: "Connected agents, by tenant.", labels: ["tenant"] }),
    tenantBytes: metrics.counter({
      name: `${ours}_received_bytes_total`,
      help: "Bytes that agents sent, by tenant.",
      labels: ["tenant"],
    }),
    tenantFailures: metrics.counter({
      name: `${ours}_dial_failures_total`,
      help: "Dials that failed, by tenant and reason.",
      labels: ["tenant", "reason"],
    }),
    aborted: metrics.counter({
      name: `${ours}_aborted_streams_total`,
      help: "Streams that ended by a limit or with their agent, by tenant and reason.",
      labels: ["tenant", "reason"],
    }),
  };
}

/** The metrics of a server, under konnectivity's names. */
export type ServerMetrics = ReturnType<typeof serverMetrics>;
