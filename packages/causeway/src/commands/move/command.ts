import { Command, Option } from "@commander-js/extra-typings";
import { InputError } from "@causeway/foundation";
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
Secrets. Clusters are paused on both sides until the source has nothing of them left. Both sides are
compared before anything is deleted. Nothing is requested of the cloud. It may end at any point: the
same command continues. The target serves the same kinds: the CRDs of Cluster API and its providers
are installed there first. Clusters with hosted control planes are refused.

With --hosted-control-planes, a preview, those that run as pods are handed over: the managers of
both sides (causeway run hosted-control-plane) run meanwhile, with the same service cluster and the
same options but --owner. Pods, keys, endpoints and data remain as they are, and the source can
never change them again. Those with another runtime are refused, since the data of their API servers
is where they run. The API of each cluster is requested throughout, and its longest interruption is
reported.

With --to-directory the clusters are saved as files, with credentials, and continue where they are;
--from-directory creates them from such files. Two management clusters must never act on the same
machines: pause or delete the clusters in the one before they are created in the other.

Examples:
  causeway move --to-kubeconfig target.kubeconfig --dry-run
  causeway move --to-kubeconfig target.kubeconfig -n tenants
  causeway move --kubeconfig target.kubeconfig --to-kubeconfig .causeway/management.kubeconfig -n tenants
  causeway move --to-kubeconfig target.kubeconfig -A --hosted-control-planes --service-kubeconfig service.kubeconfig
  causeway move -n tenants --to-directory saved
  causeway move --from-directory saved --to-kubeconfig target.kubeconfig`,
    )
    .action(async (given) => (await import("./action.ts")).move(given, signal));
}

/** @throws FLAG_INVALID */
function countOf(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= 1_000) return value;
  throw new InputError("FLAG_INVALID", `--wave ${text} is not a number from 1 to 1000.`, {
    hint: "Specify how many clusters may be paused at the same time.",
  });
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
    .addOption(
      new Option("-A, --all-namespaces", "clusters of all namespaces, one namespace after the other")
        .default(false)
        .conflicts(["toDirectory", "fromDirectory", "namespace"]),
    )
    .addOption(
      new Option(
        "--hosted-control-planes",
        "hand over hosted control planes that run as pods (a preview; without it they are refused)",
      )
        .default(false)
        .conflicts(["toDirectory", "fromDirectory"]),
    )
    .option("--wave <number>", "with it: clusters that move at a time (default: all of the namespace)", countOf)
    .option(
      "--service-kubeconfig <file>",
      "of the cluster that runs hosted control planes as pods (default: the management cluster of the source)",
    )
    .option("--service-context <name>", "context of that kubeconfig (default: its current one)")
    .option(
      "--from-owner <name>",
      "--owner of the source's causeway run hosted-control-plane (default: the uid of its namespace kube-system)",
    )
    .option("--to-owner <name>", "--owner of the target's (default: the uid of its namespace kube-system)")
    .option("--dry-run", "check everything, and change nothing", false);
}
