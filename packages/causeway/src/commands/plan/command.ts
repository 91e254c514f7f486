import { Command } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { logLevelOption } from "../../options/logging.ts";
import { outputOption } from "../../options/output.ts";
import { CLUSTER_NAME_TEXT, cloudOptions, clusterOptions } from "../../options/places.ts";

/** What `causeway plan service` is given. */
export type PlanServiceOptions = ReturnType<ReturnType<typeof serviceOptions>["opts"]>;

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

/** What `causeway plan ingress` and `causeway plan gateway` are given. */
export type PlanIngressOptions = ReturnType<ReturnType<typeof ingressOptions>["opts"]>;

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

function ingressOptions(name: string, whose: string) {
  return new Command(name)
    .description(
      `The steps of \`causeway run octavia-ingress\` towards ${whose}'s load balancer, and the calls they take.`,
    )
    .argument("<name>", "NAMESPACE/NAME, or NAME")
    .requiredOption("--config <file>", "configuration file of the program, as octavia-ingress-controller has it")
    .option("-n, --namespace <name>", "namespace (default: default)")
    .option("--detailed-exitcode", "end with status 3 when there is something to do", false)
    .option("--kubeconfig <file>", "the cluster; wins over the configuration file")
    .addOption(outputOption())
    .addOption(logLevelOption())
    .addHelpText(
      "after",
      `
It only reads, and shows every round to the end, as if nothing else happened. Of one that shares the load balancer of its class, it shows the class's.
It ends with status 0, with 3 when there is something to do and --detailed-exitcode is given, with 2 for wrong input or where the object is
missing or another controller's, with 1 when cloud or cluster cannot be reached.

Examples:
  causeway plan ${name} default/web --config ingress.yaml
  causeway plan ${name} web -n shop --config ingress.yaml --kubeconfig admin.conf -o json`,
    );
}

/** What `causeway plan cluster` and `causeway plan machine` are given. */
export type PlanClusterOptions = ReturnType<ReturnType<typeof clusterPlanOptions>["opts"]>;

function planClusterCommand(signal: AbortSignal) {
  return clusterPlanOptions("cluster", "a Cluster's OpenStackCluster and, of a file, of its machines")
    .addHelpText(
      "after",
      `${clusterPlanText}
Of a file with a KubeadmControlPlane or MachineDeployments and their templates, it shows one machine of each.

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
It only reads, and shows every round to the end, as if nothing else happened and every new resource were ready at once. IDs such as network-1, and
addresses of new resources, are made up. The credentials are those of the identityRef. Manifests of -f are sent to the API server as a dry run.
It ends with status 0, with 3 when there is something to do and --detailed-exitcode is given, with 2 for wrong input or where the object is
missing, with 1 when the management cluster cannot be reached.`;

function clusterPlanOptions(name: string, whose: string) {
  return new Command(name)
    .description(`The steps of Cluster API's OpenStack provider towards ${whose}, and the calls they take.`)
    .argument("[name]", "NAMESPACE/NAME, or NAME (default: the first one of the file)")
    .option("-f, --filename <file>", "manifests, as they would be applied")
    .option("--detailed-exitcode", "end with status 3 when there is something to do", false)
    .addOption(outputOption())
    .addOption(managementOptions.namespace())
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(logLevelOption());
}

/** What `causeway plan openstack` is given. */
export type PlanOpenStackOptions = ReturnType<ReturnType<typeof openStackOptions>["opts"]>;

function planOpenStackCommand(signal: AbortSignal) {
  return openStackOptions()
    .addHelpText(
      "after",
      `
It only reads. Options that the release does not know are refused as the operator would refuse them.
It ends with status 0, and with 3 when something would change and --detailed-exitcode is given.

Examples:
  causeway plan openstack -f cloud.yaml -n openstack
  causeway plan openstack -f cloud.yaml --detailed-exitcode -o json`,
    )
    .action(async (given) => (await import("./openstack.ts")).planOpenStack(given, signal));
}

function openStackOptions() {
  return new Command("openstack")
    .description("What a change of an OpenStackDeployment would restart, run again and write.")
    .option("-f, --filename <file>", "the changed OpenStackDeployment (default: what the cluster has)")
    .option("--deployment <name>", "the OpenStackDeployment (default: the one of the file, or the only one)")
    .option("--detailed-exitcode", "end with status 3 when something would change", false)
    .addOption(outputOption())
    .addOption(managementOptions.namespace())
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context());
}

function planServiceCommand(signal: AbortSignal) {
  return serviceOptions()
    .addHelpText(
      "after",
      `
It only reads, and shows every round to the end, as if nothing else happened: the security group's first, where they are managed.
Fields that change are shown with their value before and after: "~ name: a -> b".
It ends with status 0, with 3 when there is something to do and --detailed-exitcode is given, with 2 for wrong input or where there is no such Service, with 1 when cloud or cluster cannot be asked.

Examples:
  causeway plan service default/web --cloud prod --cluster-name prod
  causeway plan services -A --cloud prod --cluster-name prod --detailed-exitcode
  causeway plan service default/web --cloud-config cloud.conf --kubeconfig admin.conf -o json`,
    )
    .action(async (name, given) => (await import("./action.ts")).planService(name, given, signal));
}

function serviceOptions() {
  return new Command("service")
    .aliases(["services", "svc"])
    .description("The steps towards a Service's load balancer, and the calls they take.")
    .argument("[name]", "NAMESPACE/NAME, or NAME (default: every Service of type LoadBalancer of the namespace)")
    .option("-n, --namespace <name>", "namespace of the Service (default: the context's)")
    .option("-A, --all-namespaces", "every Service of type LoadBalancer of the cluster", false)
    .option("--detailed-exitcode", "end with status 3 when there is something to do", false)
    .addOption(cloudOptions.cloud())
    .addOption(cloudOptions.insecure())
    .addOption(cloudOptions.cacert())
    .option("--cloud-config <file>", "cloud.conf, in place of an entry of clouds.yaml")
    .addOption(clusterOptions.kubeconfig())
    .addOption(clusterOptions.context())
    .option("--cluster-name <name>", CLUSTER_NAME_TEXT, "kubernetes")
    .addOption(outputOption())
    .addOption(logLevelOption());
}
