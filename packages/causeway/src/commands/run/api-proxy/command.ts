import { Command } from "@commander-js/extra-typings";
import { logLevelOption } from "../../../options/logging.ts";

/** The flags of `causeway run api-proxy`. */
export type ApiProxyFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run api-proxy`. */
export function apiProxyCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run api-proxy --bind-address 198.18.0.1:6443 --gateways api.example.org:6443 --server-name web-5d2c.api.example.org`,
    )
    .action(async (given) => (await import("./action.ts")).apiProxy(given, signal));
}

function options() {
  return new Command("api-proxy")
    .description(
      "On each node: forwards clients of Service kubernetes to the cluster's API server behind causeway run api-gateway.",
    )
    .requiredOption(
      "--gateways <list>",
      "ADDRESS:PORT of gateways, with commas; the next is used when one cannot be reached",
    )
    .requiredOption("--server-name <name>", "the name of the cluster's API server at the gateways")
    .option("--bind-address <address:port>", "the endpoint of Service kubernetes", "198.18.0.1:6443")
    .option("--max-connections <number>", "open connections of the node's clients", "4096")
    .option("--dial-timeout <duration>", "time to connect to one gateway", "5s")
    .option("--drain-timeout <duration>", "longest time for open connections to end after a stop signal", "10m")
    .option(
      "--metrics-address <address:port>",
      "serve /healthz, /livez and /metrics over HTTP on this address (default: not served)",
    )
    .addOption(logLevelOption("info"));
}
