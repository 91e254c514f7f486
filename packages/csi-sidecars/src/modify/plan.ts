import type { Plan } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { wantedClass } from "./plan-class.ts";
import type { Step } from "./steps.ts";

/** How far the change of the class is, for the claim's status. */
export interface Progress {
  readonly target: string;
  /** "Pending": the class is missing. "Infeasible": the driver refuses its parameters. */
  readonly status: "Pending" | "InProgress" | "Infeasible";
}
/** What a plan publishes by itself; undefined: nothing, since the steps of a modification write its progress. */
export type Status = Progress | undefined;

const AGAIN = 30_000;

/** Gives the volume the attributes of the class that its claim names. */
export function plan({ claim, driver, attributes }: Observed, now: number): Plan<Step, Status> {
  const none: Plan<Step, Status> = { steps: [], status: undefined };
  const target = wantedClass(claim);
  if (target === undefined || claim.metadata.deletionTimestamp !== undefined || claim.status?.phase !== "Bound")
    return none;
  if (!attributes) {
    const why = `VolumeAttributesClass "${target}" is missing`;
    return {
      steps: [],
      status: { target, status: "Pending" },
      wait: { for: why, until: now + AGAIN },
      events: [{ type: "Warning", reason: "VolumeModifyFailed", message: why }],
    };
  }
  if (attributes.driverName !== driver.name) {
    const message = `VolumeAttributesClass "${target}" is of driver ${attributes.driverName}`;
    return {
      steps: [],
      status: { target, status: "Infeasible" },
      events: [{ type: "Warning", reason: "VolumeModifyFailed", message }],
    };
  }
  const { modifyVolumeStatus: progress } = claim.status;
  const hasBegun = progress?.targetVolumeAttributesClassName === target && progress.status === "InProgress";
  const message = `external resizer is modifying volume ${claim.spec.volumeName} with vac ${target}`;
  return {
    steps: [
      ...(hasBegun ? [] : [{ type: "begin" as const, target }]),
      { type: "modify", target, parameters: attributes.parameters ?? {} },
    ],
    status: undefined,
    events: hasBegun ? [] : [{ type: "Normal", reason: "VolumeModify", message }],
  };
}
