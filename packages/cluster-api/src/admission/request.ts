import type { Cluster, ClusterClass, KubeadmControlPlane } from "@causeway/api";

/** What the rules read in addition to the object itself. */
export interface Related {
  /** Of a Cluster with a topology, by its name and namespace. */
  class(key: { readonly namespace: string; readonly name: string }): Promise<ClusterClass | undefined>;
  /** The control plane that is scaled. */
  controlPlane(key: { readonly namespace: string; readonly name: string }): Promise<KubeadmControlPlane | undefined>;
  /** The Clusters that use a ClusterClass. */
  users(of: { readonly namespace: string; readonly name: string }): Promise<readonly Cluster[]>;
}

/** Where the ClusterClass of a topology is. */
export function classKeyOf(cluster: Cluster): { namespace: string; name: string } | undefined {
  const reference = cluster.spec.topology?.classRef;
  if (!reference?.name) return undefined;
  return { name: reference.name, namespace: reference.namespace ?? cluster.metadata.namespace ?? "" };
}
