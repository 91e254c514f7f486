import type { ObjectStep } from "../objects/steps.ts";
import type { PodFacts } from "./facts.ts";

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
      readonly pods: readonly PodFacts[];
      /** Seconds given to each pod to end; its own period when absent. */
      readonly graceSeconds?: number;
    }
  | { readonly do: "deleteNode"; readonly name: string; readonly uid: string };
