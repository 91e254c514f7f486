import type { ObjectStep } from "../objects/steps.ts";

/** A pod that a drain evicts; another pod of its name is not meant. */
export interface EvictedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What can be done for a Machine. */
export type MachineStep =
  | ObjectStep
  | {
      readonly type: "patch-node";
      readonly name: string;
      /** A merge patch, locked to a revision. */
      readonly body: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: "drain";
      readonly node: string;
      readonly pods: readonly EvictedPod[];
      /** Seconds given to each pod to end; its own period when absent. */
      readonly graceSeconds?: number;
    }
  | { readonly type: "delete-node"; readonly name: string; readonly uid: string };
