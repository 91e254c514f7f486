import { Command, Option } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";

/** What `causeway move` is given. */
export type MoveOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** Moves clusters to another management cluster, at once or through a folder. */
export function moveCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Every Cluster of the namespace moves, with all objects that belong to it, their statuses and their
Secrets. Clusters are paused on both sides until the source has nothing left. Both sides are
compared before anything is deleted. Nothing is requested of the cloud. It may end at any point: the
same command continues. The target serves the same kinds: the CRDs of Cluster API and its providers
are installed there first. Clusters with hosted control planes are refused, since the data of their
API servers is not in objects.

With --to-directory the clusters are saved as files, with credentials, and continue where they are;
--from-directory creates them from such files. Two management clusters must never act on the same
machines: pause or delete the clusters in the one before they are created in the other.

Examples:
  causeway move --to-kubeconfig target.kubeconfig --dry-run
  causeway move --to-kubeconfig target.kubeconfig -n tenants
  causeway move --kubeconfig target.kubeconfig --to-kubeconfig .causeway/management.kubeconfig -n tenants
  causeway move -n tenants --to-directory saved
  causeway move --from-directory saved --to-kubeconfig target.kubeconfig`,
    )
    .action(async (given) => (await import("./action.ts")).move(given, signal));
}

function options() {
  return new Command("move")
    .description("Move the clusters of a namespace to another management cluster.")
    .addOption(managementOptions.namespace())
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(
      new Option("--to-kubeconfig <file>", "of the management cluster that the clusters move to").conflicts(
        "toDirectory",
      ),
    )
    .addOption(new Option("--to-context <name>", "context of that kubeconfig (default: its current one)"))
    .addOption(
      new Option("--to-directory <dir>", "save the clusters as files in a new folder").conflicts("fromDirectory"),
    )
    .option("--from-directory <dir>", "create the clusters that such a folder has")
    .option("--dry-run", "check everything, and change nothing", false);
}
