import type { Cluster, Machine, MachineHealthCheck } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";

/** A Machine that is checked, with its Node. */
export interface Target {
  readonly machine: Machine;
  readonly node: Node | undefined;
}

/** All that the planner of MachineHealthChecks reads. */
export interface Observed {
  readonly check: MachineHealthCheck;
  readonly cluster: Cluster | undefined;
  /** Machines that the selector matches. */
  readonly targets: readonly Target[];
  /** False: nothing is known of Nodes. */
  readonly connected: boolean;
}
