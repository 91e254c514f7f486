import { PodDisruptionBudget } from "../objects/budget.ts";
import type { Context } from "../context.ts";
import { fieldManager } from "../objects/pipeline.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Writes the status as a full update, so that an eviction at the same time is a conflict and not lost. */
export async function perform(
  { informers, events }: Context,
  { budget }: Observed,
  { status, undeleted }: Step,
  signal: AbortSignal,
): Promise<void> {
  const options = { subresource: "status", fieldManager, signal };
  await informers.client.update(PodDisruptionBudget, { ...budget, status }, options);
  const { namespace, name } = budget.metadata;
  for (const pod of undeleted) {
    const message = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`;
    events.event(pod, { type: "Warning", reason: "NotDeleted", message });
  }
}
