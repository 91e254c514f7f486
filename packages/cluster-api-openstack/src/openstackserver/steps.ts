import type { MachineStep } from "../openstackmachine/steps.ts";

/** A server has no spec.providerID and no Machine; else it becomes what a machine becomes. */
export type ServerStep = Exclude<MachineStep, { type: "record-provider-id" | "set-endpoint-hook" }>;

/** Narrows a machine's step to one that an OpenStackServer can have. */
export function isServerStep(step: MachineStep): step is ServerStep {
  return step.type !== "record-provider-id" && step.type !== "set-endpoint-hook";
}
