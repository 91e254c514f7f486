import { CausewayError } from "@causeway/foundation";
import { isAlreadyExists, isControlledBy, keyOf, ReplicaSet, Deployment, selectorText } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { equalTemplates } from "../objects/pod-template.ts";
import { fieldManager, performClaim } from "../objects/pipeline.ts";
import type { Caches, Observed } from "./gather.ts";
import { maxSurge, sizeOf, sum, wantedOf } from "./replicas.ts";
import type { Step } from "./steps.ts";

/** Does one step. ReplicaSets grow only if the server's ReplicaSets, read again, leave room below `maxSurge`. */
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
      await refuseSurge(caches, deployment, { uid: undefined, to: step.set.spec.replicas ?? 0 }, signal);
      return create(caches, deployment, step.set, signal);
    case "change-replica-set": {
      const { target, resourceVersion, annotations, minReadySeconds, scale } = step;
      if (scale && scale.to > scale.from)
        await refuseSurge(caches, deployment, { uid: target.uid, to: scale.to }, signal);
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
 * Throws when ReplicaSets of the Deployment are larger than the plan knew, so that with one of `to` pods there would be
 * more than maxSurge allows. A watch that is silent shows sizes of before; a second leader, which is not stopped by the
 * revision of another ReplicaSet, may have changed them. Creating and growing are rare: they may cost a list.
 */
async function refuseSurge(
  { context, sets }: Caches & { readonly context: Context },
  deployment: Deployment,
  { uid, to }: { readonly uid: string | undefined; readonly to: number },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "" } = deployment.metadata;
  const labelSelector = selectorText(deployment.spec.selector);
  const { items } = await context.informers.client.list(ReplicaSet, { namespace, labelSelector, signal });
  for (const set of items) sets.observe(set);
  const others = items.filter((set) => isControlledBy(set, deployment) && set.metadata.uid !== uid);
  const allowed = wantedOf(deployment) + maxSurge(deployment);
  const size = sum(others, sizeOf) + to;
  if (size <= allowed || to === 0) return;
  const { name } = deployment.metadata;
  throw new CausewayError(
    "KUBERNETES_CONFLICT",
    `Deployment ${namespace}/${name} would have ${size} pods and may have ${allowed}: its ReplicaSets changed meanwhile; the next plan starts from their present sizes`,
  );
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
