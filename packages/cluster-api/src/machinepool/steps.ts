import type { ObjectStep } from "../objects/steps.ts";

/** What can be done for a MachinePool. */
export type MachinePoolStep =
  | ObjectStep
  | {
      readonly type: "patch-node";
      readonly name: string;
      /** A merge patch, locked to a revision. */
      readonly body: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "delete-node"; readonly name: string; readonly uid: string };
