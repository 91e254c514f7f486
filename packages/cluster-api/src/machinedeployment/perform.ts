import type { Context } from "../objects/context.ts";
import { performWrite } from "../objects/pipeline.ts";
import type { DeploymentStep } from "./steps.ts";

/** All steps are writes of objects in the management cluster. */
export function perform(context: Context, step: DeploymentStep, signal: AbortSignal): Promise<void> {
  return performWrite(context, step, signal);
}
