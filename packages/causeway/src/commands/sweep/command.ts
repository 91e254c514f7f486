import { Command } from "@commander-js/extra-typings";
import { logLevelOption } from "../../options/logging.ts";
import { outputOption } from "../../options/output.ts";
import { CLUSTER_NAME_TEXT, cloudOptions, clusterOptions } from "../../options/places.ts";

/** What `causeway sweep` is given. */
export type SweepOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** Deletes orphans. */
export function sweepCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Only what has this cluster's names and descriptions together counts as its own. Volumes that were retained are orphans, too. A cluster none of whose nodes is a server of
the project is refused. It lists what it would delete and asks
first, unless --yes is given. It ends with status 0, with 1 when something could not be deleted, with 2 for wrong input.

Examples:
  causeway sweep --cloud prod --cluster-name prod --dry-run
  causeway sweep --cloud prod --cluster-name prod --kubeconfig admin.conf
  causeway sweep --cloud prod --cluster-name prod --floating-ips --yes -o json
  causeway sweep --cloud prod --cluster-name prod --volumes --dry-run`,
    )
    .action(async (given) => (await import("./action.ts")).sweep(given, signal));
}

function options() {
  return new Command("sweep")
    .description(
      "Delete orphaned load balancers, security groups and floating IPs of deleted Services, and orphaned volumes.",
    )
    .addOption(cloudOptions.cloud())
    .addOption(cloudOptions.insecure())
    .addOption(cloudOptions.cacert())
    .requiredOption("--cluster-name <name>", CLUSTER_NAME_TEXT)
    .addOption(clusterOptions.kubeconfig())
    .addOption(clusterOptions.context())
    .option("-n, --namespace <name>", "only orphans of Services of this namespace (default: of all namespaces)")
    .option("--dry-run", "only list what would be deleted", false)
    .option("-y, --yes", "delete without asking", false)
    .option(
      "--floating-ips",
      "also addresses that nothing uses: they may have been kept on purpose (keep-floatingip)",
      false,
    )
    .option(
      "--volumes",
      "also volumes, snapshots, backups and attachments of the Cinder CSI driver whose claims are gone, with all that they hold",
      false,
    )
    .addOption(outputOption())
    .addOption(logLevelOption());
}
