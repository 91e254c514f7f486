import {
  timestamp,
  type Deployment,
  type DeploymentStatus,
  type ReplicaSet,
  type WorkloadCondition,
} from "@causeway/kubernetes";
import { annotation, revisionOf } from "./annotations.ts";
import { availableOf, maxUnavailable, sizeOf, sum, wantedOf } from "./replicas.ts";
import { allOf, type Sets } from "./rollout.ts";

/** Seconds that mean "no deadline". */
const NONE = 2 ** 31 - 1;

// Reasons of Progressing that clients of Kubernetes read.
const DEADLINE_EXCEEDED = "ProgressDeadlineExceeded";
const AVAILABLE = "NewReplicaSetAvailable";
const PAUSED = "DeploymentPaused";

type Conditions = readonly WorkloadCondition[];
type NewCondition = Pick<WorkloadCondition, "type" | "status" | "reason" | "message">;

/** How far the plan went: the rollout was judged, or only its size and availability. */
export type Depth = "rollout" | "scale";

/** Counts and conditions; progress, its deadline and failures to create pods are judged at depth "rollout" only. */
export function statusOf(sets: Sets, depth: Depth, now: number): DeploymentStatus {
  const { deployment, next } = sets;
  const counts = countsOf(sets);
  const wanted = wantedOf(deployment);
  const isAvailable = (counts.availableReplicas ?? 0) >= wanted - maxUnavailable(deployment);
  let conditions: Conditions = pausedConditions(deployment, now);
  if (!deployment.spec.paused) conditions = newSetConditions(sets, conditions, now);
  const seen = conditions;
  conditions = set(
    conditions,
    {
      type: "Available",
      status: isAvailable ? "True" : "False",
      reason: isAvailable ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
      message: `Deployment ${isAvailable ? "has" : "does not have"} minimum availability.`,
    },
    now,
  );
  if (depth === "rollout") conditions = progressed(sets, { counts, seen, conditions, now });
  if (depth === "rollout") conditions = withFailure(conditions, allOf(sets), next);
  return { ...counts, ...(conditions.length > 0 ? { conditions: [...conditions] } : {}) };
}

function countsOf(sets: Sets): DeploymentStatus {
  const { deployment, next } = sets;
  const all = allOf(sets);
  const available = sum(all, availableOf);
  const collisions = deployment.status?.collisionCount;
  const generation = deployment.metadata.generation;
  const counts = {
    replicas: sum(all, (each) => each.status?.replicas ?? 0),
    updatedReplicas: next?.status?.replicas ?? 0,
    readyReplicas: sum(all, (each) => each.status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(all, sizeOf) - available),
  };
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(collisions === undefined ? {} : { collisionCount: collisions }),
  };
}

/** The largest int32 as `progressDeadlineSeconds` means none, as upstream. */
export function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NONE;
}

