import { isConflict, isInvalid, isNotFound, Job, Pod } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import type { Target } from "../objects/claim.ts";
import { fieldManager, performClaim } from "../objects/pipeline.ts";
import type { Caches, Observed } from "./gather.ts";
import { newPod } from "./new-pods.ts";
import { trackingFinalizer } from "./pod-facts.ts";
import type { Step } from "./steps.ts";

const AT_ONCE = 32;

/** Does one step; without a Job only finalizers are removed. */
export async function perform(
  { context, pods }: Caches & { readonly context: Context },
  { job, pods: known }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  if (step.type === "remove-finalizers") return removeFinalizers(context, step.targets, signal);
  if (!job) return;
  switch (step.type) {
    case "create-pods":
      return pods.create(job, { items: step.pods, podFor: (order) => newPod(job, order, known) }, signal);
    case "delete-pods":
      if (step.uncounted) await removeFinalizers(context, step.targets, signal);
      return pods.delete(job, step.targets, signal);
    default:
      return performClaim(context, { ownerType: Job, owner: job, type: Pod }, step, signal);
  }
}

async function removeFinalizers(
  { informers }: Context,
  targets: readonly Target[],
  signal: AbortSignal,
): Promise<void> {
  const remove = async (target: Target) => {
    const body = { metadata: { uid: target.uid, "$deleteFromPrimitiveList/finalizers": [trackingFinalizer] } };
    try {
      await informers.client.patch(Pod, target, { type: "strategic", body }, { fieldManager, signal });
    } catch (error) {
      // Gone, or replaced by another of its name.
      if (!isNotFound(error) && !isConflict(error) && !isInvalid(error)) throw error;
    }
  };
  for (let start = 0; start < targets.length; start += AT_ONCE) {
    const results = await Promise.allSettled(targets.slice(start, start + AT_ONCE).map(remove));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  }
}
