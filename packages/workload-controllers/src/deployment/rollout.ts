import type { Deployment, ReplicaSet } from "@causeway/kubernetes";
import { isTerminal } from "../objects/pods.ts";
import { annotation, countFrom } from "./annotations.ts";
import type { Observed } from "./gather.ts";
import {
  availableOf,
  byCreation,
  compareNames,
  grownSize,
  isRolling,
  maxSurge,
  maxUnavailable,
  sizeOf,
  sum,
  wantedOf,
} from "./replicas.ts";

/** The ReplicaSets of a Deployment: the one of its template, and all others. */
export interface Sets {
  readonly deployment: Deployment;
  readonly next: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

/** New sizes by ReplicaSet. */
export type Sizes = ReadonlyMap<ReplicaSet, number>;

/** The old ReplicaSets and the new one, for counts over the whole Deployment. */
export const allOf = ({ next, old }: Sets): ReplicaSet[] => (next ? [...old, next] : [...old]);
const activeOf = (sets: readonly ReplicaSet[]) => sets.filter((set) => sizeOf(set) > 0);

/** The Deployment was scaled since one of its ReplicaSets was. */
export function isScaling(sets: Sets): boolean {
  const wanted = wantedOf(sets.deployment);
  return activeOf(allOf(sets)).some((set) => (countFrom(set, "desired") ?? wanted) !== wanted);
}

/** Sizes after scaling, without moving the rollout. */
export function scale(sets: Sets): Sizes {
  const { deployment, next, old } = sets;
  const wanted = wantedOf(deployment);
  const active = activeOf(allOf(sets));
  if (active.length <= 1) {
    const single = active[0] ?? next ?? old.toSorted(byCreation).at(-1);
    return new Map(single ? [[single, wanted]] : []);
  }
  if (next && isSaturated(deployment, next)) return new Map(activeOf(old).map((set) => [set, 0]));
  return isRolling(deployment) ? proportional(deployment, active) : new Map();
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const wanted = wantedOf(deployment);
  return (
    sizeOf(set) === wanted &&
    set.metadata.annotations?.[annotation.desired] === String(wanted) &&
    availableOf(set) === wanted
  );
}

/**
 * Each ReplicaSet takes a share of the change by its size, the largest first; that one also takes what rounding leaves.
 */
function proportional(deployment: Deployment, active: readonly ReplicaSet[]): Sizes {
  const wanted = wantedOf(deployment);
  const allowed = wanted > 0 ? wanted + maxSurge(deployment) : 0;
  const toAdd = allowed - sum(active, sizeOf);
  if (toAdd === 0) return new Map(active.map((set) => [set, sizeOf(set)]));
  const age = toAdd > 0 ? -1 : 1;
  const sorted = active.toSorted((a, b) => sizeOf(b) - sizeOf(a) || age * byCreation(a, b) || compareNames(a, b));
  const sizes = new Map<ReplicaSet, number>();
  let added = 0;
  for (const set of sorted) {
    const share = shareOf(deployment, set, { allowed, toAdd, added });
    sizes.set(set, sizeOf(set) + share);
    added += share;
  }
  const [largest] = sorted;
  if (largest) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + toAdd - added));
  return sizes;
}

function shareOf(
  deployment: Deployment,
  set: ReplicaSet,
  { allowed, toAdd, added }: { allowed: number; toAdd: number; added: number },
): number {
  const left = toAdd - added;
  if (sizeOf(set) === 0 || left === 0) return 0;
  const fraction = fractionOf(deployment, set, allowed);
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

function fractionOf(deployment: Deployment, set: ReplicaSet, allowed: number): number {
  if (wantedOf(deployment) === 0) return -sizeOf(set);
  const before = countFrom(set, "max") || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((sizeOf(set) * allowed) / before) - sizeOf(set);
}

/** The next sizes of a rolling update. Scaling up comes first, scaling down in a later round. */
export function roll(sets: Sets & { readonly next: ReplicaSet }): Sizes {
  const { deployment, next, old } = sets;
  const wanted = wantedOf(deployment);
  const size = sizeOf(next);
  const grown = size > wanted ? wanted : size === wanted ? size : grownSize(deployment, allOf(sets), size);
  if (grown !== size) return new Map([[next, grown]]);
  return shrink(sets, activeOf(old).toSorted(byCreation));
}

function shrink(sets: Sets & { readonly next: ReplicaSet }, old: readonly ReplicaSet[]): Sizes {
  const { deployment, next } = sets;
  const minAvailable = wantedOf(deployment) - maxUnavailable(deployment);
  const unavailable = sizeOf(next) - availableOf(next);
  const sizes = new Map<ReplicaSet, number>();
  let toClean = sum(allOf(sets), sizeOf) - minAvailable - unavailable;
  if (toClean <= 0) return sizes;
  // Pods that are not available go first: they serve nothing.
  for (const set of old) {
    const unhealthy = Math.min(toClean, sizeOf(set) - availableOf(set));
    if (unhealthy <= 0) continue;
    sizes.set(set, sizeOf(set) - unhealthy);
    toClean -= unhealthy;
  }
  let toShrink = sum([...old, next], availableOf) - minAvailable;
  for (const set of old) {
    const size = sizes.get(set) ?? sizeOf(set);
    const fewer = Math.min(toShrink, size);
    if (fewer <= 0) continue;
    sizes.set(set, size - fewer);
    toShrink -= fewer;
  }
  return sizes;
}

/** True while a pod of an old ReplicaSet may run: Recreate creates no new one before. */
export function oldPodsRun({ pods }: Observed, { next, old }: Sets): boolean {
  if (sum(old, (set) => set.status?.replicas ?? 0) > 0) return true;
  return [...pods].some(([uid, of]) => uid !== next?.metadata.uid && of.some((pod) => !isTerminal(pod)));
}

/** Sizes that empty the old ReplicaSets. */
export function zeroSizes(sets: readonly ReplicaSet[]): Sizes {
  return new Map(activeOf(sets).map((set) => [set, 0]));
}
