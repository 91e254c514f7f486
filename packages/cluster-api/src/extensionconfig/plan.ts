import { annotations, type ExtensionConfig, type ExtensionConfigStatus } from "@causeway/api";
import { getCondition, setConditions, type Plan, type WantedCondition } from "@causeway/kubernetes";
import { notPaused, settleConditions } from "../objects/conditions.ts";
import type { Observed } from "./observed.ts";
import type { ExtensionStep } from "./steps.ts";

/** The status holds what the last discovery found. */
export type ExtensionPlan = Plan<ExtensionStep, ExtensionConfigStatus>;

/** Milliseconds after which an extension is called again for what it handles; sooner after a failure. */
const again = 10 * 60_000;
const afterFailure = 30_000;

/** Whether the extension is to be called for what it handles: its config has changed, or the last time was long ago. */
export function isDiscoveryDue({ metadata, status }: ExtensionConfig, last: number | undefined, now: number): boolean {
  if (metadata.annotations?.[annotations.paused] !== undefined || metadata.deletionTimestamp) return false;
  const known = getCondition(status?.conditions, "Discovered");
  if (last === undefined || known?.observedGeneration !== metadata.generation) return true;
  return now - last >= (known?.status === "True" ? again : afterFailure);
}

/** What is said of an extension. Its handlers remain while it cannot be called: clusters wait for them. */
export function plan({ config, discovery }: Observed, now: number): ExtensionPlan {
  const before = config.status ?? {};
  const moment = { generation: config.metadata.generation, now };
  if (config.metadata.annotations?.[annotations.paused] !== undefined) {
    const message = `ExtensionConfig has the annotation ${annotations.paused}`;
    const paused: WantedCondition = { type: "Paused", status: "True", reason: "Paused", message };
    return { steps: [], status: { ...before, conditions: setConditions(before.conditions, [paused], moment) } };
  }
  if (!discovery) return { steps: [], status: before, wait: { for: "changes", until: now + again } };
  const isKnown = "handlers" in discovery;
  const found: WantedCondition = isKnown
    ? { type: "Discovered", status: "True", reason: "Discovered" }
    : { type: "Discovered", status: "False", reason: "NotDiscovered", message: discovery.problem };
  const conditions = settleConditions([found, notPaused], { previous: before.conditions, ...moment });
  return {
    steps: [],
    status: { ...before, conditions, ...(isKnown ? { handlers: [...discovery.handlers] } : {}) },
    wait: { for: isKnown ? "changes" : discovery.problem, until: now + (isKnown ? again : afterFailure) },
    events: isKnown ? [] : [{ type: "Warning", reason: "DiscoveryFailed", message: discovery.problem }],
  };
}
