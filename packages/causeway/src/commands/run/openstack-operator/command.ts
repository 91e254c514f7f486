import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";

/** The flags of `causeway run openstack-operator`. */
export type OpenStackOperatorFlags = ReturnType<ReturnType<typeof options>["opts"]>;

export function openStackOperatorCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run openstack-operator --kubeconfig admin.conf
  causeway run openstack-operator --print-crds | kubectl apply --server-side -f -`,
    )
    .action(async (given) => (await import("./action.ts")).openStackOperator(given, signal));
}

function options() {
  return new Command("openstack-operator")
    .description("Run OpenStack clouds as pods of a Kubernetes cluster, from OpenStackDeployment objects.")
    .option("--kubeconfig <file>", "the cluster (default: as a pod of it)")
    .option("--context <name>", "context of the kubeconfig")
    .option("--leader-elect <boolean>", "one of several operators works, by a Lease", "true")
    .option("--leader-elect-namespace <name>", "namespace of the Lease", "default")
    .option("--print-crds", "print the CRDs and end", false)
    .addOption(
      new Option("--log-level <level>", "least level of log lines").choices(LOG_LEVELS).default("info" as const),
    );
}
