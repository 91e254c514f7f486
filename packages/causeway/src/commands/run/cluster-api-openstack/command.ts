import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";
import { SHARDS_HELP } from "../serving/shared-work-help.ts";

/** The flags as they are on the command line. */
export type ProviderFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** Flags of upstream's manager that say nothing here: accepted, so that its Deployment runs unchanged. */
const withoutEffect =
  `openstackcluster-concurrency openstackmachine-concurrency openstackmachinetemplate-concurrency sync-period
  kube-api-qps kube-api-burst lb-provider scope-cache-max-size skip-crd-migration-phases profiler-address feature-gates
  tls-min-version tls-cipher-suites logging-format`.split(/\s+/);

/** `causeway run cluster-api-openstack`. */
export function clusterApiOpenStackCommand(signal: AbortSignal) {
  const command = options();
  for (const name of withoutEffect) command.addOption(new Option(`--${name} [value]`).hideHelp());
  return command
    .addHelpText(
      "after",
      `
Flags of upstream's manager that are not listed are accepted and have no effect.

Examples:
  causeway run cluster-api-openstack --kubeconfig admin.conf --install-crds --webhook-host 192.0.2.10
  causeway run cluster-api-openstack --leader-elect --webhook-cert-dir /tmp/k8s-webhook-server/serving-certs`,
    )
    .action(async (flags) => (await import("./action.ts")).runClusterApiOpenStack(flags, signal));
}

function options() {
  return new Command("cluster-api-openstack")
    .description(
      "Cluster API's OpenStack provider on any Kubernetes, in place of upstream's manager and with its flags.",
    )
    .option("--kubeconfig <file>", "the management cluster (default: the in-cluster configuration)")
    .option("--namespace <name>", "work with the objects of this namespace only")
    .option("--watch-filter <value>", "work only with objects whose label cluster.x-k8s.io/watch-filter has this value")
    .option("--ca-certs <file>", "certificate authorities of clouds whose Secret has no cacert")
    .option("--install-crds", "apply the provider's CRDs first, with this process as their conversion webhook")
    .option("--webhook-host <host>", "with --install-crds: where the API server reaches the webhook", "127.0.0.1")
    .option("--webhook-port <port>", "the port of the conversion webhook, with TLS", "9443")
    .option("--webhook-cert-dir <dir>", "folder with the webhook's tls.crt and tls.key (default: a self-signed pair)")
    .addOption(
      new Option("--leader-elect [boolean]", "take part in the leader election, and work only as the leader")
        .choices(["true", "false"] as const)
        .preset("true")
        .default("false"),
    )
    .option(
      "--leader-elect-lease-duration <duration>",
      "lease duration: another instance may become the leader after this time",
      "15s",
    )
    .option(
      "--leader-elect-renew-deadline <duration>",
      "renew deadline: the leader stops after this time without a renewal",
      "10s",
    )
    .option("--leader-elect-retry-period <duration>", "time between attempts", "2s")
    .option("--shards <number>", SHARDS_HELP)
    .option("--health-addr <address>", "where /healthz and /readyz are served, over HTTP", ":9440")
    .option("--diagnostics-address <address>", "where /metrics is served, with TLS; 0: nowhere", ":8443")
    .addOption(
      new Option("--insecure-diagnostics [boolean]", "serve /metrics over HTTP, without a check of who reads it")
        .choices(["true", "false"] as const)
        .preset("true")
        .default("false"),
    )
    .option("-v, --v <level>", "log verbosity: 0 for warnings, 1 to 3 for changes, 4 or more for every call", "1")
    .addOption(new Option("--log-level <level>", "in place of -v").choices(LOG_LEVELS));
}
