import type { Machine } from "@causeway/api";
import type { Condition } from "@causeway/kubernetes";
import type { ObjectStep } from "../objects/steps.ts";

/** What can be done for a MachineHealthCheck. */
export type HealthCheckStep =
  | ObjectStep
  | {
      readonly type: "set-conditions";
      readonly machine: Machine;
      /** All the conditions of the Machine that health checks own. */
      readonly conditions: readonly Condition[];
      /** Present: the Machine was healthy before. */
      readonly failed?: true;
    };
