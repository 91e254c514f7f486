import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";

/** The flags as they are on the command line. */
export type RawFlags = ReturnType<ReturnType<typeof managerOptions>["opts"]>;

/** What the Kubernetes flag library takes for true and false: "--leader-elect" and "--leader-elect=false". */
function switchOption<N extends string>(name: N, text: string, otherwise: "true" | "false") {
  const flags = `--${name} [boolean]` as const;
  return new Option(flags, text)
    .choices(["true", "false"] as const)
    .preset("true")
    .default(otherwise);
}

/** The last that is given counts as a whole. */
function commaList(value: string): string[] {
  return many(value, undefined);
}

/**
 * Values of a flag that is given several times or with commas between them, as the Kubernetes flag library has them.
 */
function many(value: string, before: readonly string[] | undefined): string[] {
  const words = value.split(",").map((word) => word.trim());
  return [...(before ?? []), ...words.filter((word) => word !== "")];
}

/** The command with its flags. */
export function managerOptions() {
  return new Command("cloud-controller-manager")
    .description(
      "Nodes, routes and load balancers of one cluster, in place of openstack-cloud-controller-manager and with its flags.",
    )
    .requiredOption(
      "--cloud-config <file>",
      "cloud.conf, as cloud-provider-openstack has it; read again when it changes",
    )
    .option("--cloud-provider <name>", "only openstack is supported", "openstack")
    .option("--kubeconfig <file>", "kubeconfig of the cluster (default: the in-cluster configuration)")
    .option("--master <url>", "address of the API server, in place of the kubeconfig's")
    .option(
      "--cluster-name <name>",
      "prefix of names in the cloud; unique among the clusters of a project",
      "kubernetes",
    )
    .option(
      "--controllers <names>",
      "controllers to run: *, cloud-node, cloud-node-lifecycle, service, route; -NAME leaves one out",
      many,
    )
    .option("--cluster-cidr <cidrs>", "CIDRs of pods; the controller manages the routes inside them", many)
    .addOption(switchOption("configure-cloud-routes", "keep routes to pods on the router of [Route] router-id", "true"))
    .option("--concurrent-service-syncs <count>", "number of Services that are reconciled at once", "8")
    .addOption(switchOption("leader-elect", "take part in the leader election, and work only as the leader", "true"))
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
    .option("--leader-elect-resource-name <name>", "the Lease", "cloud-controller-manager")
    .option("--leader-elect-resource-namespace <namespace>", "where it is", "kube-system")
    .addOption(
      switchOption(
        "enable-leader-migration",
        "use leader migration for controllers that kube-controller-manager ran before",
        "false",
      ),
    )
    .option("--leader-migration-config <file>", "kube-controller-manager's LeaderMigrationConfiguration")
    .option("--bind-address <address>", "where health and metrics are served", "0.0.0.0")
    .option("--secure-port <port>", "their port, with TLS; 0 serves none", "10258")
    .option("--tls-cert-file <file>", "certificate of that port (default: a self-signed one)")
    .option("--tls-private-key-file <file>", "its key")
    .addOption(
      new Option("--tls-min-version <version>", "minimum TLS version")
        .choices(["VersionTLS12", "VersionTLS13"] as const)
        .default("VersionTLS12" as const),
    )
    .option("--cert-dir <dir>", "folder with cloud-controller-manager.crt and .key, where there is one")
    .option(
      "--authorization-always-allow-paths <paths>",
      "paths that are served without authorization; the cluster authorizes others",
      commaList,
      ["/healthz", "/readyz", "/livez"],
    )
    .option("--user-agent <text>", "added to the User-Agent of requests to the cloud; may be repeated", many)
    .option("-v, --v <level>", "log verbosity: 0 for warnings, 1 to 3 for changes, 4 or more for every call", "1")
    .addOption(new Option("--log-level <level>", "in place of -v").choices(LOG_LEVELS));
}
