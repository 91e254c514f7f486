import { Command } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { clusterOptions } from "../../options/places.ts";

/** What `causeway explain` is given. */
export type ExplainOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** Shows what a component of an OpenStackDeployment waits for. */
export function explainCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
It exits with status 0 when the component is ready, and with 3 when it is not.

Examples:
  causeway explain nova-compute
  causeway explain neutron-server -n openstack --deployment cloud`,
    )
    .action(async (workload, given) => (await import("./action.ts")).explain(workload, given, signal));
}

function options() {
  return new Command("explain")
    .description("Show why a component of an OpenStackDeployment is not ready, down to the root cause.")
    .argument("<workload>", "name of the component, or of its workload")
    .option("--deployment <name>", "the OpenStackDeployment (default: the only one of the namespace)")
    .option("-n, --namespace <name>", "namespace of the OpenStackDeployment (default: the context's)")
    .addOption(
      clusterOptions.kubeconfig("of the cluster that OpenStack runs in (default: KUBECONFIG, or ~/.kube/config)"),
    )
    .addOption(managementOptions.context());
}
