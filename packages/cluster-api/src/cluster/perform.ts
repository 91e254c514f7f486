import type { Context } from "../objects/context.ts";
import { perform } from "../objects/pipeline.ts";
import type { ClusterStep } from "./steps.ts";

/** All steps are writes of objects in the management cluster. */
export function performClusterStep(context: Context, step: ClusterStep, signal: AbortSignal): Promise<void> {
  return perform(context, step, signal);
}
