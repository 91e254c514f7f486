import type { Condition } from "../types/meta.ts";

/** A condition before it is in a list: its transition time follows from what was there. */
export type NewCondition = Omit<Condition, "lastTransitionTime">;

/**
 * The list with this condition set; the list given is not changed. The transition time moves only when `status`
 * does (API conventions, "Typical status properties"). A condition keeps its place; a new one comes last.
 * `now`: milliseconds since the epoch.
 */
export function setCondition(
  list: readonly Condition[] | undefined,
  condition: NewCondition,
  now: number,
): Condition[] {
  const conditions = list ?? [];
  const at = conditions.findIndex((each) => each.type === condition.type);
  const previous = conditions[at];
  const unmoved = previous?.status === condition.status && previous.lastTransitionTime !== undefined;
  const next: Condition = {
    type: condition.type,
    status: condition.status,
    reason: condition.reason,
    ...(condition.message === undefined ? {} : { message: condition.message }),
    lastTransitionTime: unmoved ? previous.lastTransitionTime : timestamp(now),
    ...(condition.observedGeneration === undefined ? {} : { observedGeneration: condition.observedGeneration }),
  };
  return at === -1 ? [...conditions, next] : conditions.with(at, next);
}

/** A condition as a planner says it: its time and generation follow from where it is set. */
export type WantedCondition<Type extends string = string> = Pick<Condition, "status" | "reason"> & {
  readonly type: Type;
  readonly message?: string;
};

/** The time, and the generation, that conditions are of. */
export interface ConditionMoment {
  /** The object's generation that was reconciled. */
  readonly generation: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The list with all these conditions set, each with a message, if an empty one, and the generation that was seen. */
export function setConditions(
  list: readonly Condition[] | undefined,
  wanted: readonly WantedCondition[],
  { generation, now }: ConditionMoment,
): Condition[] {
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return wanted.reduce<Condition[]>(
    (conditions, condition) => setCondition(conditions, { message: "", ...condition, ...observed }, now),
    [...(list ?? [])],
  );
}

/** The condition of this type, if there is one. */
export function getCondition(list: readonly Condition[] | undefined, type: string): Condition | undefined {
  return list?.find((each) => each.type === type);
}

/** True if the condition is there and its status is "True". */
export function isTrue(list: readonly Pick<Condition, "type" | "status">[] | undefined, type: string): boolean {
  return list?.find((each) => each.type === type)?.status === "True";
}

/** metav1.Time: RFC 3339 in UTC, to the second. */
export function timestamp(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
}

/** metav1.MicroTime: RFC 3339 in UTC with six digits after the second. */
export function microTimestamp(now: number): string {
  return new Date(now).toISOString().replace("Z", "000Z");
}
