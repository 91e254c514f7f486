import type { Cluster, HostedControlPlane } from "@causeway/api";

/** The name of a control plane in its runtime: `default.web`. */
export function runtimeId(object: HostedControlPlane): string {
  return `${object.metadata.namespace}.${object.metadata.name}`;
}

/** The name that Secrets of the contract start with: the Cluster's. */
export function clusterName(object: HostedControlPlane, cluster: Cluster | undefined): string {
  return cluster?.metadata.name ?? object.metadata.labels?.["cluster.x-k8s.io/cluster-name"] ?? object.metadata.name;
}
