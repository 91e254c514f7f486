import type { Cluster, Machine, MachineDeployment, MachineDrainRule, MachineSet } from "@causeway/api";
import type { Node, Pod } from "@causeway/kubernetes";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { ObservedVolumes } from "./volumes.ts";

/** What draining a Node reads: nothing while its Machine is not drained. */
export interface ObservedDrain {
  /** Those on the one Node. */
  readonly pods: readonly Pod[];
  /** The MachineDrainRules of the Machine's namespace. */
  readonly rules: readonly MachineDrainRule[];
  /** Labels of the workload cluster's namespaces; empty where no rule selects by them. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>> | undefined>;
  /** Read for `nodeAwaitingVolumes` only. */
  readonly volumes?: ObservedVolumes;
}

/** The workload cluster as seen now. "unreachable": no connection; then nothing is known of Nodes. */
export type ObservedNodes =
  | { readonly reach: "unreachable" }
  | {
      readonly reach: "connected";
      readonly nodes: readonly Node[];
      readonly drain: ObservedDrain;
    };

/** All that the planner of Machines reads. */
export interface Observed {
  readonly machine: Machine;
  readonly cluster: Cluster | undefined;
  readonly machineSet: MachineSet | undefined;
  readonly deployment: MachineDeployment | undefined;
  readonly infrastructure: Referred<ProviderObject>;
  readonly bootstrap: Referred<ProviderObject> | undefined;
  readonly workload: ObservedNodes;
}
