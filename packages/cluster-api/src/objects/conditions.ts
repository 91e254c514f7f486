import { shortened } from "@causeway/foundation";
import { setConditions, type Condition, type ConditionMoment, type WantedCondition } from "@causeway/kubernetes";

/** The conditions before, of which transition times are kept. */
export interface ConditionContext extends ConditionMoment {
  readonly previous: readonly Condition[] | undefined;
}

/** The whole list of conditions: those that are not wanted any more go. */
export function settleConditions(wanted: readonly WantedCondition[], context: ConditionContext): Condition[] {
  const kept = (context.previous ?? []).filter(({ type }) => wanted.some((condition) => condition.type === type));
  return setConditions(kept, wanted, context);
}

/** What an object that is worked on says of pausing. */
export const notPaused: WantedCondition = { type: "Paused", status: "False", reason: "NotPaused" };

/** One condition of several that are summarised. */
export interface SummaryInput {
  /** What precedes the message, such as the name of the object or the condition. */
  readonly label: string;
  readonly condition: Pick<Condition, "status"> & { readonly message?: string };
}

/** True if all are true; False if one is false; else Unknown. The message names what is not true. */
export function summarise(
  type: string,
  reasons: { readonly whenTrue: string; readonly whenFalse: string; readonly whenUnknown: string },
  inputs: readonly SummaryInput[],
): WantedCondition {
  const lacking = inputs.filter(({ condition }) => condition.status !== "True");
  if (lacking.length === 0) return { type, status: "True", reason: reasons.whenTrue };
  const isFalse = lacking.some(({ condition }) => condition.status === "False");
  return {
    type,
    status: isFalse ? "False" : "Unknown",
    reason: isFalse ? reasons.whenFalse : reasons.whenUnknown,
    message: listing(
      lacking.map(({ label, condition }) => `${label}: ${condition.message || `is ${condition.status}`}`),
    ),
  };
}

/** At most three lines unless said otherwise, then how many more there are. */
export function listing(lines: readonly string[], most = 3): string {
  return shortened(lines, most)
    .map((line) => `* ${line}`)
    .join("\n");
}
