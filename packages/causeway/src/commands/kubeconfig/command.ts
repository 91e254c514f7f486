import { Command, Option } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";

/** What `causeway kubeconfig cluster` is given. */
export type KubeconfigOptions = ReturnType<ReturnType<typeof clusterOptions>["opts"]>;

/** Prints kubeconfigs. */
export function kubeconfigCommand(signal: AbortSignal) {
  return new Command("kubeconfig")
    .description("Print the administrator's kubeconfig of a cluster, or one for its Keystone users.")
    .addHelpText(
      "after",
      `
Examples:
  causeway kubeconfig cluster demo > demo.kubeconfig`,
    )
    .addCommand(
      clusterOptions()
        .addHelpText(
          "after",
          `
The kubeconfig has full rights on the cluster: keep it where only you can read it. With --keystone
it has no credential: kubectl runs \`causeway keystone-token\`, and the cluster takes the token of
its user, for clusters whose HostedControlPlane has spec.authentication.keystone.

Examples:
  causeway kubeconfig cluster demo | grep server:
  (umask 077 && causeway kubeconfig cluster demo > demo.kubeconfig)
  causeway kubeconfig cluster demo -n tenants | kubectl --kubeconfig /dev/stdin get nodes
  causeway kubeconfig cluster demo --keystone --cloud prod > demo.kubeconfig`,
        )
        .action(async (name, given) => (await import("./action.ts")).printKubeconfig(name, given, signal)),
    );
}

function clusterOptions() {
  return new Command("cluster")
    .description("Print the administrator's kubeconfig, from the Secret NAME-kubeconfig, or one for users of Keystone.")
    .argument("<name>", "name of the cluster")
    .addOption(managementOptions.namespace())
    .option("--keystone", "print a kubeconfig whose user is `causeway keystone-token`, without a credential", false)
    .addOption(
      new Option(
        "--cloud, --os-cloud <name>",
        "with --keystone: entry of the user's clouds.yaml (default: as `causeway keystone-token` chooses when kubectl runs)",
      ),
    )
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context());
}
