import { Command } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { whole } from "../../options/numbers.ts";

/** What `causeway delete cluster` is given. */
export type DeleteClusterOptions = ReturnType<ReturnType<typeof clusterOptions>["opts"]>;

/** Deletes clusters. */
export function deleteCommand(signal: AbortSignal) {
  return new Command("delete")
    .description("Delete a cluster and every OpenStack resource that it made.")
    .addHelpText(
      "after",
      `
Examples:
  causeway delete cluster demo`,
    )
    .addCommand(
      clusterOptions()
        .addHelpText(
          "after",
          `
It asks first, unless --yes is given, and waits until everything is gone, unless --no-wait is given.
It exits with status 0, with 1 after a timeout, with 2 where there is no such cluster.

Examples:
  causeway delete cluster demo
  causeway delete cluster web -n tenants --yes --timeout 600`,
        )
        .action(async (name, given) => (await import("./action.ts")).deleteCluster(name, given, signal)),
    );
}

function clusterOptions() {
  return new Command("cluster")
    .description("Delete a cluster with its machines, load balancers, network and control plane.")
    .argument("<name>", "name of the cluster")
    .addOption(managementOptions.namespace())
    .option("-y, --yes", "delete without confirmation", false)
    .option("--no-wait", "return as soon as the deletion is accepted")
    .option("--timeout <seconds>", "longest time to wait", whole(1, 86_400), 900)
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context());
}
