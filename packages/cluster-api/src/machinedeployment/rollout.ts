/** One MachineSet as a rollout counts it. */
export interface SetCount {
  readonly name: string;
  /** spec.replicas */
  readonly replicas: number;
  /** Machines that are available and not on their way out. */
  readonly available: number;
  /** Machines that are there, those on their way out not counted. */
  readonly machines: number;
  /** All machines that are there, those on their way out included. */
  readonly present: number;
}

/** The sets of one MachineDeployment: the one of its template, and the others. */
export interface RolloutState {
  readonly desired: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly fresh: SetCount;
  /** Oldest first. */
  readonly old: readonly SetCount[];
}

/** New values of spec.replicas, by name of the set; only those that change. */
export type Replicas = ReadonlyMap<string, number>;

/**
 * One move of a rolling update: the new set grows while there are at most desired + maxSurge machines, old ones on
 * their way out included, so that a drain that is blocked holds the rollout up; old sets shrink while at least desired
 * - maxUnavailable remain available, unavailable ones first, the oldest set first.
 */
export function rollingUpdate(state: RolloutState): Replicas {
  const grown = growFresh(state);
  const out = new Map<string, number>();
  if (grown !== state.fresh.replicas) out.set(state.fresh.name, grown);
  for (const [name, replicas] of shrinkOld(state, grown)) out.set(name, replicas);
  return out;
}

function growFresh({ desired, maxSurge, fresh, old }: RolloutState): number {
  if (fresh.replicas >= desired) return desired;
  const total = old.reduce((n, set) => n + Math.max(set.replicas, set.present), fresh.replicas);
  const room = Math.max(0, desired + maxSurge - total);
  return Math.min(desired, fresh.replicas + room);
}

/**
 * A machine that was just requested counts as unavailable, so removals are bounded by what is left even if the
 * numbers seen are a moment old.
 */
function shrinkOld(state: RolloutState, freshReplicas: number): Replicas {
  const { desired, maxUnavailable, fresh, old } = state;
  const out = new Map<string, number>();
  const floor = Math.max(0, desired - maxUnavailable);
  const freshAvailable = Math.min(fresh.available, freshReplicas);
  let spare = freshAvailable + sum(old, "replicas") - floor;
  let availableSpare = freshAvailable + old.reduce((n, set) => n + serving(set), 0) - floor;
  // First the machines that are not available: their removal costs no availability.
  for (const set of old) {
    const idle = set.replicas - serving(set);
    const cut = Math.max(0, Math.min(idle, spare));
    spare -= cut;
    if (cut > 0) out.set(set.name, set.replicas - cut);
  }
  for (const set of old) {
    const left = out.get(set.name) ?? set.replicas;
    const cut = Math.max(0, Math.min(left, spare, availableSpare));
    spare -= cut;
    availableSpare -= cut;
    if (cut > 0) out.set(set.name, left - cut);
  }
  return out;
}

function serving(set: SetCount): number {
  return Math.min(set.available, set.replicas);
}

/** Old machines go when a person deletes them; the new set takes their places. */
export function onDelete(state: Omit<RolloutState, "maxSurge" | "maxUnavailable">): Replicas {
  const { desired, fresh, old } = state;
  const out = new Map<string, number>();
  let others = 0;
  for (const set of old) {
    const left = Math.min(set.replicas, set.machines);
    others += left;
    if (left !== set.replicas) out.set(set.name, left);
  }
  let surplus = Math.max(0, others - desired);
  for (const set of old) {
    const left = out.get(set.name) ?? set.replicas;
    const cut = Math.min(left, surplus);
    surplus -= cut;
    others -= cut;
    if (cut > 0) out.set(set.name, left - cut);
  }
  const wanted = Math.max(0, desired - others);
  if (wanted !== fresh.replicas) out.set(fresh.name, wanted);
  return out;
}

/** While a rollout is paused, a change of size is distributed in proportion; the remainder goes to the largest sets. */
export function proportional(sets: readonly SetCount[], desired: number): Replicas {
  const total = sum(sets, "replicas");
  if (total === desired || sets.length === 0) return new Map();
  const bySize = sets.toSorted((a, b) => b.replicas - a.replicas || (a.name < b.name ? -1 : 1));
  const shares = bySize.map((set) => ({
    set,
    share: total === 0 ? 0 : Math.floor((set.replicas * desired) / total),
  }));
  let left = desired - shares.reduce((n, { share }) => n + share, 0);
  const out = new Map<string, number>();
  for (const { set, share } of shares) {
    const extra = total === 0 ? left : Math.min(1, left);
    left -= extra;
    if (share + extra !== set.replicas) out.set(set.name, share + extra);
  }
  return out;
}

/** A number or a percentage of `total`. Percentages of surges round up, of absences down (as in Deployments). */
export function resolveCount(
  value: number | string | undefined,
  total: number,
  rounding: "up" | "down",
): number | undefined {
  if (typeof value === "number") return Math.max(0, value);
  const percent = /^(\d+)%$/.exec(value ?? "")?.[1];
  if (percent === undefined) return undefined;
  const exact = (Number(percent) * total) / 100;
  return rounding === "up" ? Math.ceil(exact) : Math.floor(exact);
}

function sum(sets: readonly SetCount[], field: "replicas"): number {
  return sets.reduce((total, set) => total + set[field], 0);
}
