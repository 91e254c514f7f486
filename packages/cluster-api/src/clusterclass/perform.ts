import type { Context } from "../objects/context.ts";
import { performWrite } from "../objects/pipeline.ts";
import type { ClassStep } from "./steps.ts";

/** All steps are writes of objects in the management cluster. */
export function perform(context: Context, step: ClassStep, signal: AbortSignal): Promise<void> {
  return performWrite(context, step, signal);
}
