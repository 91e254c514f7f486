import { Command } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";

/** What `causeway kubeconfig cluster` is given. */
export type KubeconfigOptions = ReturnType<ReturnType<typeof clusterOptions>["opts"]>;

/** Prints kubeconfigs. */
export function kubeconfigCommand(signal: AbortSignal) {
  return new Command("kubeconfig")
    .description("Print the administrator's kubeconfig of a cluster.")
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
The kubeconfig has full rights on the cluster: keep it where only you can read it.

Examples:
  causeway kubeconfig cluster demo | grep server:
  (umask 077 && causeway kubeconfig cluster demo > demo.kubeconfig)
  causeway kubeconfig cluster demo -n tenants | kubectl --kubeconfig /dev/stdin get nodes`,
        )
        .action(async (name, given) => (await import("./action.ts")).printKubeconfig(name, given, signal)),
    );
}

function clusterOptions() {
  return new Command("cluster")
    .description("The administrator's kubeconfig, from the Secret NAME-kubeconfig.")
    .argument("<name>", "name of the cluster")
    .addOption(managementOptions.namespace())
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context());
}
