import type { Context } from "../objects/context.ts";
import { perform } from "../objects/pipeline.ts";
import type { DeploymentStep } from "./steps.ts";

/** All steps are writes of objects in the management cluster. */
export function performDeploymentStep(context: Context, step: DeploymentStep, signal: AbortSignal): Promise<void> {
  return perform(context, step, signal);
}
