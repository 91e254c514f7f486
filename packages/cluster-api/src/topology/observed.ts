import type { Cluster } from "@causeway/api";
import type { KindTable } from "../contract/kind-table.ts";
import type { TopologyReport } from "../objects/topology-reports.ts";
import type { Desired } from "./desired.ts";
import type { HookState } from "./hooks.ts";
import type { CurrentState, Difference } from "./model.ts";

/** All that the planner of topologies reads. */
export interface Observed {
  readonly cluster: Cluster;
  readonly kinds: KindTable;
  /** Why nothing can be planned: the ClusterClass is missing, not reconciled, or cannot be carried out. */
  readonly obstacle?: {
    readonly reason: "ReconcileFailed" | "ClusterClassNotReconciled" | "ClusterCreating";
    readonly message: string;
  };
  /** The report while the extensions of its patches are busy with other Clusters. */
  readonly before?: TopologyReport;
  /** What the handlers of runtime extensions hold back. */
  readonly hooks: HookState;
  readonly current: CurrentState;
  /** undefined while there is an obstacle. */
  readonly desired?: Desired;
  /** By `idOf`; objects that do not exist have none. */
  readonly differences: ReadonlyMap<string, Difference>;
}
