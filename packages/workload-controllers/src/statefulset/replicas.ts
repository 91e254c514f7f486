import type { PlannedEvent, Pod, StatefulSet } from "@causeway/kubernetes";
import { targetOf } from "../objects/claim.ts";
import { isAvailable, isTerminal } from "../objects/pods.ts";
import { hasLabels } from "../objects/selector.ts";
import type { Observed } from "./gather.ts";
import { claimNames, claimsFor, firstOrdinal, identityLabels, isKept, ordinalOf, podOf } from "./identity.ts";
import { isStale, wantedOwners } from "./retention.ts";
import { isHealthy, isRunningAndReady, isTerminating } from "./status.ts";
import type { Step } from "./steps.ts";
import { versionOf, type Revisions } from "./versions.ts";

/** Pods created in one round, at most. */
const BURST = 500;
/** Steps of one round, about: a set may have thousands of claims for each pod. */
const STEPS = 1_000;

/** What the parts of the plan have in common. */
export interface Facts {
  readonly observed: Observed;
  /** Pods that belong to the set. */
  readonly pods: readonly Pod[];
  readonly revisions: Revisions;
  readonly now: number;
}

interface Work {
  readonly steps: readonly Step[];
  readonly events: readonly PlannedEvent[];
  /** Something must happen before pods are scaled away or updated. */
  readonly blocked: boolean;
}

/** What keeps the plan from the pods that follow. */
type Outcome = Work & { readonly ends: boolean };

const nothing: Outcome = { steps: [], events: [], blocked: false, ends: false };
const waiting: Outcome = { ...nothing, blocked: true, ends: true };

/**
 * Creates, replaces and completes the pods that are kept, in the order of their ordinals, then deletes the others, the
 * highest first.
 */
export function replicasWork(facts: Facts): Work {
  const { set } = facts.observed;
  const byOrdinal = new Map(facts.pods.map((pod) => [ordinalOf(set, pod) ?? -1, pod]));
  const kept = keptWork(facts, byOrdinal);
  if (kept.steps.length > 0 || (kept.blocked && isMonotonic(set))) return kept;
  const condemned = [...byOrdinal]
    .filter(([ordinal]) => !isKept(set, ordinal))
    .toSorted(([a], [b]) => b - a)
    .map(([ordinal, pod]) => ({ ordinal, pod }));
  return merge(kept, condemnedWork(facts, condemned));
}

/** One pod after the other (`OrderedReady`, the default), each once the one before is healthy. */
export function isMonotonic({ spec }: StatefulSet): boolean {
  return spec.podManagementPolicy !== "Parallel";
}

function keptWork(facts: Facts, byOrdinal: ReadonlyMap<number, Pod>): Outcome {
  const { set } = facts.observed;
  const first = firstOrdinal(set);
  const end = first + (set.spec.replicas ?? 1);
  let all = nothing;
  for (let ordinal = first, created = 0; ordinal < end && created < BURST && all.steps.length < STEPS; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    const outcome = pod ? presentWork(facts, pod, ordinal) : missingWork(facts, ordinal);
    if (!pod) created++;
    all = merge(all, outcome);
    if (outcome.ends && isMonotonic(set)) return all;
  }
  return { ...all, ends: false };
}

/** The claims come first; one that is about to be deleted is waited for. */
function missingWork({ observed, revisions }: Facts, ordinal: number): Outcome {
  const { set, claims } = observed;
  const pod = podOf(set, ordinal, versionOf(set, revisions, ordinal));
  const { name } = pod.metadata;
  const found = claimNames(set, ordinal).flatMap((each) => claims.get(each) ?? []);
  if (found.some((each) => isStale(each, name, undefined))) return waiting;
  const leaving = found.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (leaving) {
    const why = `pvc ${leaving.metadata.name} is being deleted`;
    const message = `create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${why}`;
    return { ...waiting, events: [{ type: "Warning", reason: "FailedCreate", message }] };
  }
  const steps: Step[] = [...missingClaims(observed, ordinal, name), { type: "create-pod", pod }];
  return { steps, events: [], blocked: true, ends: true };
}

