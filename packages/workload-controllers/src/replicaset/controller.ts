import { messageOf } from "@causeway/foundation";
import {
  controllerOf,
  runPipeline,
  isConflict,
  keyOf,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type KubeObject,
  type ObjectKey,
  type ReplicaSetStatus,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { by, indexed } from "../objects/caches.ts";
import { OwnedPods } from "../objects/owned-pods.ts";
import { paced } from "../objects/pace.ts";
import { failureEvents, isNamespaceTerminating, publish, pipelineOptions } from "../objects/pipeline.ts";
import { selects } from "../objects/selector.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { failedStatus, plan } from "./plan.ts";
import type { Step } from "./steps.ts";
import { replicaSets, replicationControllers, type Variant } from "./variant.ts";

/** Keeps the number of pods of ReplicaSets (k8s.io/kubernetes pkg/controller/replicaset). */
export const replicaSetController = (context: Context): ControllerOptions => controllerFor(context, replicaSets);
/** The same for ReplicationControllers, which upstream serves with the same code too. */
export const replicationControllerController = (context: Context): ControllerOptions =>
  controllerFor(context, replicationControllers);

function controllerFor<T extends KubeObject>(context: Context, variant: Variant<T>): ControllerOptions {
  const { clock, log, informers } = context;
  const owners = indexed(context, informers.for(variant.type));
  const pods = new OwnedPods(context);
  const caches = { context, variant, owners, pods };
  const pipeline: Pipeline<Observed, Step, ReplicaSetStatus> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(caches, observed, step, signal),
    publish: ({ owner }, status, events, signal) =>
      publish(context, variant.type, { object: owner.object as unknown as T, status, events, signal }),
    failed(observed, { status }, step, error) {
      if (isConflict(error) || isNamespaceTerminating(error)) return { status, events: [] };
      const failure = { step, message: messageOf(error), now: clock.now() };
      const events =
        step.type === "create-pods"
          ? failureEvents("FailedCreate", "Error creating", error)
          : failureEvents("FailedDelete", "Error deleting", error);
      return { status: failedStatus(observed, status, failure), events };
    },
  };
  const sizeOf = (key: ObjectKey): number | undefined => {
    const uid = owners.get(key)?.metadata.uid;
    return uid === undefined ? undefined : pods.pods.byIndex(by.controller, uid).length;
  };
  return {
    name: variant.name,
    reconcile: paced(runPipeline(pipeline, pipelineOptions(context, variant.name)), { clock, sizeOf }),
    sources: [
      watchInformer(owners),
      watchOwner(pods.pods, variant.type.kind),
      // A pod without a controller may be one to adopt.
      watchInformer(pods.pods, ({ type, object }) =>
        type === "deleted" || controllerOf(object)
          ? []
          : owners
              .byIndex(by.namespace, object.metadata.namespace ?? "")
              .filter((owner) => selects(variant.ownerOf(owner).selector, object.metadata.labels))
              .map(keyOf),
      ),
    ],
    ready: (signal) => Promise.all([owners.whenSynced(signal), pods.pods.whenSynced(signal)]).then(() => {}),
    clock,
    log,
  };
}
