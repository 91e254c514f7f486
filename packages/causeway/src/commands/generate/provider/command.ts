import { Command } from "@commander-js/extra-typings";

/** `causeway generate provider`. */
export function generateProviderCommand() {
  return new Command("provider")
    .description(
      "A local repository of our Cluster API providers, for clusterctl: components, metadata.yaml, cluster templates and a configuration.",
    )
    .argument("<folder>", "where it is written")
    .option("--image <image>", "container image of the managers", "registry.example.com/causeway:0.1.0")
    .addHelpText(
      "after",
      `
Prints the clusterctl command that installs them. The infrastructure provider has cluster templates:
the default, without-lb, bastion, hosted (control planes by causeway up) and topology with its
ClusterClass.

Examples:
  causeway generate provider ./providers --image registry.example.com/causeway:0.1.0`,
    )
    .action(async (folder, options) => (await import("./action.ts")).generateProvider(folder, options));
}
