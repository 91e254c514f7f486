import { DaemonSet, keyOf, Pod } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { isRevisionStep, performRevision } from "../objects/revisions.ts";
import type { OwnedPods } from "../objects/owned-pods.ts";
import { performClaim } from "../objects/pipeline.ts";
import type { Caches, Observed } from "./gather.ts";
import type { Step } from "./steps.ts";
import { podFor } from "./template.ts";

/** Does one step; none if a pod that the plan counted as unavailable has changed on the server since. */
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
      if (await haveChanged(context, pods, { unavailable: step.unavailable, signal })) return;
      return pods.create(set, { items: step.nodes, podFor: (node) => podFor(set, node, step.hash) }, signal);
    case "delete-pods":
      if (await haveChanged(context, pods, { unavailable: step.unavailable, signal })) return;
      await pods.delete(set, step.targets, signal);
      for (const node of step.failedOn) failures.failed(set.metadata.uid ?? "", node);
      return;
    default:
      return performClaim(context, { ownerType: DaemonSet, owner: set, type: Pod }, step, signal);
  }
}

/**
 * Whether one of the pods is no longer as the plan saw it: then the next plan sees them as they are. A pod that is gone
 * is no reason to wait.
 */
async function haveChanged(
  { informers }: Context,
  { pods }: OwnedPods,
  { unavailable, signal }: { readonly unavailable: readonly Pod[]; readonly signal: AbortSignal },
): Promise<boolean> {
  const read = async (pod: Pod): Promise<boolean> => {
    const found = await informers.client.find(Pod, keyOf(pod), { signal });
    if (!found || found.metadata.uid !== pod.metadata.uid) return false;
    pods.observe(found);
    return found.metadata.resourceVersion !== pod.metadata.resourceVersion;
  };
  return (await Promise.all(unavailable.map(read))).includes(true);
}
