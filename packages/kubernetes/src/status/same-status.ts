import { isRecord } from "@causeway/foundation";

/** How a status to be written relates to the existing one. */
export interface Comparison {
  /** Every field to be written is as it is to be. */
  readonly same: boolean;
  /** The existing one has more fields: another manager's, or ours from before, which an apply would remove. */
  readonly more: boolean;
}

/**
 * Compares what is to be written with the existing one. Lists of conditions are compared by type, and without
 * lastTransitionTime where the status is the same; other lists position by position.
 */
export function compareStatus(wanted: unknown, standing: unknown): Comparison {
  if (isConditions(wanted) && isConditions(standing)) return compareConditions(wanted, standing);
  if (Array.isArray(wanted) && Array.isArray(standing)) {
    if (wanted.length !== standing.length) return DIFFERENT;
    return all(wanted.map((item, i) => compareStatus(item, standing[i])));
  }
  if (isRecord(wanted) && isRecord(standing)) {
    const names = Object.keys(wanted).filter((name) => wanted[name] !== undefined);
    const inner = all(names.map((name) => compareStatus(wanted[name], standing[name])));
    const hasMore = Object.keys(standing).some((name) => standing[name] !== undefined && wanted[name] === undefined);
    return { same: inner.same, more: inner.more || hasMore };
  }
  return wanted === standing ? SAME : DIFFERENT;
}

/** The status with the transition times that exist already, wherever a condition's status has not moved. */
export function withStandingTimes<S>(wanted: S, standing: unknown): S {
  return retime(wanted, standing) as S;
}

interface ConditionLike {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: unknown;
}

const SAME: Comparison = { same: true, more: false };
const DIFFERENT: Comparison = { same: false, more: false };

function all(comparisons: readonly Comparison[]): Comparison {
  return { same: comparisons.every((each) => each.same), more: comparisons.some((each) => each.more) };
}

function compareConditions(wanted: readonly ConditionLike[], standing: readonly ConditionLike[]): Comparison {
  const inner = all(
    wanted.map((condition) => {
      const found = standing.find((each) => each.type === condition.type);
      if (!found || found.status !== condition.status) return DIFFERENT;
      return compareStatus(timeless(condition), timeless(found));
    }),
  );
  return { same: inner.same, more: inner.more || standing.length > wanted.length };
}

function timeless(condition: ConditionLike): unknown {
  return { ...condition, lastTransitionTime: undefined };
}

function retime(wanted: unknown, standing: unknown): unknown {
  if (isConditions(wanted) && isConditions(standing)) {
    return wanted.map((condition) => {
      const found = standing.find((each) => each.type === condition.type && each.status === condition.status);
      return found?.lastTransitionTime === undefined
        ? condition
        : { ...condition, lastTransitionTime: found.lastTransitionTime };
    });
  }
  if (!isRecord(wanted) || !isRecord(standing)) return wanted;
  return Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, retime(value, standing[name])]));
}

function isConditions(value: unknown): value is ConditionLike[] {
  return Array.isArray(value) && value.length > 0 && value.every(isCondition);
}

function isCondition(value: unknown): boolean {
  if (!isRecord(value) || typeof value["type"] !== "string") return false;
  return value["status"] === "True" || value["status"] === "False" || value["status"] === "Unknown";
}
