import {
  annotations,
  ClusterResourceSet,
  finalizers,
  resourceSetSecretType,
  type ClusterResourceSetStatus,
} from "@causeway/api";
import {
  ConfigMap,
  ownerReference,
  Secret,
  type Plan,
  type PlannedEvent,
  type WantedCondition,
} from "@causeway/kubernetes";
import { listing, notPaused, settleConditions } from "../objects/conditions.ts";
import { finalizerRemoval, metadataPatch } from "../objects/metadata.ts";
import { pausedPlan } from "../objects/paused.ts";
import { patchStep } from "../objects/steps.ts";
import { recordOf } from "./binding.ts";
import type { ObservedResource, Observed, ObservedTarget } from "./observed.ts";
import type { Application, ResourceSetStep } from "./steps.ts";

/** Steps apply resources and record that in the binding of each Cluster. */
export type ResourceSetPlan = Plan<ResourceSetStep, ClusterResourceSetStatus>;

/**
 * What to do for a ClusterResourceSet: each matching Cluster that can be reached gets each resource. Nothing is deleted
 * from a Cluster.
 */
export function plan(observed: Observed, now: number): ResourceSetPlan {
  const { set, stale } = observed;
  const paused = pausedPlan(set, undefined, now);
  if (paused) return paused;
  const steps: readonly ResourceSetStep[] = set.metadata.deletionTimestamp ? removal(observed) : upkeep(observed);
  const { generation } = set.metadata;
  const conditions = [resourcesApplied(observed), notPaused];
  return {
    steps: [
      ...(set.metadata.deletionTimestamp ? [] : stale.map((binding) => ({ type: "unbind", binding }) as const)),
      ...steps,
    ],
    status: {
      conditions: settleConditions(conditions, { previous: set.status?.conditions, generation, now }),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    },
    wait: { for: "Clusters and resources to change" },
  };
}

function removal({ set, targets, stale }: Observed): ResourceSetStep[] {
  const bound = [...stale, ...targets.flatMap(({ binding }) => (binding ? [binding] : []))];
  const left = bound.filter(({ spec }) =>
    spec.bindings?.some(({ clusterResourceSetName }) => clusterResourceSetName === set.metadata.name),
  );
  if (left.length > 0) return left.map((binding) => ({ type: "unbind", binding }));
  return patchStep(ClusterResourceSet, set, finalizerRemoval(set, finalizers.clusterResourceSet));
}

function upkeep(observed: Observed): ResourceSetStep[] {
  const { set, resources, targets } = observed;
  const owned = resources.flatMap(({ kind, object }) =>
    object
      ? patchStep(kind === "Secret" ? Secret : ConfigMap, object, metadataPatch(object, { owner: ownerReference(set) }))
      : [],
  );
  const applications = targets.flatMap((target) => applicationOf(observed, target));
  return [
    ...patchStep(ClusterResourceSet, set, metadataPatch(set, { finalizer: finalizers.clusterResourceSet })),
    ...owned,
    ...(applications.length > 0 ? [{ type: "apply", applications } as const] : []),
  ];
}

function applicationOf({ set, resources }: Observed, target: ObservedTarget): Application[] {
  const { cluster, binding, reachable } = target;
  if (!reachable || cluster.metadata.annotations?.[annotations.paused] !== undefined) return [];
  const due = resources.filter((resource) => isUsable(resource) && isDue(set, resource, binding));
  return due.length > 0 ? [{ cluster, resources: due }] : [];
}

function isUsable({ kind, object }: ObservedResource): boolean {
  return object !== undefined && (kind === "ConfigMap" || typeOf(object) === resourceSetSecretType);
}

function typeOf(object: object): string | undefined {
  return "type" in object && typeof object.type === "string" ? object.type : undefined;
}

/** ApplyOnce: until it was applied once. Reconcile: whenever its content is not what was applied last. */
function isDue(set: ClusterResourceSet, resource: ObservedResource, binding: ObservedTarget["binding"]): boolean {
  const record = recordOf(binding, set.metadata.name, resource);
  if (record?.applied !== true) return true;
  return set.spec.strategy === "Reconcile" && record.hash !== resource.hash;
}

/** ResourcesApplied, with upstream's reasons. */
function resourcesApplied({ set, resources, targets }: Observed): WantedCondition {
  const type = "ResourcesApplied";
  const foreign = resources.filter((resource) => resource.object && !isUsable(resource));
  if (foreign.length > 0) {
    const names = foreign.map(({ name }) => name).join(", ");
    const message = `Secrets must have type ${resourceSetSecretType}: ${names}`;
    return { type, status: "False", reason: "WrongSecretType", message };
  }
  const absent = resources.filter(({ object }) => !object).map(({ kind, name }) => `${kind} ${name} does not exist`);
  const waiting = targets.flatMap((target) => {
    const due = resources.filter((resource) => isUsable(resource) && isDue(set, resource, target.binding));
    if (due.length === 0) return [];
    const why = target.reachable ? `${due.length} resources are not applied` : "waits for the workload cluster";
    return [`Cluster ${target.cluster.metadata.name}: ${why}`];
  });
  const lacking = [...absent, ...waiting];
  if (lacking.length === 0) return { type, status: "True", reason: "Applied" };
  return { type, status: "False", reason: "NotApplied", message: listing(lacking) };
}

/** The events of a step that was performed. */
export function resourceSetStepEvents(step: ResourceSetStep): PlannedEvent[] {
  if (step.type !== "apply") return [];
  return step.applications.map(({ cluster, resources }) => ({
    type: "Normal",
    reason: "ResourcesApplied",
    message: `Applied ${resources.map(({ kind, name }) => `${kind} ${name}`).join(", ")} to Cluster ${cluster.metadata.name}`,
  }));
}
