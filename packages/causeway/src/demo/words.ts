/** What the demo says at its end: where the kubeconfigs are, and three commands to go on with. */
export function farewell(management: string, workload: string | undefined): string {
  const lines = [
    "",
    "The demo cluster is up. Two kubeconfigs:",
    `  management  ${management}`,
    ...(workload === undefined ? [] : [`  workload    ${workload}`]),
    "",
    "Go on with:",
    `  kubectl --kubeconfig ${management} get clusters,machines,machinedeployments,openstackclusters,openstackmachines -A`,
    ...(workload === undefined ? [] : [`  kubectl --kubeconfig ${workload} get nodes -o wide`]),
    `  kubectl --kubeconfig ${management} scale machinedeployment demo-workers --replicas=5`,
    "",
    "Ctrl-C stops it; the next start goes on from here.",
    "",
  ];
  return `${lines.join("\n")}\n`;
}

/** The line that scripts wait for. */
export function readyLine(result: { nodes: number; address: string; calls: number; seconds: number }): string {
  return `demo ready: 1 control plane, ${result.nodes} nodes, load balancer ${result.address}, ${result.calls} OpenStack calls, ${result.seconds.toFixed(1)} s\n`;
}
