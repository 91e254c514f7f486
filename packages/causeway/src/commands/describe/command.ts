import { Command } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { outputOption } from "../../options/output.ts";

/** What `causeway describe cluster` is given. */
export type DescribeClusterOptions = ReturnType<ReturnType<typeof clusterOptions>["opts"]>;

/** Shows a cluster with all its objects. */
export function describeCommand(signal: AbortSignal) {
  return new Command("describe")
    .description("Show a cluster as a tree of its objects, with what each waits for.")
    .addHelpText(
      "after",
      `
Examples:
  causeway describe cluster demo`,
    )
    .addCommand(
      clusterOptions()
        .addHelpText(
          "after",
          `
Examples:
  causeway describe cluster demo
  causeway describe cluster web -n tenants --kubeconfig management.kubeconfig
  causeway describe cluster demo -o json | jq '.children[].object.kind'`,
        )
        .action(async (name, given) => (await import("./action.ts")).describeCluster(name, given, signal)),
    );
}

function clusterOptions() {
  return new Command("cluster")
    .description("Show the tree of a cluster's objects, each with its condition.")
    .argument("<name>", "name of the cluster")
    .addOption(managementOptions.namespace())
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(outputOption());
}
