import { DaemonSet, Pod } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { isRevisionStep, performRevision } from "../objects/revisions.ts";
import { performClaim } from "../objects/road.ts";
import type { Caches, Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

export async function perform(
  { context, pods, failures }: Caches & { readonly context: Context },
  { set }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  if (isRevisionStep(step)) {
    return performRevision({ context, deletions: pods.deletions, ownerType: DaemonSet, owner: set }, step, signal);
  }
  switch (step.type) {
    case "create-pods":
      return pods.create(set, step.pods, signal);
    case "delete-pods":
      await pods.delete(set, step.targets, signal);
      for (const node of step.failedOn) failures.failed(set.metadata.uid ?? "", node);
      return;
    default:
      return performClaim(context, { ownerType: DaemonSet, owner: set, type: Pod }, step, signal);
  }
}
