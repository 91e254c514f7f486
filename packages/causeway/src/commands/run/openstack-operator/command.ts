import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";

/** The flags of `causeway run openstack-operator`. */
export type OpenStackOperatorFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run openstack-operator`. */
export function openStackOperatorCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run openstack-operator --kubeconfig admin.conf
  causeway run openstack-operator --print-crds | kubectl apply --server-side -f -`,
    )
    .action(async (given) => (await import("./action.ts")).openStackOperator(given, signal));
}

function options() {
  return new Command("openstack-operator")
    .description("Run OpenStack clouds as pods of a Kubernetes cluster, from OpenStackDeployment objects.")
    .option("--kubeconfig <file>", "the cluster (default: the in-cluster configuration)")
    .option("--context <name>", "context of the kubeconfig")
    .option("--leader-elect <boolean>", "one of several operators works, by a Lease", "true")
    .option("--leader-elect-namespace <name>", "namespace of the Lease", "default")
    .option("--install-crds", "apply the CRD first, with this process as its validating webhook", false)
    .option("--webhook-host <host>", "with --install-crds: where the API server reaches the webhook", "127.0.0.1")
    .option("--webhook-port <port>", "serve the validating webhook on this port, with TLS; 0: on a free one")
    .option("--webhook-cert-dir <dir>", "folder with the webhook's tls.crt and tls.key (default: a self-signed pair)")
    .option("--bind-address <address>", "where the webhook is served", "0.0.0.0")
    .option("--metrics-address <address:port>", "serve /metrics and /healthz over HTTP, such as 127.0.0.1:10260")
    .option("--print-crds", "print the CRDs and exit", false)
    .addOption(new Option("--log-level <level>", "minimum log level").choices(LOG_LEVELS).default("info" as const));
}
