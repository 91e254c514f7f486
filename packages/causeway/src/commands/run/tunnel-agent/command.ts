import { Command } from "@commander-js/extra-typings";
import { logLevelOption } from "../../../options/logging.ts";

/** The flags of `causeway run tunnel-agent`. */
export type TunnelAgentFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run tunnel-agent`, with the flags of konnectivity's agent. */
export function tunnelAgentCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run tunnel-agent --proxy-server-host gateway.example.org --ca-cert ca.crt --service-account-token-path /var/run/secrets/tokens/konnectivity-agent-token
  causeway run tunnel-agent --proxy-server-host 192.0.2.10 --ca-cert ca.crt --agent-cert agent.crt --agent-key agent.key --agent-identifiers host=node-1`,
    )
    .action(async (given) => (await import("./action.ts")).tunnelAgent(given, signal));
}

const list = (text: string, before?: readonly string[]): readonly string[] => [...(before ?? []), ...text.split(",")];

function options() {
  return new Command("tunnel-agent")
    .description(
      "Agent of a tunnel: connects to endpoints for its servers, in place of konnectivity's proxy-agent and with its flags.",
    )
    .requiredOption(
      "--proxy-server-host <host>",
      "servers' host; behind a load balancer, each is found by a connection of its own",
    )
    .option("--proxy-server-port <port>", "their port", "8091")
    .option("--agent-id <id>", "unique id of this agent (PROXY_AGENT_ID; default: random)")
    .option(
      "--agent-identifiers <query>",
      "identifiers of this agent: host=, ipv4=, ipv6=, cidr=, default-route=, joined by &",
      "",
    )
    .option("--ca-cert <file>", "authority of the servers' certificate; without one, no TLS", "")
    .option("--agent-cert <file>", "certificate of this agent", "")
    .option("--agent-key <file>", "the certificate's key", "")
    .option("--alpn-proto <protocols>", "ALPN protocols in addition to h2", list)
    .option("--service-account-token-path <file>", "token of this agent; read again for each connection")
    .option("--sync-interval <duration>", "interval between searches for further servers", "1s")
    .option("--sync-interval-cap <duration>", "longest interval between failed attempts", "10s")
    .option("--sync-forever", "search for more servers even if there are as many as they say")
    .option("--keepalive-time <duration>", "interval between pings to a server", "30s")
    .option("--health-server-port <port>", "port of /healthz and /readyz; 0: none", "8093")
    .option("--health-server-host <address>", "its address (default: all)")
    .option("--admin-server-port <port>", "port of /metrics; 0: none", "8094")
    .option("--admin-bind-address <address>", "its address", "127.0.0.1")
    .option("--allow-cidr <cidrs>", "networks that may be dialled (default: all but special ones)", list)
    .option("--deny-cidr <cidrs>", "networks that are never dialled", list)
    .option("--allow-name <names>", "DNS names, or suffixes of them, that may be dialled (default: all)", list)
    .option("--drain-timeout <duration>", "longest time for open streams to end after a stop signal", "30s")
    .addOption(logLevelOption("info"));
}
