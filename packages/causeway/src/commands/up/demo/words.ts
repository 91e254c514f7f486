import type { OutputFormat } from "../../../options/output.ts";
import { documentOf } from "../../../terminal/documents.ts";

/** What the demo says at its end: where the kubeconfigs are, and commands to continue with. */
export function farewell(
  management: string,
  workload: string | undefined,
  /** The clouds.yaml of the simulated cloud. */
  cloudsYaml?: string,
): string {
  const lines = [
    "",
    "The demo cluster is up. Two kubeconfigs:",
    `  management  ${management}`,
    ...(workload === undefined ? [] : [`  workload    ${workload}`]),
    "",
    "Continue with:",
    `  kubectl --kubeconfig ${management} get clusters,machines,machinedeployments,openstackclusters,openstackmachines -A`,
    ...(workload === undefined ? [] : [`  kubectl --kubeconfig ${workload} get nodes,pods -o wide`]),
    `  kubectl --kubeconfig ${management} scale machinedeployment demo-workers --replicas=5`,
    ...(workload === undefined
      ? []
      : [`  kubectl --kubeconfig ${workload} -n kube-system delete daemonset kube-proxy   # it comes back`]),
    ...(cloudsYaml === undefined
      ? []
      : [`  OS_CLIENT_CONFIG_FILE=${cloudsYaml} openstack --os-cloud simulator server list`]),
    "",
    ...(cloudsYaml === undefined
      ? []
      : ["The cloud and the nodes are simulated: pods become ready, and no container runs."]),
    "Ctrl-C stops it; the next start continues from here.",
    "",
  ];
  return `${lines.join("\n")}\n`;
}

/** What `up --demo` has come to. */
export interface DemoResult {
  readonly ready: boolean;
  readonly nodes: number;
  /** The address of the demo Service's load balancer. */
  readonly loadBalancer: string;
  readonly openstackCalls: number;
  readonly seconds: number;
  /** Paths. */
  readonly kubeconfigs: { readonly management: string; readonly workload?: string };
}

/** The result: one line for people, else one document. */
export function renderResult(result: DemoResult, format: OutputFormat): string {
  const document = documentOf(result, format);
  if (document !== undefined) return document;
  const { nodes, loadBalancer, openstackCalls, seconds } = result;
  return `demo ready: 1 control plane, ${nodes} nodes, load balancer ${loadBalancer}, ${openstackCalls} OpenStack calls, ${seconds.toFixed(1)} s\n`;
}
