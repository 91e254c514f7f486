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
      readonly do: "patchNode";
      readonly name: string;
      /** A merge patch, locked to a revision. */
      readonly body: Readonly<Record<string, unknown>>;
    }
  | {
      readonly do: "drain";
      readonly node: string;
      readonly pods: readonly EvictedPod[];
      /** Seconds given to each pod to end; its own period when absent. */
      readonly graceSeconds?: number;
    }
  | { readonly do: "deleteNode"; readonly name: string; readonly uid: string };
