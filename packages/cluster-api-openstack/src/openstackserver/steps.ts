import type { MachineStep } from "../openstackmachine/steps.ts";

/** A server has no spec.providerID; else it becomes what a machine becomes. */
export type ServerStep = Exclude<MachineStep, { do: "record-provider-id" }>;

export function isServerStep(step: MachineStep): step is ServerStep {
  return step.do !== "record-provider-id";
}
