import type { Deployment, ReplicaSet } from "@causeway/kubernetes";
import { scaled } from "../objects/int-or-percent.ts";

/** The numbers of a rollout (k8s.io/kubernetes pkg/controller/deployment/util). */

/** Wanted pods of a Deployment; the API's default is 1. */
export const wantedOf = ({ spec }: Deployment): number => spec.replicas ?? 1;
/** Wanted pods of a ReplicaSet; the API's default is 1. */
export const sizeOf = ({ spec }: ReplicaSet): number => spec.replicas ?? 1;
/** RollingUpdate is the API's default. */
export const isRolling = ({ spec }: Deployment): boolean => spec.strategy?.type !== "Recreate";
/** As the ReplicaSet's own status says, which may be late. */
export const availableOf = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0;

/** A count over several ReplicaSets, such as `sum(sets, sizeOf)`. */
export function sum(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number): number {
  return sets.reduce((total, set) => total + count(set), 0);
}

/** Pods beyond the wanted ones during a rollout, percentages resolved; 0 for Recreate. */
export function maxSurge(deployment: Deployment): number {
  return isRolling(deployment) ? limitsOf(deployment).surge : 0;
}

/** Wanted pods that may be unavailable during a rollout, percentages resolved; 0 for Recreate. */
export function maxUnavailable(deployment: Deployment): number {
  const wanted = wantedOf(deployment);
  if (!isRolling(deployment) || wanted === 0) return 0;
  return Math.min(wanted, limitsOf(deployment).unavailable);
}

/**
 * Surge is rounded up and unavailability down; where both are 0, one pod may be unavailable, so that a rollout can
 * move.
 */
function limitsOf(deployment: Deployment): { surge: number; unavailable: number } {
  const limits = deployment.spec.strategy?.rollingUpdate;
  const surge = scaled(limits?.maxSurge ?? 0, wantedOf(deployment), "up");
  const unavailable = scaled(limits?.maxUnavailable ?? 0, wantedOf(deployment), "down");
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** The size of the new ReplicaSet once it has grown as far as `maxSurge` allows. */
export function grownSize(deployment: Deployment, all: readonly ReplicaSet[], size: number): number {
  const wanted = wantedOf(deployment);
  if (!isRolling(deployment)) return wanted;
  const room = wanted + maxSurge(deployment) - sum(all, sizeOf);
  return room <= 0 ? size : size + Math.min(room, wanted - size);
}

/** Older first; names decide where the times are the same. */
export function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  const one = a.metadata.creationTimestamp ?? "";
  const other = b.metadata.creationTimestamp ?? "";
  return one === other ? compareNames(a, b) : one < other ? -1 : 1;
}

/** Alphabetical order: where size and age of two ReplicaSets are the same. */
export function compareNames(a: ReplicaSet, b: ReplicaSet): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
