import { Command } from "@commander-js/extra-typings";
import { clusterPlanOptions, ingressOptions, openStackOptions, serviceOptions } from "./options.ts";

/** Explains what a reconcile would do. */
export function planCommand(signal: AbortSignal) {
  return new Command("plan")
    .description("Show what a reconcile would do now, without doing it.")
    .addHelpText(
      "after",
      `
Examples:
  causeway plan service default/web --cloud prod --cluster-name prod`,
    )
    .addCommand(planServiceCommand(signal))
    .addCommand(planIngressCommand(signal))
    .addCommand(planGatewayCommand(signal))
    .addCommand(planClusterCommand(signal))
    .addCommand(planMachineCommand(signal))
    .addCommand(planOpenStackCommand(signal));
}

function planIngressCommand(signal: AbortSignal) {
  return ingressOptions("ingress", "an Ingress")
    .alias("ing")
    .action(async (name, given) => (await import("./ingress.ts")).planIngress("ingress", name, given, signal));
}

function planGatewayCommand(signal: AbortSignal) {
  return ingressOptions("gateway", "a Gateway")
    .alias("gtw")
    .action(async (name, given) => (await import("./ingress.ts")).planIngress("gateway", name, given, signal));
}

function planClusterCommand(signal: AbortSignal) {
  return clusterPlanOptions("cluster", "a Cluster's OpenStackCluster and, of a file, of its machines")
    .addHelpText(
      "after",
      `${clusterPlanText}
Of a file with a KubeadmControlPlane or MachineDeployments and their templates, it shows one machine
of each.

Examples:
  causeway plan cluster demo/prod
  causeway plan cluster -f cluster.yaml --detailed-exitcode`,
    )
    .action(async (name, given) => (await import("./cluster.ts")).planInfrastructure("cluster", name, given, signal));
}

function planMachineCommand(signal: AbortSignal) {
  return clusterPlanOptions("machine", "a Machine's OpenStackMachine")
    .addHelpText(
      "after",
      `${clusterPlanText}

Examples:
  causeway plan machine demo/prod-workers-x7k2p
  causeway plan machine -f machine.yaml -o json`,
    )
    .action(async (name, given) => (await import("./cluster.ts")).planInfrastructure("machine", name, given, signal));
}

const clusterPlanText = `
It changes nothing. It shows every round to the end, as if nothing else happened and every new
resource were ready at once. IDs such as network-1, and addresses of new resources, are examples.
The credentials are those of the identityRef. Manifests of -f are sent to the API server as a dry
run. It exits with status 0, with 3 when there is something to do and --detailed-exitcode is given,
with 2 for wrong input or where the object is missing, with 1 when the management cluster cannot be
reached.`;

function planOpenStackCommand(signal: AbortSignal) {
  return openStackOptions()
    .addHelpText(
      "after",
      `
It changes nothing. Options that the release does not know are refused, as the operator does.
It exits with status 0, and with 3 when something would change and --detailed-exitcode is given.

Examples:
  causeway plan openstack -f cloud.yaml -n openstack
  causeway plan openstack -f cloud.yaml --detailed-exitcode -o json`,
    )
    .action(async (given) => (await import("./openstack.ts")).planOpenStack(given, signal));
}

function planServiceCommand(signal: AbortSignal) {
  return serviceOptions()
    .addHelpText(
      "after",
      `
It changes nothing. It shows every round to the end, as if nothing else happened: the security
group's first, where they are managed. Fields that change are shown with their value before and
after: "~ name: a -> b". It exits with status 0, with 3 when there is something to do and
--detailed-exitcode is given, with 2 for wrong input or where there is no such Service, with 1
when cloud or cluster cannot be queried.

Examples:
  causeway plan service default/web --cloud prod --cluster-name prod
  causeway plan services -A --cloud prod --cluster-name prod --detailed-exitcode
  causeway plan service default/web --cloud-config cloud.conf --kubeconfig admin.conf -o json`,
    )
    .action(async (name, given) => (await import("./action.ts")).planService(name, given, signal));
}
