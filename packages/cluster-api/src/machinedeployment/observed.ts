import type { Cluster, Machine, MachineDeployment, MachineSet } from "@causeway/api";

/** All that the planner of MachineDeployments reads. */
export interface Observed {
  readonly deployment: MachineDeployment;
  readonly cluster: Cluster | undefined;
  /** MachineSets this deployment controls. */
  readonly sets: readonly MachineSet[];
  /** MachineSets without a controller that the selector fits. */
  readonly orphans: readonly MachineSet[];
  /** Machines by the uid of the MachineSet that controls them. */
  readonly machinesOf: ReadonlyMap<string, readonly Machine[]>;
}
