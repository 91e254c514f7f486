import type { Cluster, Machine, MachineDeployment, MachineSet } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";

/** A pod on the Node, as draining sees it. */
export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly deletingSince?: number;
  /**
   * Left alone by draining: of a DaemonSet, a mirror of a static pod, finished, or by its label or a MachineDrainRule.
   */
  readonly stays: boolean;
  /** Not evicted: it is waited for until it has completed. */
  readonly completes?: true;
  /** Pods of a lower order are drained first. Default 0. */
  readonly order?: number;
}

/** The workload cluster as seen now. "unreachable": no connection; then nothing is known of Nodes. */
export type NodeFacts =
  | { readonly reach: "unreachable" }
  | {
      readonly reach: "connected";
      readonly nodes: readonly Node[];
      /** Pods on the one Node, read only while draining. */
      readonly pods: readonly PodFacts[];
    };

/** All that the planner of Machines reads. */
export interface MachineFacts {
  readonly machine: Machine;
  readonly cluster: Cluster | undefined;
  readonly machineSet: MachineSet | undefined;
  readonly deployment: MachineDeployment | undefined;
  readonly infrastructure: Referred<ProviderObject>;
  readonly bootstrap: Referred<ProviderObject> | undefined;
  readonly workload: NodeFacts;
}
