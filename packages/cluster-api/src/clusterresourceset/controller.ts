import { ClusterResourceSet, type ClusterResourceSetStatus } from "@causeway/api";
import {
  runPipeline,
  keyOf,
  setCondition,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { messageOf } from "@causeway/foundation";
import { onConnectionChange, type Context } from "../objects/context.ts";
import { groupsByCluster } from "../objects/groups.ts";
import { failure, performAndReport, publish } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { contentsOf, gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, resourceSetStepEvents } from "./plan.ts";
import type { ResourceSetStep } from "./steps.ts";

/** Applies what ConfigMaps and Secrets of a ClusterResourceSet hold to the workload clusters that it selects. */
export function clusterResourceSetController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const pipeline: Pipeline<Observed, ResourceSetStep, ClusterResourceSetStatus> = {
    gather: (key, signal) => gather(context, key, signal),
    plan,
    perform: (step, { set }, signal) =>
      performAndReport(
        context,
        { object: set, events: resourceSetStepEvents(step) },
        perform({ context, set }, step, signal),
      ),
    publish: ({ set }, status, events, signal) =>
      publish(context, ClusterResourceSet, { object: set, status, events, signal }),
    failed: (_observed, { status }, step, error) =>
      failure(step.type === "apply" ? notApplied(status, error, clock.now()) : status, error),
  };
  return {
    name: "clusterresourceset",
    reconcile: runPipeline(pipeline, { clock, log, name: "clusterresourceset", metrics: context.metrics }),
    sources: sources(context),
    // A set applies to many clusters: one that has to do with a cluster that hangs is slow by itself.
    groups: groupsByCluster((key) => key),
    clock,
    log,
  };
}

function notApplied(status: ClusterResourceSetStatus, error: unknown, now: number): ClusterResourceSetStatus {
  const message = messageOf(error);
  const condition = { type: "ResourcesApplied", status: "False", reason: "NotApplied", message } as const;
  return { ...status, conditions: setCondition(status.conditions, condition, now) };
}

function sources(context: Context): Source[] {
  const { clusters, resourceSets, bindings, remoteClusters } = context;
  const inNamespace = (namespace: string | undefined): ObjectKey[] => resourceSets.list(namespace ?? "").map(keyOf);
  return [
    watchInformer(resourceSets),
    watchInformer(clusters, ({ object, previous }) =>
      previous && labelsOf(previous) === labelsOf(object) ? [] : inNamespace(object.metadata.namespace),
    ),
    watchInformer(bindings, ({ object, type }) => (type === "deleted" ? inNamespace(object.metadata.namespace) : [])),
    (enqueue) =>
      onConnectionChange(remoteClusters, ({ key, signal }) => {
        if (!signal.aborted) inNamespace(key.namespace).forEach(enqueue);
      }),
    (enqueue) => watchContents(context, enqueue),
  ];
}

function labelsOf({ metadata }: { metadata: { labels?: object; deletionTimestamp?: string } }): string {
  return JSON.stringify([metadata.labels, metadata.deletionTimestamp]);
}

/** Follows the ConfigMaps and Secrets of every namespace that has a set, and names the sets that read what changes. */
function watchContents(context: Context, enqueue: (key: ObjectKey) => void): () => void {
  const { resourceSets } = context;
  const stops = new Map<string, () => void>();
  const stopAll = resourceSets.onChange(({ object }) => {
    const namespace = object.metadata.namespace ?? "";
    if (stops.has(namespace)) return;
    const { configMaps, secrets } = contentsOf(context, namespace);
    const readers = (kind: string, name: string): ObjectKey[] =>
      resourceSets
        .list(namespace)
        .filter(({ spec }) => spec.resources.some((one) => one.kind === kind && one.name === name))
        .map(keyOf);
    const stop = [
      configMaps.onChange((change) => readers("ConfigMap", change.object.metadata.name).forEach(enqueue)),
      secrets.onChange((change) => readers("Secret", change.object.metadata.name).forEach(enqueue)),
    ];
    stops.set(namespace, () => stop.forEach((end) => end()));
  });
  return () => {
    stopAll();
    for (const stop of stops.values()) stop();
  };
}
