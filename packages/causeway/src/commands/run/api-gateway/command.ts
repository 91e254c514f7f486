import { Command } from "@commander-js/extra-typings";
import { logLevelOption } from "../../../options/logging.ts";

/** The flags of `causeway run api-gateway`. */
export type ApiGatewayFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run api-gateway`. */
export function apiGatewayCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Routes are the Services of control planes with spec.pods.exposure Gateway, and the rows of --routes.

Examples:
  causeway run api-gateway --bind-address :6443
  causeway run api-gateway --bind-address :6443 --proxy-protocol-from 10.0.0.0/24 --metrics-address :9090
  causeway run api-gateway --bind-address :6443 --routes routes.yaml`,
    )
    .action(async (given) => (await import("./action.ts")).apiGateway(given, signal));
}

function options() {
  return new Command("api-gateway")
    .description(
      "One TCP port for the API servers of all tenants of a service cluster, routed by TLS server name; TLS is not ended.",
    )
    .option(
      "--kubeconfig <file>",
      "the service cluster (default: the in-cluster configuration, unless --routes is given)",
    )
    .option("--routes <file>", "more routes (server name, tenant, host, port); read again when it changes")
    .option("--bind-address <address:port>", "where clients and nodes connect", ":6443")
    .option(
      "--proxy-protocol-from <cidrs>",
      "networks of load balancers whose PROXY protocol headers (version 2) say who the client is (default: none)",
    )
    .option("--max-connections <number>", "open connections of all tenants together", "20000")
    .option("--max-connections-per-tenant <number>", "open connections of one tenant", "2000")
    .option("--max-pending-connections <number>", "connections whose ClientHello has not come", "1000")
    .option("--hello-timeout <duration>", "time for the whole ClientHello", "10s")
    .option("--dial-timeout <duration>", "time to connect to an API server", "5s")
    .option(
      "--shutdown-delay <duration>",
      "time after a stop signal in which /healthz fails and connections are accepted, so that load balancers remove the gateway",
      "10s",
    )
    .option("--drain-timeout <duration>", "longest time for open connections to end after that", "10m")
    .option(
      "--metrics-address <address:port>",
      "serve /healthz, /livez and /metrics over HTTP on this address (default: not served)",
    )
    .addOption(logLevelOption("info"));
}
