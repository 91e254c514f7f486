import { Command, InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { managementOptions, newClusterOptions } from "../../clusters/options.ts";
import { whole } from "../../options/numbers.ts";

/** What `causeway create cluster` is given. */
export type CreateClusterOptions = ReturnType<ReturnType<typeof clusterOptions>["opts"]>;

/** Creates clusters. */
export function createCommand(signal: AbortSignal) {
  return new Command("create")
    .description("Create a cluster, and wait until its workers are ready.")
    .addHelpText(
      "after",
      `
Examples:
  causeway create cluster web`,
    )
    .addCommand(
      clusterOptions()
        .addHelpText(
          "after",
          `
Flavor and image are checked before anything is created. A cluster that exists is not changed. It
ends with status 0, with 1 after a timeout, with 2 for wrong input.

Examples:
  causeway create cluster web
  causeway create cluster web -n tenants --cloud prod --flavor m1.large --image ubuntu-24.04 --replicas 5
  causeway create cluster web --addons kube-proxy,coredns
  causeway create cluster web --no-wait`,
        )
        .action(async (name, given) => (await import("./action.ts")).createCluster(name, given, signal)),
    );
}

/** Built-in add-ons by the names of the option. */
const builtIns = {
  "kube-proxy": "KubeProxy",
  coredns: "CoreDNS",
  flannel: "Flannel",
  "metrics-server": "MetricsServer",
} as const;
/** As the catalogue of an AddonSet names it. */
export type BuiltInAddon = (typeof builtIns)[keyof typeof builtIns];

const isBuiltIn = (name: string): name is keyof typeof builtIns => Object.hasOwn(builtIns, name);

function addonNames(text: string): readonly BuiltInAddon[] {
  return [...new Set(text.split(","))].map((name) => {
    if (isBuiltIn(name)) return builtIns[name];
    throw new InvalidArgumentError(
      `there is no built-in add-on "${name}"; there are ${Object.keys(builtIns).join(", ")}.`,
    );
  });
}

function clusterOptions() {
  return new Command("cluster")
    .description("Create a cluster with a hosted control plane and one set of workers.")
    .argument("<name>", "name of the cluster")
    .addOption(managementOptions.namespace())
    .addOption(newClusterOptions.cloud())
    .addOption(newClusterOptions.flavor())
    .addOption(newClusterOptions.image())
    .addOption(newClusterOptions.replicas())
    .addOption(newClusterOptions.kubernetesVersion())
    .addOption(
      new Option(
        "--addons <names>",
        `built-in add-ons that are kept in the cluster: ${Object.keys(builtIns).join(", ")}`,
      ).argParser(addonNames),
    )
    .option("--no-wait", "return as soon as the objects are created")
    .option("--timeout <seconds>", "longest time to wait", whole(1, 86_400), 900)
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context());
}
