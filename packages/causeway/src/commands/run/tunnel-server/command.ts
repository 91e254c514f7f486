import { Command, Option } from "@commander-js/extra-typings";
import { logLevelOption } from "../../../options/logging.ts";

/** The flags of `causeway run tunnel-server`. */
export type TunnelServerFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run tunnel-server`, with the flags of konnectivity's server. */
export function tunnelServerCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run tunnel-server --uds-name /run/tunnel/kas.sock --cluster-cert tls.crt --cluster-key tls.key --cluster-ca-cert agents.crt
  causeway run tunnel-server --tenants tenants.yaml --server-port 8090 --server-cert tls.crt --server-key tls.key --cluster-cert tls.crt --cluster-key tls.key`,
    )
    .action(async (given) => (await import("./action.ts")).tunnelServer(given, signal));
}

const list = (text: string, before?: readonly string[]): readonly string[] => [...(before ?? []), ...text.split(",")];

function options() {
  return new Command("tunnel-server")
    .description(
      "Tunnel from API servers to the networks of agents, in place of konnectivity's proxy-server and with its flags.",
    )
    .addOption(
      new Option("--mode <mode>", "how API servers connect; each connection may do either")
        .choices(["http-connect", "grpc"])
        .default("http-connect"),
    )
    .option("--uds-name <path>", "Unix socket for the API server", "")
    .option("--delete-existing-uds-file <boolean>", "delete an existing socket at the start", "true")
    .option("--server-port <port>", "TCP port for API servers; 0: none", "0")
    .option("--server-bind-address <address>", "its address (default: all)")
    .option("--server-cert <file>", "its certificate", "")
    .option("--server-key <file>", "the certificate's key", "")
    .option("--server-ca-cert <file>", "authority of API servers' certificates", "")
    .option("--agent-port <port>", "port for agents", "8091")
    .option("--agent-bind-address <address>", "its address (default: all)")
    .option("--cluster-cert <file>", "its certificate; without one, agents connect without TLS", "")
    .option("--cluster-key <file>", "the certificate's key", "")
    .option("--cluster-ca-cert <file>", "authority of agents' certificates", "")
    .option("--health-port <port>", "port of /healthz and /readyz; 0: none", "8092")
    .option("--health-bind-address <address>", "its address (default: all)")
    .option("--admin-port <port>", "port of /metrics; 0: none", "8095")
    .option("--admin-bind-address <address>", "its address", "127.0.0.1")
    .option("--keepalive-time <duration>", "interval between pings to agents", "30s")
    .option("--server-id <id>", "unique id of this server (PROXY_SERVER_ID; default: random)")
    .option("--server-count <number>", "servers that each agent connects to", "1")
    .option("--agent-namespace <name>", "namespace of agents' service account", "")
    .option("--agent-service-account <name>", "agents' service account", "")
    .option("--authentication-audience <audience>", "audience of agents' tokens", "")
    .option("--kubeconfig <file>", "API server that reviews agents' tokens", "")
    .option("--proxy-strategies <names>", "how agents are chosen, in order", "destHost,defaultRoute,default")
    .option("--tenants <file>", "tenants, in place of one of the flags; read again when it changes")
    .option("--allow-cidr <cidrs>", "networks that may be dialled (default: all but special ones)", list)
    .option("--deny-cidr <cidrs>", "networks that are never dialled", list)
    .option("--allow-name <names>", "DNS names, or suffixes of them, that may be dialled (default: all)", list)
    .option("--agent-wait <duration>", "time that a dial waits for the first agent", "5s")
    .option(
      "--expired-agent-grace <duration>",
      "time that open streams of an agent may outlive its token or certificate",
      "1h",
    )
    .option("--drain-timeout <duration>", "longest time for open streams to end after a stop signal", "30s")
    .addOption(logLevelOption("info"));
}
