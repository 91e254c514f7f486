import type { Difference, PlannedEvent, StepAim } from "./interface.ts";

/** Characters of a value in an event. */
const LIMIT = 200;

/**
 * The event about a step that was performed and is planned all the same: the field with both values where they are
 * known.
 */
export function notConverging(
  step: unknown,
  { aim = plainAim(step), times }: { readonly aim: StepAim | undefined; readonly times: number },
): PlannedEvent {
  const { type, target, differences = [] } = aim;
  const what = target === undefined || target === "" ? type : `${type} ${target}`;
  const why =
    differences.length === 0
      ? "the same change is needed again"
      : differences.map(({ field, from, to }) => `${field} is ${shown(from)} again instead of ${shown(to)}`).join(", ");
  const message = `Reconcile does not converge: ${what} was performed ${times} times, but ${why}; it is retried less and less often`;
  return { type: "Warning", reason: "ReconcileNotConverging", message };
}

/** What a step is about, by its own fields. */
export function plainAim(step: unknown): StepAim {
  if (typeof step !== "object" || step === null) return { type: String(step) };
  const fields = step as Readonly<Record<string, unknown>>;
  const texts = (names: readonly string[]) => names.map((name) => fields[name]).filter((v) => typeof v === "string");
  const [type = "a step"] = texts(["type"]);
  const [target] = texts(["id", "name", "poolId"]);
  return target === undefined ? { type } : { type, target };
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "unset").slice(0, LIMIT);
}

/** The fields of a change, with what they are now. */
export function differencesOf(now: object | undefined, change: object): Difference[] {
  const before = (now ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(change).map(([field, to]) => ({ field, from: before[field], to: to as unknown }));
}
