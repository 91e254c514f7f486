import { Command } from "@commander-js/extra-typings";
import { generateProviderCommand } from "./provider/command.ts";
import { newClusterOptions } from "../../clusters/options.ts";

/** What `causeway generate cluster` is given. */
export type GenerateClusterOptions = ReturnType<ReturnType<typeof clusterOptions>["opts"]>;

/** Prints manifests. */
export function generateCommand() {
  return new Command("generate")
    .description("Manifests of a cluster, to edit, to keep and to apply, and of our Cluster API providers.")
    .addHelpText(
      "after",
      `
Examples:
  causeway generate cluster web > web.yaml`,
    )
    .addCommand(
      clusterOptions()
        .addHelpText(
          "after",
          `
The Secret among them has the credentials of the cloud: keep the output where only you can read it.

Examples:
  causeway generate cluster web --replicas 5 | kubectl --kubeconfig .causeway/management.kubeconfig apply -f -
  (umask 077 && causeway generate cluster web --cloud prod --flavor m1.large --image ubuntu-24.04 > web.yaml)`,
        )
        .action(async (name, given) => (await import("./action.ts")).generateCluster(name, given)),
    )
    .addCommand(generateProviderCommand());
}

function clusterOptions() {
  return new Command("cluster")
    .description("Cluster, network, control plane, workers, and a Secret with credentials.")
    .argument("<name>", "name of the cluster")
    .option("-n, --namespace <name>", "namespace of the cluster", "default")
    .addOption(newClusterOptions.cloud())
    .addOption(newClusterOptions.flavor())
    .addOption(newClusterOptions.image())
    .addOption(newClusterOptions.replicas())
    .addOption(newClusterOptions.kubernetesVersion());
}