/** A rollout is complete when all pods are of its template and available. */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const wanted = wantedOf(deployment);
  return (
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

/** When the deadline of a rollout that moves no more has passed; undefined: nothing is to be waited for. */
export function deadlineOf(deployment: Deployment, status: DeploymentStatus): number | undefined {
  const progressing = find(status.conditions, "Progressing");
  if (!hasDeadline(deployment) || !progressing?.lastUpdateTime || isComplete(deployment, status)) return undefined;
  if (progressing.reason === DEADLINE_EXCEEDED || progressing.reason === AVAILABLE) return undefined;
  return Date.parse(progressing.lastUpdateTime) + (deployment.spec.progressDeadlineSeconds ?? 0) * 1_000;
}

function pausedConditions(deployment: Deployment, now: number): Conditions {
  const conditions = deployment.status?.conditions ?? [];
  if (!hasDeadline(deployment)) return conditions;
  const reason = find(conditions, "Progressing")?.reason;
  if (reason === DEADLINE_EXCEEDED) return conditions;
  const { paused = false } = deployment.spec;
  if (paused === (reason === PAUSED)) return conditions;
  return set(
    conditions,
    {
      type: "Progressing",
      status: "Unknown",
      reason: paused ? PAUSED : "DeploymentResumed",
      message: paused ? "Deployment is paused" : "Deployment is resumed",
    },
    now,
  );
}

/** What is reported of a new ReplicaSet the first time that it is seen. */
function newSetConditions({ deployment, next }: Sets, conditions: Conditions, now: number): Conditions {
  if (!next || !hasDeadline(deployment)) return conditions;
  const { name } = next.metadata;
  const isCreated =
    revisionOf(deployment) !== revisionOf(next) && next.metadata.annotations?.[annotation.history] === undefined;
  const isTrue = { type: "Progressing", status: "True" } as const;
  if (isCreated) {
    const message = `Created new replica set "${name}"`;
    return set(conditions, { ...isTrue, reason: "NewReplicaSetCreated", message }, now);
  }
  if (find(conditions, "Progressing")) return conditions;
  return set(conditions, { ...isTrue, reason: "FoundNewReplicaSet", message: `Found new replica set "${name}"` }, now);
}

interface Judgement {
  readonly counts: DeploymentStatus;
  /** The conditions on which the progress is judged. */
  readonly seen: Conditions;
  readonly conditions: Conditions;
  readonly now: number;
}

function progressed({ deployment, next }: Sets, { counts, seen, conditions, now }: Judgement): Conditions {
  if (!hasDeadline(deployment)) return conditions.filter(({ type }) => type !== "Progressing");
  const current = find(seen, "Progressing");
  const isDone = (counts.replicas ?? 0) === (counts.updatedReplicas ?? 0) && current?.reason === AVAILABLE;
  if (isDone) return conditions;
  const subject = next ? `ReplicaSet "${next.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const type = "Progressing";
  if (isComplete(deployment, counts)) {
    const message = `${subject} has successfully progressed.`;
    return set(conditions, { type, status: "True", reason: AVAILABLE, message }, now);
  }
  if (hasMoved(deployment.status ?? {}, counts)) {
    const at = timestamp(now);
    const since = current?.status === "True" ? current.lastTransitionTime : undefined;
    const moved: WorkloadCondition = {
      type,
      status: "True",
      reason: "ReplicaSetUpdated",
      message: `${subject} is progressing.`,
      lastUpdateTime: at,
      lastTransitionTime: since ?? at,
    };
    return [...conditions.filter((each) => each.type !== type), moved];
  }
  if (!isTimedOut(deployment, current, now)) return conditions;
  const message = `${subject} has timed out progressing.`;
  return set(conditions, { type, status: "False", reason: DEADLINE_EXCEEDED, message }, now);
}

function hasMoved(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  const rose = (name: "updatedReplicas" | "readyReplicas" | "availableReplicas") =>
    (after[name] ?? 0) > (before[name] ?? 0);
  return old(after) < old(before) || rose("updatedReplicas") || rose("readyReplicas") || rose("availableReplicas");
}

function isTimedOut(deployment: Deployment, current: WorkloadCondition | undefined, now: number): boolean {
  if (!current || current.reason === AVAILABLE) return false;
  if (current.reason === DEADLINE_EXCEEDED) return true;
  const from = Date.parse(current.lastUpdateTime ?? "");
  return from + (deployment.spec.progressDeadlineSeconds ?? 0) * 1_000 < now;
}

function withFailure(conditions: Conditions, all: readonly ReplicaSet[], next: ReplicaSet | undefined): Conditions {
  const failure = [...(next ? [next] : []), ...all]
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type }) => type === "ReplicaFailure");
  const type = "ReplicaFailure";
  if (!failure) return conditions.filter((each) => each.type !== type);
  const standing = find(conditions, type);
  if (standing?.status === failure.status && standing.reason === failure.reason) return conditions;
  const { lastTransitionTime, ...rest } = failure;
  const times = lastTransitionTime === undefined ? {} : { lastTransitionTime, lastUpdateTime: lastTransitionTime };
  return [...conditions.filter((each) => each.type !== type), { ...rest, ...times }];
}

/** The status when the new ReplicaSet could not be created. */
export function creationFailed(deployment: Deployment, status: DeploymentStatus, message: string, now: number) {
  if (!hasDeadline(deployment)) return status;
  const condition = { type: "Progressing", status: "False", reason: "ReplicaSetCreateError", message } as const;
  return { ...status, conditions: [...set(status.conditions ?? [], condition, now)] };
}

function find(conditions: Conditions | undefined, type: string): WorkloadCondition | undefined {
  return conditions?.find((each) => each.type === type);
}

/** As upstream: a condition with the same status and reason keeps its message and times. */
function set(conditions: Conditions, wanted: NewCondition, now: number): Conditions {
  const standing = find(conditions, wanted.type);
  if (standing?.status === wanted.status && standing.reason === wanted.reason) return conditions;
  const at = timestamp(now);
  const since = standing?.status === wanted.status ? standing.lastTransitionTime : undefined;
  const condition = { ...wanted, lastUpdateTime: at, lastTransitionTime: since ?? at };
  return [...conditions.filter(({ type }) => type !== wanted.type), condition];
}
