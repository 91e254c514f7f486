import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";
import { SHARDS_HELP } from "../serving/shared-work-help.ts";

/** The flags as they are on the command line. */
export type ClusterApiFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run cluster-api`. */
export function clusterApiCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Providers of infrastructure and of control planes are those of the cluster: every CRD with the
contract's label is worked with.

Examples:
  causeway run cluster-api --kubeconfig admin.conf --install-crds --leader-elect=false
  causeway run cluster-api --shards 16
  causeway run cluster-api --providers core --webhook-cert-dir /var/run/certs`,
    )
    .action(async (flags) => (await import("./action.ts")).runClusterApi(flags, signal));
}

function options() {
  return new Command("cluster-api")
    .description(
      "Cluster API's core, kubeadm bootstrap and kubeadm control-plane managers on any Kubernetes, in place of upstream's.",
    )
    .option("--kubeconfig <file>", "the management cluster (default: the in-cluster configuration)")
    .addOption(
      new Option("--providers <names>", "which to run: core, bootstrap, control-plane, several with commas").default(
        "core,bootstrap,control-plane",
      ),
    )
    .option("--install-crds", "apply the CRDs of the providers first, with this process as their conversion webhook")
    .option("--webhook-host <host>", "with --install-crds: where the API server reaches the webhook", "127.0.0.1")
    .option("--webhook-port <port>", "the port of the conversion webhook, with TLS", "9443")
    .option("--webhook-cert-dir <dir>", "folder with the webhook's tls.crt and tls.key (default: a self-signed pair)")
    .addOption(
      new Option("--leader-elect [boolean]", "take part in the leader election, and work only as the leader")
        .choices(["true", "false"] as const)
        .preset("true")
        .default("true"),
    )
    .option("--leader-elect-resource-name <name>", "the Lease (default: that of upstream's manager)")
    .option("--leader-elect-resource-namespace <namespace>", "where it is (default: POD_NAMESPACE, else kube-system)")
    .option("--shards <number>", SHARDS_HELP)
    .option("--bind-address <address>", "where health, metrics and the webhook are served", "0.0.0.0")
    .option("--diagnostics-port <port>", "the port of health and metrics, with TLS; 0 serves none", "8443")
    .addOption(new Option("--log-level <level>", "what is logged").choices(LOG_LEVELS).default("info" as const));
}
