import type { OpenStackMachineStatus } from "@causeway/api";
import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";
import type { MachineStep } from "./steps.ts";

/** What is known at the end of a plan about the server. */
export interface Outcome {
  readonly steps: readonly MachineStep[];
  readonly finding: WantedCondition;
  /** Conditions in addition to InstanceReady and Ready. */
  readonly more?: readonly WantedCondition[] | undefined;
  readonly status?: Partial<OpenStackMachineStatus>;
  readonly wait?: { readonly for: string; readonly until?: number };
  readonly events?: readonly PlannedEvent[];
}

/** Nothing can be done until something else exists. */
export function waiting(reason: string, what: string): Outcome {
  const finding: WantedCondition = { type: "InstanceReady", status: "False", reason, message: `Waiting for ${what}` };
  return { steps: [], finding, wait: { for: what } };
}
