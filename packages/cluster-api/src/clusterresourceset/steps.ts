import type { Cluster, ClusterResourceSetBinding } from "@causeway/api";
import type { ObjectStep } from "../objects/steps.ts";
import type { ObservedResource } from "./observed.ts";

/** What is applied to one Cluster. */
export interface Application {
  readonly cluster: Cluster;
  readonly resources: readonly ObservedResource[];
}

/** What can be done for a ClusterResourceSet. */
export type ResourceSetStep =
  | ObjectStep
  /** Every Cluster is tried, and what was applied is recorded in its binding, before an error is reported. */
  | { readonly type: "apply"; readonly applications: readonly Application[] }
  /** Removes the set's entry; a binding without entries is deleted. */
  | { readonly type: "unbind"; readonly binding: ClusterResourceSetBinding };
