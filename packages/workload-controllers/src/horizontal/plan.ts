import { type Condition, type Plan, type PlannedEvent, setCondition, timestamp } from "@causeway/kubernetes";
import type { AutoscalerStatus } from "./autoscaler.ts";
import { limited } from "./limits.ts";
import type { Observed, TargetScale } from "./observed.ts";
import { said } from "./proposals.ts";
import type { Step } from "./steps.ts";

/** Between two reads of metrics, in milliseconds: kube-controller-manager's --horizontal-pod-autoscaler-sync-period. */
export const PERIOD = 15_000;

/** What the controller publishes and remembers after a plan. */
export interface Outcome {
  readonly status: AutoscalerStatus;
  /** What the metrics requested, before limits: remembered for stabilization. */
  readonly recommendation?: number;
}

/** Source: reconcileAutoscaler of k8s.io/kubernetes/pkg/controller/podautoscaler/horizontal.go. */
export function plan(observed: Observed, now: number): Plan<Step, Outcome> {
  const { autoscaler, at, scale, settled } = observed;
  const wait = { until: Math.max(now, at + PERIOD), for: "the next read of metrics" };
  if (settled) return { steps: [], status: { status: settled }, events: [], wait };
  const noted = new Conditions(autoscaler.status?.conditions ?? [], now);
  if (typeof scale === "string") {
    const message = `the HPA controller was unable to get the target's current scale: ${scale}`;
    noted.set("AbleToScale", false, "FailedGetScale", message);
    const events = [warning("FailedGetScale", scale)];
    return { steps: [], status: { status: statusOf(observed, { conditions: noted.all }) }, events, wait };
  }
  noted.set("AbleToScale", true, "SucceededGetScale", "the HPA controller was able to get the target's current scale");
  const decision = decide(observed, scale, noted);
  const { replicas, reason, metrics, recommendation, events } = decision;
  const isOther = replicas !== scale.replicas;
  const isDone = observed.scaledTo !== undefined;
  if (isOther && isDone) {
    const message = `the HPA controller was able to update the target scale to ${replicas}`;
    noted.set("AbleToScale", true, "SucceededRescale", message);
    events.push({ type: "Normal", reason: "SuccessfulRescale", message: `New size: ${replicas}; reason: ${reason}` });
  }
  const changed = isOther && isDone ? { lastScaleTime: timestamp(now) } : {};
  const status = statusOf(observed, { conditions: noted.all, current: scale.replicas, replicas, metrics, ...changed });
  const outcome = { status, ...(recommendation === undefined ? {} : { recommendation }) };
  const steps: Step[] = isOther && !isDone ? [{ type: "scale", target: scale, to: replicas, reason }] : [];
  return { steps, status: outcome, events: steps.length > 0 ? [] : events, wait };
}

interface Decision {
  readonly replicas: number;
  readonly reason: string;
  readonly metrics?: readonly object[];
  readonly recommendation?: number;
  readonly events: PlannedEvent[];
}

function decide(observed: Observed, scale: TargetScale, noted: Conditions): Decision {
  const { spec } = observed.autoscaler;
  const least = spec.minReplicas ?? 1;
  const events: PlannedEvent[] = [];
  const { replicas: current } = scale;
  if (current === 0 && least !== 0) {
    const message = "scaling is disabled since the replica count of the target is zero";
    noted.set("ScalingActive", false, "ScalingDisabled", message);
    return { replicas: 0, reason: "", events };
  }
  if (current > spec.maxReplicas) {
    return { replicas: spec.maxReplicas, reason: "Current number of replicas above Spec.MaxReplicas", events };
  }
  if (current < least) {
    return { replicas: least, reason: "Current number of replicas below Spec.MinReplicas", events };
  }
  const asked = askMetrics(observed, scale, noted);
  events.push(...asked.events);
  if (asked.replicas === undefined) return { replicas: current, reason: "", metrics: asked.metrics, events };
  const { replicas: desired, name, metrics } = asked;
  const reason = desired > current ? `${name} above target` : desired < current ? "All metrics below target" : "";
  const { replicas, able, limit } = limited(observed.autoscaler, withInitial(observed, current), {
    current,
    desired,
    now: observed.at,
  });
  noted.set("AbleToScale", true, able.reason, able.message);
  noted.set("ScalingLimited", limit.isLimited, limit.reason, limit.message);
  return { replicas, reason, metrics, recommendation: desired, events };
}

