import type { Context } from "../objects/context.ts";
import { perform } from "../objects/pipeline.ts";
import type { DeploymentStep } from "./steps.ts";

export function performDeploymentStep(context: Context, step: DeploymentStep, signal: AbortSignal): Promise<void> {
  return perform(context, step, signal);
}
