import { Command } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { logLevelOption } from "../../options/logging.ts";
import { outputOption } from "../../options/output.ts";
import { CLUSTER_NAME_TEXT, cloudOptions, clusterOptions } from "../../options/places.ts";

/** What `causeway plan service` is given. */
export type PlanServiceOptions = ReturnType<ReturnType<typeof serviceOptions>["opts"]>;

/** What `causeway plan ingress` and `causeway plan gateway` are given. */
export type PlanIngressOptions = ReturnType<ReturnType<typeof ingressOptions>["opts"]>;

/** What `causeway plan cluster` and `causeway plan machine` are given. */
export type PlanClusterOptions = ReturnType<ReturnType<typeof clusterPlanOptions>["opts"]>;

/** What `causeway plan openstack` is given. */
export type PlanOpenStackOptions = ReturnType<ReturnType<typeof openStackOptions>["opts"]>;

/** `plan service` with its options. */
export function serviceOptions() {
  return new Command("service")
    .aliases(["services", "svc"])
    .description("The steps towards a Service's load balancer, and the calls they take.")
    .argument("[name]", "NAMESPACE/NAME, or NAME (default: every Service of type LoadBalancer of the namespace)")
    .option("-n, --namespace <name>", "namespace of the Service (default: the context's)")
    .option("-A, --all-namespaces", "every Service of type LoadBalancer of the cluster", false)
    .option("--detailed-exitcode", "exit with status 3 when there is something to do", false)
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

/** `plan ingress` or `plan gateway` with its options. */
export function ingressOptions(name: string, whose: string) {
  return new Command(name)
    .description(
      `The steps of \`causeway run octavia-ingress\` towards ${whose}'s load balancer, and the calls they take.`,
    )
    .argument("<name>", "NAMESPACE/NAME, or NAME")
    .requiredOption("--config <file>", "configuration file of the program, as octavia-ingress-controller has it")
    .option("-n, --namespace <name>", "namespace (default: default)")
    .option("--detailed-exitcode", "exit with status 3 when there is something to do", false)
    .option("--kubeconfig <file>", "kubeconfig of the cluster; overrides the configuration file")
    .addOption(outputOption())
    .addOption(logLevelOption())
    .addHelpText(
      "after",
      `
It changes nothing. It shows every round to the end, as if nothing else happened. Of one that shares
the load balancer of its class, it shows the class's. It exits with status 0, with 3 when there is
something to do and --detailed-exitcode is given, with 2 for wrong input or where the object is
missing or another controller's, with 1 when cloud or cluster cannot be reached.

Examples:
  causeway plan ${name} default/web --config ingress.yaml
  causeway plan ${name} web -n shop --config ingress.yaml --kubeconfig admin.conf -o json`,
    );
}

/** `plan cluster` or `plan machine` with its options. */
export function clusterPlanOptions(name: string, whose: string) {
  return new Command(name)
    .description(`The steps of Cluster API's OpenStack provider towards ${whose}, and the calls they take.`)
    .argument("[name]", "NAMESPACE/NAME, or NAME (default: the first one of the file)")
    .option("-f, --filename <file>", "manifests, as they would be applied")
    .option("--detailed-exitcode", "exit with status 3 when there is something to do", false)
    .addOption(outputOption())
    .addOption(managementOptions.namespace())
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(logLevelOption());
}

/** `plan openstack` with its options. */
export function openStackOptions() {
  return new Command("openstack")
    .description("What a change of an OpenStackDeployment would restart, run again and write.")
    .option("-f, --filename <file>", "the changed OpenStackDeployment (default: what the cluster has)")
    .option("--deployment <name>", "the OpenStackDeployment (default: the one of the file, or the only one)")
    .option("--detailed-exitcode", "exit with status 3 when something would change", false)
    .addOption(outputOption())
    .addOption(managementOptions.namespace())
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context());
}
