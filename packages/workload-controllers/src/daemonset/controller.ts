import { canonicalJson } from "@causeway/foundation";
import {
  controllerOf,
  ControllerRevision,
  DaemonSet,
  runPipeline,
  isAlreadyExists,
  keyOf,
  Node,
  watchInformer,
  watchOwner,
  type Change,
  type ControllerOptions,
  type DaemonSetStatus,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { by, indexed } from "../objects/caches.ts";
import { OwnedPods } from "../objects/owned-pods.ts";
import { failureEvents, publish, pipelineOptions } from "../objects/pipeline.ts";
import { selects } from "../objects/selector.ts";
import { FailureBackoff } from "./failure-backoff.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** One pod of each DaemonSet on each eligible node (k8s.io/kubernetes pkg/controller/daemon). */
export function daemonSetController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const sets = indexed(context, informers.for(DaemonSet));
  const nodes = informers.for(Node);
  const revisions = indexed(context, informers.for(ControllerRevision));
  const pods = new OwnedPods(context);
  const caches = { context, sets, nodes, pods, revisions, failures: new FailureBackoff(clock) };
  const pipeline: Pipeline<Observed, Step, DaemonSetStatus> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(caches, observed, step, signal),
    publish: ({ set }, status, events, signal) => publish(context, DaemonSet, { object: set, status, events, signal }),
    failed({ set }, { status }, step, error) {
      if (step.type === "create-revision" && isAlreadyExists(error)) {
        return { status: { ...status, collisionCount: (set.status?.collisionCount ?? 0) + 1 }, events: [] };
      }
      if (step.type === "create-pods")
        return { status, events: failureEvents("FailedCreate", "Error creating", error) };
      if (step.type === "delete-pods")
        return { status, events: failureEvents("FailedDelete", "Error deleting", error) };
      return { status, events: [] };
    },
  };
  return {
    name: "daemonset",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "daemonset")),
    sources: [
      watchInformer(sets),
      watchOwner(pods.pods, DaemonSet.kind),
      // A pod without a controller may be one to adopt.
      watchInformer(pods.pods, ({ type, object }) =>
        type === "deleted" || controllerOf(object)
          ? []
          : sets
              .byIndex(by.namespace, object.metadata.namespace ?? "")
              .filter(({ spec }) => selects(spec.selector, object.metadata.labels))
              .map(keyOf),
      ),
      watchInformer(nodes, (change) => (mayMatter(change) ? sets.list().map(keyOf) : [])),
    ],
    ready: (signal) =>
      Promise.all([sets, nodes, pods.pods, revisions].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}

/** Heartbeats do not decide where pods run. */
function mayMatter({ object, previous }: Change<Node>): boolean {
  if (!previous) return true;
  const [before, after] = [previous, object].map(({ metadata, spec }) =>
    canonicalJson([metadata.uid, metadata.labels ?? {}, spec.taints ?? []]),
  );
  return before !== after;
}
