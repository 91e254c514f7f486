import {
  ownerReference,
  type DeploymentStatus,
  type LabelSelector,
  type Plan,
  type ReplicaSet,
} from "@causeway/kubernetes";
import { claim, targetOf } from "../objects/claim.ts";
import { equalTemplates, templateHash, templateHashLabel } from "../objects/pod-template.ts";
import { annotation, maxRevision, missing, newSetAnnotations, byRevision, sizeAnnotations } from "./annotations.ts";
import type { Observed } from "./gather.ts";
import { byCreation, grownSize, sizeOf } from "./replicas.ts";
import { zeroSizes, isScaling, oldPodsRun, roll, scale, type Sets, type Sizes } from "./rollout.ts";
import { deadlineOf, isComplete, statusOf, type Depth } from "./status.ts";
import type { Step } from "./steps.ts";

/** What the controller writes to the Deployment: its status, and an annotation. */
export interface PublishedStatus {
  readonly status: DeploymentStatus;
  /** The revision that the Deployment is annotated with. */
  readonly revision?: string;
}

/** One step of a rollout: what kube-controller-manager's Deployment controller does in one sync. */
export function plan(observed: Observed, now: number): Plan<Step, PublishedStatus> {
  const { deployment } = observed;
  const { owned, steps: claims } = claim(deployment, deployment.spec.selector, [...observed.sets, ...observed.orphans]);
  const sets = divided(observed, owned);
  if (claims.length > 0) return { steps: claims, status: published(sets, "scale", now) };
  if (deployment.metadata.deletionTimestamp !== undefined) return { steps: [], status: published(sets, "scale", now) };
  const recorded = recordRevision(sets);
  if (recorded.length > 0) return { steps: recorded, status: published(sets, "scale", now) };
  if (deployment.spec.paused || isScaling(sets)) return scaling(sets, now);
  const steps = rollOut(observed, sets);
  const status = published(sets, "rollout", now);
  const until = deadlineOf(deployment, status.status);
  // A second later, as upstream: the deadline has passed for sure.
  return {
    steps,
    status,
    ...(until === undefined ? {} : { wait: { for: "the progress deadline", until: until + 1_000 } }),
  };
}

/** The new ReplicaSet is the oldest that has the Deployment's template. */
function divided({ deployment }: Observed, owned: readonly ReplicaSet[]): Sets {
  const sorted = owned.toSorted(byCreation);
  const next = sorted.find((set) => equalTemplates(set.spec.template, deployment.spec.template));
  return { deployment, next, old: sorted.filter((set) => set !== next) };
}

function published(sets: Sets, depth: Depth, now: number): PublishedStatus {
  const revision = sets.next?.metadata.annotations?.[annotation.revision];
  return { status: statusOf(sets, depth, now), ...(revision === undefined ? {} : { revision }) };
}

/** The new ReplicaSet has the highest revision, the Deployment's annotations and its minReadySeconds. */
function recordRevision({ deployment, next, old }: Sets): Step[] {
  if (!next) return [];
  const { annotations: held } = next.metadata;
  const annotations = missing(next, newSetAnnotations(deployment, held, maxRevision(old) + 1n));
  const { minReadySeconds = 0 } = deployment.spec;
  const isReadyLater = (next.spec.minReadySeconds ?? 0) !== minReadySeconds;
  if (Object.keys(annotations).length === 0 && !isReadyLater) return [];
  return [change(next, { annotations, ...(isReadyLater ? { minReadySeconds } : {}) })];
}

function scaling(sets: Sets, now: number): Plan<Step, PublishedStatus> {
  const steps = resized(sets, scale(sets), "always");
  const cleanup = steps.length === 0 && sets.deployment.spec.paused ? outdated(sets) : [];
  return { steps: [...steps, ...cleanup], status: published(sets, "scale", now) };
}

function rollOut(observed: Observed, sets: Sets): Step[] {
  const { deployment, next, old } = sets;
  if (deployment.spec.strategy?.type === "Recreate") {
    const steps = resized(sets, zeroSizes(old), "resized");
    if (steps.length > 0 || oldPodsRun(observed, sets)) return steps;
  }
  if (!next) return [{ type: "create-replica-set", set: newSet(sets) }];
  const steps = resized(sets, roll({ ...sets, next }), "resized");
  if (steps.length > 0) return steps;
  return isComplete(deployment, deployment.status) ? outdated(sets) : [];
}

/**
 * "always": also where only the annotations of the size differ. What shrinks comes first: what grows is refused while
 * the others leave no room for it.
 */
function resized({ deployment }: Sets, sizes: Sizes, when: "always" | "resized"): Step[] {
  const growth = ([set, to]: readonly [ReplicaSet, number]): number => to - sizeOf(set);
  return [...sizes]
    .toSorted((a, b) => Number(growth(a) > 0) - Number(growth(b) > 0))
    .flatMap(([set, to]) => {
      const from = sizeOf(set);
      const annotations = missing(set, sizeAnnotations(deployment));
      if (from !== to) return [change(set, { annotations, scale: { from, to } })];
      return when === "always" && Object.keys(annotations).length > 0 ? [change(set, { annotations })] : [];
    });
}

function change(
  set: ReplicaSet,
  what: {
    annotations: Readonly<Record<string, string>>;
    minReadySeconds?: number;
    scale?: { from: number; to: number };
  },
): Step {
  return {
    type: "change-replica-set",
    target: targetOf(set),
    resourceVersion: set.metadata.resourceVersion,
    ...what,
  };
}

/** Old ReplicaSets beyond the history limit, the lowest revisions first, of one revision the oldest. */
function outdated({ deployment, old }: Sets): Step[] {
  const { revisionHistoryLimit: limit = Number.POSITIVE_INFINITY } = deployment.spec;
  const kept = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return kept
    .toSorted(byRevision)
    .slice(0, Math.max(0, kept.length - limit))
    .filter(isEmpty)
    .map((set) => ({ type: "delete-replica-set", target: targetOf(set) }));
}

function isEmpty(set: ReplicaSet): boolean {
  const isObserved = (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0);
  return isObserved && sizeOf(set) === 0 && (set.status?.replicas ?? 0) === 0;
}

function newSet({ deployment, old }: Sets): ReplicaSet {
  const { spec, status, metadata } = deployment;
  const hash = templateHash(spec.template, status?.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [templateHashLabel]: hash };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: nameOf(metadata.name, hash),
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels,
      annotations: {
        ...newSetAnnotations(deployment, undefined, maxRevision(old) + 1n),
        ...sizeAnnotations(deployment),
      },
      ownerReferences: [ownerReference(deployment, { controller: true })],
    },
    spec: {
      replicas: grownSize(deployment, old, 0),
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: withHash(spec.selector, hash),
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
}

/** Cut so that the name has 253 characters at most. */
function nameOf(base: string, hash: string): string {
  return `${base.slice(0, 253 - hash.length - 1)}-${hash}`;
}

function withHash(selector: LabelSelector, hash: string): LabelSelector {
  return { ...selector, matchLabels: { ...selector.matchLabels, [templateHashLabel]: hash } };
}
