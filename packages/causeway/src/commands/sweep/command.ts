import { Command } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { logLevelOption } from "../../options/logging.ts";
import { outputOption } from "../../options/output.ts";
import { CLUSTER_NAME_TEXT, cloudOptions, clusterOptions } from "../../options/places.ts";

/** What `causeway sweep` is given. */
export type SweepOptions = ReturnType<ReturnType<typeof options>["opts"]> & { readonly clusterName: string };

/** Deletes orphans. */
export function sweepCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Only what has this cluster's names and descriptions together counts as its own. Volumes that were
retained are orphans, too, when they are older than ten minutes; --cluster-name is then also the
--cluster of the CSI driver. A cluster none of whose nodes is a server of the project is refused. It
lists what it would delete and asks first, unless --yes is given. It exits with status 0, with 3 when
orphans remain that it may delete (--dry-run, or "no" as the answer) and --detailed-exitcode is
given, with 1 when something could not be deleted, with 2 for wrong input.

Examples:
  causeway sweep --cloud prod --cluster-name prod --dry-run --detailed-exitcode
  causeway sweep --cloud prod --cluster-name prod --kubeconfig admin.conf
  causeway sweep --cloud prod --cluster-name prod --floating-ips --yes -o json
  causeway sweep --cloud prod --cluster-name prod --volumes --dry-run`,
    )
    .action(async (given, command) => {
      const { clusterName } = given;
      // Not a required option: commander would require it of the subcommand, too.
      if (clusterName === undefined) return command.error(MISSING, { code: "commander.missingMandatoryOptionValue" });
      await (await import("./action.ts")).sweep({ ...given, clusterName }, signal);
    })
    .addCommand(sweepClustersCommand(signal));
}

const MISSING = "error: required option '--cluster-name <name>' not specified";

/** What `causeway sweep clusters` is given. */
export type SweepClustersOptions = ReturnType<ReturnType<typeof clustersOptions>["opts"]>;

function sweepClustersCommand(signal: AbortSignal) {
  return clustersOptions()
    .addHelpText(
      "after",
      `
Without names it only lists what it finds. Only what has the names and the marks of Cluster API's
OpenStack provider counts as a cluster's, and only of clusters of which the management cluster has
no object. Servers that run may be another management cluster's: their cluster is kept unless
--running is given. It asks first, unless --yes is given. It exits with status 0, with 3 when
orphans remain that it may delete and --detailed-exitcode is given, with 1 when something could not
be deleted, with 2 for wrong input.

Examples:
  causeway sweep clusters --cloud prod
  causeway sweep clusters demo/old --cloud prod --dry-run
  causeway sweep clusters demo/old --cloud prod --running --yes -o json`,
    )
    .action(async (names, given) => (await import("./clusters.ts")).sweepOfClusters(names, given, signal));
}

function clustersOptions() {
  return new Command("clusters")
    .description(
      "Delete orphaned servers, volumes, ports, load balancers, floating IPs, routers, networks and security groups of deleted Clusters.",
    )
    .argument("[clusters...]", "NAMESPACE/NAME, or NAME, of Clusters that are gone (default: list all)")
    .addOption(cloudOptions.cloud())
    .addOption(cloudOptions.insecure())
    .addOption(cloudOptions.cacert())
    .addOption(managementOptions.namespace())
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .option("--dry-run", "only list what would be deleted", false)
    .option("--detailed-exitcode", "exit with status 3 when there are orphans that were not deleted", false)
    .option("--running", "include clusters whose servers run", false)
    .option("-y, --yes", "delete without confirmation", false)
    .addOption(outputOption())
    .addOption(logLevelOption());
}

function options() {
  return new Command("sweep")
    .description(
      "Delete orphaned load balancers, security groups and floating IPs of deleted Services, and orphaned volumes.",
    )
    .addOption(cloudOptions.cloud())
    .addOption(cloudOptions.insecure())
    .addOption(cloudOptions.cacert())
    .option("--cluster-name <name>", `${CLUSTER_NAME_TEXT} (required)`)
    .addOption(clusterOptions.kubeconfig())
    .addOption(clusterOptions.context())
    .option("-n, --namespace <name>", "only orphans of Services of this namespace (default: of all namespaces)")
    .option("--dry-run", "only list what would be deleted", false)
    .option("--detailed-exitcode", "exit with status 3 when there are orphans that were not deleted", false)
    .option("-y, --yes", "delete without confirmation", false)
    .option(
      "--floating-ips",
      "include floating IPs that are not in use: they may have been kept on purpose (keep-floatingip)",
      false,
    )
    .option(
      "--volumes",
      "include volumes, snapshots, backups and attachments of the Cinder CSI driver whose claims are gone, with their data",
      false,
    )
    .addOption(outputOption())
    .addOption(logLevelOption());
}
