import { messageOf } from "@causeway/foundation";
import {
  controllerOf,
  ControllerRevision,
  runPipeline,
  isAlreadyExists,
  isConflict,
  keyOf,
  StatefulSet,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type PlannedEvent,
  type Pipeline,
  type StatefulSetStatus,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { by, indexed } from "../objects/caches.ts";
import { OwnedPods } from "../objects/owned-pods.ts";
import { isNamespaceTerminating, publish, pipelineOptions } from "../objects/pipeline.ts";
import { selects } from "../objects/selector.ts";
import { PersistentVolumeClaim } from "../objects/storage.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Keeps the pods and claims of StatefulSets in order (k8s.io/kubernetes pkg/controller/statefulset). */
export function statefulSetController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const sets = indexed(context, informers.for(StatefulSet));
  const revisions = indexed(context, informers.for(ControllerRevision));
  const claims = informers.for(PersistentVolumeClaim);
  const pods = new OwnedPods(context);
  const caches = { context, sets, pods, revisions, claims };
  const pipeline: Pipeline<Observed, Step, StatefulSetStatus> = {
    gather: (key) => Promise.resolve(gather(caches, key)),
    plan,
    perform: (step, observed, signal) => perform(caches, observed, step, signal),
    publish: ({ set }, status, events, signal) =>
      publish(context, StatefulSet, { object: set, status, events, signal }),
    failed({ set }, { status }, step, error) {
      if (step.type === "create-revision" && isAlreadyExists(error)) {
        return { status: { ...status, collisionCount: (set.status?.collisionCount ?? 0) + 1 }, events: [] };
      }
      return { status, events: failureOf(set, step, error) };
    },
  };
  return {
    name: "statefulset",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "statefulset")),
    sources: [
      watchInformer(sets),
      watchOwner(pods.pods, StatefulSet.kind),
      // A pod without a controller may be one to adopt.
      watchInformer(pods.pods, ({ type, object }) =>
        type === "deleted" || controllerOf(object)
          ? []
          : sets
              .byIndex(by.namespace, object.metadata.namespace ?? "")
              .filter(({ spec }) => selects(spec.selector, object.metadata.labels))
              .map(keyOf),
      ),
      // A pod may wait for a claim of its name to be gone.
      watchInformer(claims, ({ type, object }) =>
        type === "deleted"
          ? sets
              .byIndex(by.namespace, object.metadata.namespace ?? "")
              .filter((set) => mayClaim(set, object.metadata.name))
              .map(keyOf)
          : [],
      ),
    ],
    ready: (signal) =>
      Promise.all([sets, pods.pods, revisions, claims].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}

function mayClaim({ metadata, spec }: StatefulSet, claim: string): boolean {
  return (spec.volumeClaimTemplates ?? []).some((each) => claim.startsWith(`${each.metadata.name}-${metadata.name}-`));
}

function failureOf({ metadata }: StatefulSet, step: Step, error: unknown): PlannedEvent[] {
  if (isConflict(error) || isNamespaceTerminating(error) || isAlreadyExists(error)) return [];
  const failed = (verb: string, what: string): PlannedEvent[] => {
    const reason = verb === "create" ? "FailedCreate" : verb === "update" ? "FailedUpdate" : "FailedDelete";
    const message = `${verb} ${what} in StatefulSet ${metadata.name} failed error: ${messageOf(error)}`;
    return [{ type: "Warning", reason, message }];
  };
  switch (step.type) {
    case "create-claim":
      return failed("create", `Claim ${step.claim.metadata.name} Pod ${step.pod}`);
    case "create-pod":
      return failed("create", `Pod ${step.pod.metadata.name}`);
    case "label-pod":
      return failed("update", `Pod ${step.target.name}`);
    case "delete-pod":
      return failed("delete", `Pod ${step.target.name}`);
    default:
      return [];
  }
}
