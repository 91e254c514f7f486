import type { Cluster, ClusterResourceSet, ClusterResourceSetBinding } from "@causeway/api";
import type { ConfigMap, Secret } from "@causeway/kubernetes";

/** A Secret or ConfigMap that the set names. */
export interface ObservedResource {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
  readonly object: Secret | ConfigMap | undefined;
  /** Of its values in the order of their keys, as "sha256:<hex>". */
  readonly hash: string | undefined;
}

/** A Cluster that the selector matches. */
export interface ObservedTarget {
  readonly cluster: Cluster;
  readonly binding: ClusterResourceSetBinding | undefined;
  readonly reachable: boolean;
}

/** All that the planner of ClusterResourceSets reads. */
export interface Observed {
  readonly set: ClusterResourceSet;
  readonly targets: readonly ObservedTarget[];
  readonly resources: readonly ObservedResource[];
  /** Bindings that name the set and belong to Clusters that are gone, are being deleted, or do not match any more. */
  readonly stale: readonly ClusterResourceSetBinding[];
}
