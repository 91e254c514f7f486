import type { Cluster, Machine, MachineDeployment, MachinePool, MachineSet } from "@causeway/api";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { TopologyReport } from "../objects/topology-reports.ts";

/** All that the planner of Clusters reads. */
export interface Observed {
  readonly cluster: Cluster;
  readonly infrastructure: Referred<ProviderObject> | undefined;
  readonly controlPlane: Referred<ProviderObject> | undefined;
  readonly deployments: readonly MachineDeployment[];
  readonly pools: readonly MachinePool[];
  readonly sets: readonly MachineSet[];
  readonly machines: readonly Machine[];
  /** Since when the workload cluster has not responded (ms since the epoch); undefined while it does. */
  readonly silentSince: number | undefined;
  /** What the controller of topologies found; undefined without a topology, and before it was seen. */
  readonly topology?: TopologyReport;
  /** Handlers of BeforeClusterDelete have not let it go yet. */
  readonly isHeldByHook?: boolean;
}
