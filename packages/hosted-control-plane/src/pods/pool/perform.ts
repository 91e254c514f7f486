import type { Shards } from "@causeway/kubernetes";
import { perform as performStep, type PerformContext as StepContext } from "../perform.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** What the steps need, and the namespaces that this process works on. */
export interface PerformContext extends StepContext {
  readonly shards: Shards | undefined;
}

/** A step in the shared etcd's namespace is performed by the process that has the namespace "" only. */
export async function perform(
  using: PerformContext,
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { shards } = using;
  if (shards === undefined || step.type === "enable-auth") return performStep(using, step, observed, signal);
  const visit = shards.enter("");
  if (visit === undefined) return "deferred";
  try {
    return await performStep(using, step, observed, AbortSignal.any([signal, visit.signal]));
  } finally {
    visit.leave();
  }
}
