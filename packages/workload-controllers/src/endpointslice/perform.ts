import type { Context } from "../context.ts";
import { performSliceStep } from "../objects/slices.ts";
import type { Caches } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Writes one slice; a slice that exists already is read, and the next plan compares. */
export function perform(
  { context, deletions }: Caches & { readonly context: Context },
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  return performSliceStep({ context, deletions }, step, signal);
}
