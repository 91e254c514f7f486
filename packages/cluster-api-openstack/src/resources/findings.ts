import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";

/** Ready: true when every finding is, else what the first one says that is not. */
export function summarise(findings: readonly WantedCondition[], ready: string): WantedCondition {
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
    message: `${change}. The field is immutable: restore the old value, or create a new object.`,
  };
}