/** The size at the first read counts as recommended, so that a restart of the controller shrinks nothing. */
export function withInitial({ memory, at }: Pick<Observed, "memory" | "at">, current: number): Observed["memory"] {
  if (memory.recommendations.length > 0) return memory;
  return { ...memory, recommendations: [{ at, replicas: current }] };
}

interface MetricsVerdict {
  /** Undefined: nothing can be concluded. */
  readonly replicas: number | undefined;
  readonly name: string;
  readonly metrics: readonly object[];
  readonly events: readonly PlannedEvent[];
}

function askMetrics(observed: Observed, scale: TargetScale, noted: Conditions): MetricsVerdict {
  const { readings, pods, at, rivals } = observed;
  const none = { replicas: undefined, name: "", metrics: [] };
  const fail = (reason: string, message: string, event = reason): MetricsVerdict => {
    noted.set("ScalingActive", false, reason, message);
    return { ...none, events: [warning(event, message), computeFailed(message)] };
  };
  if (scale.selector === "") {
    return fail("InvalidSelector", "the HPA target's scale is missing a selector", "SelectorRequired");
  }
  if (rivals.length > 0) {
    const names = [observed.autoscaler.metadata.name, ...rivals].map(
      (name) => `${observed.autoscaler.metadata.namespace ?? ""}/${name}`,
    );
    return fail(
      "AmbiguousSelector",
      `pods by selector ${scale.selector} are controlled by multiple HPAs: [${names.join(" ")}]`,
    );
  }
  const answers = readings.map((reading) => said(reading, { scale, pods, at }));
  let best: { readonly replicas: number; readonly name: string } | undefined;
  for (const answer of answers) {
    if ("replicas" in answer && (!best || answer.replicas > best.replicas)) best = answer;
  }
  const failures = answers.filter((answer) => "why" in answer);
  const metrics = answers.flatMap((answer) => ("status" in answer ? [answer.status] : [{ type: "" }]));
  const shown = metrics.filter((metric) => "type" in metric && metric.type !== "");
  const events = failures.map(({ reason, why }) => warning(reason, why));
  const [first] = failures;
  // With an answer missing, the others may ask for more, not for less.
  if (first && (!best || best.replicas < scale.replicas)) {
    const message = `the HPA was unable to compute the replica count: ${first.why}`;
    noted.set("ScalingActive", false, first.reason, message);
    const summary = `invalid metrics (${failures.length} invalid out of ${readings.length}), first error is: ${first.why}`;
    return { ...none, metrics: shown, events: [...events, computeFailed(summary)] };
  }
  const { replicas = scale.replicas, name = "" } = best ?? {};
  const message = `the HPA was able to successfully calculate a replica count from ${name}`;
  noted.set("ScalingActive", true, "ValidMetricFound", message);
  return { replicas, name, metrics: shown, events };
}

function computeFailed(message: string): PlannedEvent {
  return warning("FailedComputeMetricsReplicas", message);
}

/** The event of something that the autoscaler cannot read or do. */
export function warning(reason: string, message: string): PlannedEvent {
  return { type: "Warning", reason, message };
}

function statusOf(
  { autoscaler }: Observed,
  found: {
    readonly conditions: readonly Condition[];
    readonly current?: number;
    readonly replicas?: number;
    readonly metrics?: readonly object[] | undefined;
    readonly lastScaleTime?: string;
  },
): AutoscalerStatus {
  const { status: old, metadata } = autoscaler;
  const lastScaleTime = found.lastScaleTime ?? old?.lastScaleTime;
  return {
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
    currentReplicas: found.current ?? old?.currentReplicas ?? 0,
    desiredReplicas: found.replicas ?? old?.desiredReplicas ?? 0,
    currentMetrics: found.metrics && found.metrics.length > 0 ? found.metrics : null,
    conditions: found.conditions,
  };
}

/** The step was refused. */
export function failedScale(status: AutoscalerStatus, why: string, now: number): AutoscalerStatus {
  const noted = new Conditions(status.conditions ?? [], now);
  const message = `the HPA controller was unable to update the target scale: ${why}`;
  noted.set("AbleToScale", false, "FailedUpdateScale", message);
  return { ...status, conditions: noted.all };
}

/** The conditions as they are noted, one after the other. */
class Conditions {
  #all: readonly Condition[];
  readonly #now: number;

  constructor(before: readonly Condition[], now: number) {
    this.#all = before;
    this.#now = now;
  }

  get all(): readonly Condition[] {
    return this.#all;
  }

  set(type: string, holds: boolean, reason: string, message: string): void {
    this.#all = setCondition(this.#all, { type, status: holds ? "True" : "False", reason, message }, this.#now);
  }
}
