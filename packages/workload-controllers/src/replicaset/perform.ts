import { Pod, type KubeObject } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { performClaim } from "../objects/pipeline.ts";
import type { Caches, Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Does one step; writes that have begun are finished before an error is thrown. */
export async function perform<T extends KubeObject>(
  { context, pods, variant }: Caches<T> & { readonly context: Context },
  { owner }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const object = owner.object as unknown as T;
  switch (step.type) {
    case "create-pods":
      return pods.create(object, { items: Array.from({ length: step.count }), podFor: () => step.pod }, signal);
    case "delete-pods":
      return pods.delete(object, step.targets, signal);
    default:
      return performClaim(context, { ownerType: variant.type, owner: object, type: Pod }, step, signal);
  }
}
