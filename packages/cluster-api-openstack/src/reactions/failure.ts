import { setConditions, type Condition, type ConditionMoment, type PlannedEvent } from "@causeway/kubernetes";
import { summarise } from "../resources/findings.ts";
import { RATE_LIMITED } from "../identity/state.ts";
import type { Refusal } from "./refusals.ts";

/** What to publish when a step failed: its condition and Ready say why, and so does an event. */
export function failureOf<Status extends { conditions?: Condition[] }>(
  planned: Status,
  { type, refusal }: { readonly type: string; readonly refusal: Refusal },
  moment: ConditionMoment,
): { status: Status; events: PlannedEvent[] } {
  const { reason, message } = refusal;
  // What was true remains so: the cloud only wants to be left alone.
  const isWaiting = reason === RATE_LIMITED;
  if (isWaiting && planned.conditions?.some((c) => c.type === type && c.status === "True"))
    return { status: planned, events: [] };
  const finding = { type, status: "False", reason, message } as const;
  const conditions = setConditions(planned.conditions, [finding, summarise([finding], "")], moment);
  return {
    status: { ...planned, conditions },
    events: isWaiting ? [] : [{ type: "Warning", reason, message }],
  };
}
