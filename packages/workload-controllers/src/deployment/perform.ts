import { isAlreadyExists, isControlledBy, keyOf, ReplicaSet, Deployment } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { equalTemplates } from "../objects/pod-template.ts";
import { fieldManager, performClaim } from "../objects/pipeline.ts";
import type { Caches, Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

export async function perform(
  caches: Caches & { readonly context: Context },
  { deployment }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const { context, sets } = caches;
  const { client } = context.informers;
  switch (step.type) {
    case "create-replica-set":
      return create(caches, deployment, step.set, signal);
    case "change-replica-set": {
      const { target, resourceVersion, annotations, minReadySeconds, scale } = step;
      const spec = {
        ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
        ...(scale ? { replicas: scale.to } : {}),
      };
      const body = { metadata: { uid: target.uid, resourceVersion, annotations }, spec };
      await client.patch(ReplicaSet, target, { type: "merge", body }, { fieldManager, signal });
      if (scale) scaledEvent(context, deployment, { name: target.name, ...scale });
      return;
    }
    case "delete-replica-set":
      await caches.deletions.perform(ReplicaSet, step.target, signal);
      return;
    default:
      return performClaim(context, { ownerType: Deployment, owner: deployment, type: sets.type }, step, signal);
  }
}

/**
 * The name follows from the template: an earlier attempt whose answer was lost made the same. Another one of that name
 * is a hash collision.
 */
async function create(
  { context, sets }: Caches & { readonly context: Context },
  deployment: Deployment,
  set: ReplicaSet,
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  try {
    await client.create(ReplicaSet, set, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.get(ReplicaSet, keyOf(set), { signal });
    const isSame = equalTemplates(found.spec.template, deployment.spec.template);
    if (!isControlledBy(found, deployment) || !isSame) throw error;
    sets.observe(found);
    return;
  }
  const to = set.spec.replicas ?? 0;
  if (to > 0) scaledEvent(context, deployment, { name: set.metadata.name, from: 0, to });
}

function scaledEvent(
  { events }: Context,
  deployment: Deployment,
  { name, from, to }: { name: string; from: number; to: number },
): void {
  const direction = from < to ? "up" : "down";
  const message = `Scaled ${direction} replica set ${name} from ${from} to ${to}`;
  events.event(deployment, { type: "Normal", reason: "ScalingReplicaSet", message });
}
