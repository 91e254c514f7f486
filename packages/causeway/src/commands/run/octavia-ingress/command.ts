import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";

/** The flags of `causeway run octavia-ingress`. */
export type OctaviaIngressFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run octavia-ingress`. */
export function octaviaIngressCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run octavia-ingress --config /etc/config/octavia-ingress-controller-config.yaml
  causeway run octavia-ingress --config ingress.yaml --kubeconfig admin.conf --leader-elect=false --metrics-address 127.0.0.1:10253`,
    )
    .action(async (given) => (await import("./action.ts")).octaviaIngress(given, signal));
}

function options() {
  return new Command("octavia-ingress")
    .description(
      "Ingresses and Gateways on Octavia load balancers, in place of octavia-ingress-controller and with its configuration file.",
    )
    .requiredOption("--config <file>", "configuration file, as octavia-ingress-controller has it")
    .option("--debug", "log in more detail")
    .option(
      "--kubeconfig <file>",
      "kubeconfig of the cluster; overrides the file (default: the in-cluster configuration)",
    )
    .addOption(
      new Option("--leader-elect [boolean]", "take part in the leader election, and work only as the leader")
        .choices(["true", "false"] as const)
        .preset("true")
        .default("true"),
    )
    .option("--leader-elect-resource-namespace <namespace>", "where the Lease is", "kube-system")
    .option("--leader-elect-resource-name <name>", "the Lease", "octavia-ingress-controller")
    .option(
      "--metrics-address <address:port>",
      "serve /healthz and /metrics over HTTP on this address (default: not served)",
    )
    .addOption(new Option("--log-level <level>", "in place of --debug").choices(LOG_LEVELS));
}
