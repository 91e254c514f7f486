import type { ObjectStep } from "../objects/steps.ts";

/** What can be done for a MachinePool. */
export type MachinePoolStep =
  | ObjectStep
  | {
      readonly do: "patchNode";
      readonly name: string;
      /** A merge patch, locked to a revision. */
      readonly body: Readonly<Record<string, unknown>>;
    }
  | { readonly do: "deleteNode"; readonly name: string; readonly uid: string };
