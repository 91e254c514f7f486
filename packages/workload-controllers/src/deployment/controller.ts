import { messageOf } from "@causeway/foundation";
import {
  controllerOf,
  Deployment,
  runPipeline,
  isAlreadyExists,
  isConflict,
  isNotFound,
  keyOf,
  ReplicaSet,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type ObjectKey,
  type Pod,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { by, indexed, podsOf } from "../objects/caches.ts";
import { Deletions } from "../objects/deletions.ts";
import { fieldManager, isNamespaceTerminating, publish, pipelineOptions } from "../objects/pipeline.ts";
import { selects } from "../objects/selector.ts";
import { annotation } from "./annotations.ts";
import { gather, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type PublishedStatus } from "./plan.ts";
import { creationFailed } from "./status.ts";
import type { Step } from "./steps.ts";

/** Rolls out the templates of Deployments as ReplicaSets (k8s.io/kubernetes pkg/controller/deployment). */
export function deploymentController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const deployments = indexed(context, informers.for(Deployment));
  const sets = indexed(context, informers.for(ReplicaSet));
  const pods = podsOf(context);
  const caches: Caches & { context: Context } = { context, deployments, sets, pods, deletions: new Deletions(context) };
  const pipeline: Pipeline<Observed, Step, PublishedStatus> = {
    gather: (key) => Promise.resolve(gather(caches, key)),
    plan,
    perform: (step, observed, signal) => perform(caches, observed, step, signal),
    async publish({ deployment }, { status, revision }, events, signal) {
      await publish(context, Deployment, { object: deployment, status, events, signal });
      await annotate(context, deployment, { revision, signal });
    },
    failed({ deployment }, { status }, step, error) {
      if (step.type !== "create-replica-set" || isConflict(error) || isNamespaceTerminating(error)) {
        return { status, events: [] };
      }
      if (isAlreadyExists(error)) {
        const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
        return { status: { ...status, status: { ...status.status, collisionCount } }, events: [] };
      }
      const message = `Failed to create new replica set "${step.set.metadata.name}": ${messageOf(error)}`;
      return {
        status: { ...status, status: creationFailed(deployment, status.status, message, clock.now()) },
        events: [{ type: "Warning", reason: "ReplicaSetCreateError", message }],
      };
    },
  };
  return {
    name: "deployment",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "deployment")),
    sources: [
      watchInformer(deployments),
      watchOwner(sets, Deployment.kind),
      watchInformer(sets, ({ type, object }) =>
        type === "deleted" || controllerOf(object)
          ? []
          : deployments
              .byIndex(by.namespace, object.metadata.namespace ?? "")
              .filter(({ spec }) => selects(spec.selector, object.metadata.labels))
              .map(keyOf),
      ),
      // Recreate waits for the last pod of the old ReplicaSets.
      watchInformer(pods, ({ type, object }) => (type === "deleted" ? recreatedBy(caches, object) : [])),
    ],
    ready: (signal) => Promise.all([deployments, sets, pods].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}

/** The Deployment shows the revision of its new ReplicaSet, once its status shows that ReplicaSet. */
async function annotate(
  { informers }: Context,
  deployment: Deployment,
  { revision, signal }: { revision: string | undefined; signal: AbortSignal },
): Promise<void> {
  const { uid, annotations } = deployment.metadata;
  if (revision === undefined || annotations?.[annotation.revision] === revision) return;
  const body = { metadata: { uid, annotations: { [annotation.revision]: revision } } };
  try {
    await informers.client.patch(Deployment, keyOf(deployment), { type: "merge", body }, { fieldManager, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function recreatedBy({ deployments, sets }: Caches, pod: Pod): ObjectKey[] {
  const namespace = pod.metadata.namespace ?? "";
  const owner = controllerOf(pod);
  const set = owner?.kind === ReplicaSet.kind ? sets.get({ namespace, name: owner.name }) : undefined;
  const name = set && controllerOf(set)?.name;
  const found = name === undefined ? undefined : deployments.get({ namespace, name });
  return found?.spec.strategy?.type === "Recreate" ? [keyOf(found)] : [];
}
