import type { Cluster, Kind, Machine, MachinePool } from "@causeway/api";
import type { KubeObject, Node } from "@causeway/kubernetes";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";

/**
 * The Nodes of the workload cluster, by what their machines are called at the provider. "unreachable": nothing is known
 * of them.
 */
export type PoolNodes =
  | { readonly reach: "unreachable" }
  | { readonly reach: "connected"; readonly nodes: readonly Node[] };

/** The machines that the infrastructure of a pool reports, which have Machines then. */
export interface PoolMembers {
  readonly kind: Kind<KubeObject>;
  readonly hosts: readonly ProviderObject[];
}

/** All that the planner of MachinePools reads. */
export interface Observed {
  readonly pool: MachinePool;
  readonly cluster: Cluster | undefined;
  readonly infrastructure: Referred<ProviderObject>;
  readonly bootstrap: Referred<ProviderObject> | undefined;
  /** Undefined: the infrastructure reports no machines of its own. */
  readonly members: PoolMembers | undefined;
  /** Machines that the pool controls. */
  readonly machines: readonly Machine[];
  /** Nodes of the pool's provider IDs, and those that the status names. */
  readonly workload: PoolNodes;
}
