import type { Condition, PlannedEvent } from "@causeway/kubernetes";
import { setCondition } from "@causeway/kubernetes";

/** A condition before it has a time. */
export interface Finding<Type extends string = string> {
  readonly type: Type;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message?: string;
}

export interface ConditionMoment {
  readonly generation: number | undefined;
  readonly now: number;
}

/** The conditions with these findings taken in; times move only where a status does. */
export function withFindings(
  conditions: readonly Condition[],
  findings: readonly Finding[],
  { generation, now }: ConditionMoment,
): Condition[] {
  let list: Condition[] = [...conditions];
  for (const { type, status, reason, message } of findings) {
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    list = [...setCondition(list, { type, status, reason, message: message ?? "", ...observed }, now)];
  }
  return list;
}

/** Ready: true when every finding is, else what the first one says that is not. */
export function summarise(findings: readonly Finding[], ready: string): Finding {
  const bad = findings.find((f) => f.status !== "True");
  if (!bad) return { type: "Ready", status: "True", reason: ready };
  return { ...bad, type: "Ready", status: bad.status };
}

/** A message that fits a condition, and holds no line breaks. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 1000);
}

/** The event for a change of a field that cannot change. */
export function ignored(change: string): PlannedEvent {
  return {
    type: "Warning",
    reason: "SpecChangeIgnored",
    message: `${change}. The field cannot change once made: put the old value back, or make a new object.`,
  };
}
