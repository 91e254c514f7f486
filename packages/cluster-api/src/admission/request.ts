import type { Cluster, ClusterClass } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";

/** A write as a validating webhook receives it; objects are of the newest version. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** Of `object`: "Scale" for the scale subresource. */
  readonly kind: string;
  /** Undefined on DELETE. */
  readonly object: KubeObject | undefined;
  /** Undefined on CREATE. */
  readonly previous: KubeObject | undefined;
}

/** What the rules read in addition to the object itself. */
export interface Related {
  /** Of a Cluster with a topology, by its name and namespace. */
  class(key: { readonly namespace: string; readonly name: string }): Promise<ClusterClass | undefined>;
  /** The Clusters that use a ClusterClass. */
  users(of: { readonly namespace: string; readonly name: string }): Promise<readonly Cluster[]>;
}

/** Where the ClusterClass of a topology is. */
export function classKeyOf(cluster: Cluster): { namespace: string; name: string } | undefined {
  const reference = cluster.spec.topology?.classRef;
  if (!reference?.name) return undefined;
  return { name: reference.name, namespace: reference.namespace ?? cluster.metadata.namespace ?? "" };
}