function presentWork({ observed, now }: Facts, pod: Pod, ordinal: number): Outcome {
  const { set } = observed;
  if (isTerminal(pod)) return isTerminating(pod) ? waiting : recreated(set, pod);
  const completed = pod.status?.phase === "Pending" ? missingClaims(observed, ordinal, pod.metadata.name) : [];
  const isDone = !isTerminating(pod) && isRunningAndReady(pod) && isAvailable(pod, set.spec.minReadySeconds, now);
  const owned = ownedClaims(observed, { pod, ordinal });
  // In order, the pods that follow wait for this one.
  if (!isDone && isMonotonic(set)) {
    return { steps: [...completed, ...owned], events: [], blocked: true, ends: true };
  }
  const labels = identityLabels(set, ordinal);
  const relabelled: Step[] = hasLabels(pod.metadata.labels, labels)
    ? []
    : [{ type: "label-pod", target: targetOf(pod), labels }];
  return { ...nothing, steps: [...completed, ...relabelled, ...owned] };
}

function recreated(set: StatefulSet, pod: Pod): Outcome {
  const isFailed = pod.status?.phase === "Failed";
  const { namespace, name } = set.metadata;
  const message = `StatefulSet ${namespace}/${name} is recreating ${isFailed ? "failed" : "terminated"} Pod ${pod.metadata.name}`;
  const event: PlannedEvent = isFailed
    ? { type: "Warning", reason: "RecreatingFailedPod", message }
    : { type: "Normal", reason: "RecreatingTerminatedPod", message };
  return { steps: [{ type: "delete-pod", target: targetOf(pod) }], events: [event], blocked: true, ends: true };
}

function condemnedWork(
  { observed, now }: Facts,
  condemned: readonly { readonly pod: Pod; readonly ordinal: number }[],
): Outcome {
  const { set } = observed;
  const owned = condemned.flatMap((each) => ownedClaims(observed, each));
  if (owned.length > 0) return { ...nothing, steps: owned };
  // Every pod that is kept is healthy by now, if the order matters.
  const firstUnhealthy = condemned.findLast(({ pod }) => !isHealthy(pod));
  let all = nothing;
  for (const each of condemned) {
    const { pod } = each;
    const monotonic = isMonotonic(set);
    const isDone = isRunningAndReady(pod) && isAvailable(pod, set.spec.minReadySeconds, now);
    if (monotonic && (isTerminating(pod) || (!isDone && each !== firstUnhealthy))) return merge(all, waiting);
    if (isTerminating(pod)) continue;
    all = merge(all, { ...nothing, steps: [{ type: "delete-pod", target: targetOf(pod) }] });
    if (monotonic) return all;
  }
  return all;
}

function missingClaims({ set, claims }: Observed, ordinal: number, pod: string): Step[] {
  return claimsFor(set, ordinal)
    .filter(({ metadata }) => !claims.get(metadata.name))
    .map((claim) => ({ type: "create-claim", pod, claim }));
}

function ownedClaims({ set, claims }: Observed, of: { readonly pod: Pod; readonly ordinal: number }): Step[] {
  return claimNames(set, of.ordinal).flatMap((name): Step[] => {
    const claim = claims.get(name);
    const ownerReferences = claim && wantedOwners(set, of, claim);
    if (!claim || !ownerReferences) return [];
    const { resourceVersion } = claim.metadata;
    return [{ type: "own-claim", target: targetOf(claim), resourceVersion, ownerReferences }];
  });
}

function merge(a: Outcome, b: Outcome): Outcome {
  return {
    steps: [...a.steps, ...b.steps],
    events: [...a.events, ...b.events],
    blocked: a.blocked || b.blocked,
    ends: a.ends || b.ends,
  };
}
