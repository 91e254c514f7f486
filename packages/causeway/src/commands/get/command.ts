import { Command, Option } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";

/** What `causeway get clusters` is given. */
export type GetClustersOptions = ReturnType<ReturnType<typeof clustersOptions>["opts"]>;

/** Lists clusters. */
export function getCommand(signal: AbortSignal) {
  return new Command("get")
    .description("List clusters.")
    .addHelpText(
      "after",
      `
Examples:
  causeway get clusters
  causeway get cluster demo -o yaml`,
    )
    .addCommand(
      clustersOptions()
        .addHelpText(
          "after",
          `
Examples:
  causeway get clusters
  causeway get clusters -A -o wide
  causeway get clusters -o name | xargs -I{} kubectl annotate {} reviewed=yes
  causeway get cluster demo -n tenants -o json`,
        )
        .action(async (name, given) => (await import("./action.ts")).getClusters(name, given, signal)),
    );
}

function clustersOptions() {
  return new Command("clusters")
    .alias("cluster")
    .description("List clusters with their phase, version, workers and endpoint.")
    .argument("[name]", "one cluster (default: all of the namespace)")
    .addOption(managementOptions.namespace())
    .option("-A, --all-namespaces", "clusters of every namespace", false)
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(
      new Option(
        "-o, --output <format>",
        "output format: name prints cluster/NAME, wide adds columns for control plane and infrastructure",
      )
        .choices(["table", "wide", "name", "json", "yaml"] as const)
        .default("table" as const),
    );
}
