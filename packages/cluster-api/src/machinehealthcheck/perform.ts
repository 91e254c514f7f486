import { Machine } from "@causeway/api";
import { isNotFound, publishStatus } from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { performWrite } from "../objects/pipeline.ts";
import type { HealthCheckStep } from "./steps.ts";

/** Owns conditions of Machines next to those of the Machine's own controller. */
const fieldManager = "causeway-machinehealthcheck";

/** Writes the conditions of a Machine, which may be gone by then, or an object. */
export async function perform(context: Context, step: HealthCheckStep, signal: AbortSignal): Promise<void> {
  if (step.type !== "set-conditions") return performWrite(context, step, signal);
  const { machine, conditions } = step;
  try {
    await publishStatus(context.informers.client, Machine, machine, { status: { conditions }, fieldManager, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
