import { isAlreadyExists, isControlledBy, isNotFound, keyOf, Pod, StatefulSet } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { isRevisionStep, performRevision } from "../objects/revisions.ts";
import { fieldManager, performClaim } from "../objects/pipeline.ts";
import { PersistentVolumeClaim } from "../objects/storage.ts";
import type { Caches, Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Does one step. A claim of the name that exists is used; a pod of the name that others control is an error. */
export async function perform(
  caches: Caches & { readonly context: Context },
  { set }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const { context, pods } = caches;
  const { client } = context.informers;
  const options = { fieldManager, signal };
  const event = (reason: string, message: string) => context.events.event(set, { type: "Normal", reason, message });
  if (isRevisionStep(step)) {
    return performRevision({ context, deletions: pods.deletions, ownerType: StatefulSet, owner: set }, step, signal);
  }
  switch (step.type) {
    case "create-claim": {
      const { name } = step.claim.metadata;
      try {
        await client.create(PersistentVolumeClaim, step.claim, options);
      } catch (error) {
        // The name follows from the pod: an earlier attempt, or a user, made it.
        if (!isAlreadyExists(error)) throw error;
        caches.claims.observe(await client.get(PersistentVolumeClaim, keyOf(step.claim), { signal }));
        return;
      }
      return event(
        "SuccessfulCreate",
        `create Claim ${name} Pod ${step.pod} in StatefulSet ${set.metadata.name} success`,
      );
    }
    case "own-claim": {
      const { target, resourceVersion, ownerReferences } = step;
      const body = { metadata: { uid: target.uid, resourceVersion, ownerReferences } };
      return unlessGone(client.patch(PersistentVolumeClaim, target, { type: "merge", body }, options));
    }
    case "create-pod":
      if (!(await create(caches, set, step.pod, signal))) return;
      return event(
        "SuccessfulCreate",
        `create Pod ${step.pod.metadata.name} in StatefulSet ${set.metadata.name} successful`,
      );
    case "label-pod": {
      const body = { metadata: { uid: step.target.uid, labels: step.labels } };
      return unlessGone(client.patch(Pod, step.target, { type: "merge", body }, options));
    }
    case "delete-pod":
      await pods.deletions.perform(Pod, step.target, signal);
      return event("SuccessfulDelete", `delete Pod ${step.target.name} in StatefulSet ${set.metadata.name} successful`);
    default:
      return performClaim(context, { ownerType: StatefulSet, owner: set, type: Pod }, step, signal);
  }
}

/** False: an earlier attempt whose answer was lost created it. A pod of the name that another owner has is an error. */
async function create(
  { context, pods }: Caches & { readonly context: Context },
  set: StatefulSet,
  pod: Pod,
  signal: AbortSignal,
): Promise<boolean> {
  const { client } = context.informers;
  try {
    await client.create(Pod, pod, { fieldManager, signal });
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.find(Pod, keyOf(pod), { signal });
    if (found) pods.pods.observe(found);
    if (!found || !isControlledBy(found, set)) throw error;
    return false;
  }
}

async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
