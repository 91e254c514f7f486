import type { ObjectKey, PlannedEvent, ServiceStatus, Wait } from "@causeway/kubernetes";
import { gather } from "./gather.ts";
import { gatherFrom, type ServiceSurroundings } from "./gather-from.ts";
import { planBoth } from "./plan-both.ts";
import { callsOf, type PlannedCall } from "./step-calls.ts";
import type { Step } from "./steps.ts";

/** Its informers are `run` by the caller. */
export type ExplainOptions = ServiceSurroundings;

export interface ExplainedStep {
  readonly step: Step;
  readonly calls: readonly PlannedCall[];
}

/** What a reconcile of a Service would do now. */
export interface ServiceExplanation {
  /** In their order. Where there are any, the reconcile looks again after them and may find more to do. */
  readonly steps: readonly ExplainedStep[];
  /** What it would wait for. */
  readonly wait: Wait | undefined;
  readonly events: readonly PlannedEvent[];
  /** As it would be published. */
  readonly status: ServiceStatus;
}

/**
 * Reads what a reconcile reads, and plans, and does nothing of it. Undefined where there is no such Service, or none that
 * concerns load balancers here.
 */
export async function explainService(
  options: ExplainOptions,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ServiceExplanation | undefined> {
  const from = gatherFrom(options);
  await Promise.all([from.services.whenSynced(signal), from.nodes.whenSynced(signal)]);
  const observed = await gather(from, key, signal);
  if (!observed) return undefined;
  const { steps, status, events = [], wait } = planBoth(observed, options.clock.now());
  return { steps: steps.map((step) => ({ step, calls: callsOf(step) })), wait, events, status };
}
