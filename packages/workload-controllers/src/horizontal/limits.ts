import type { Autoscaler, ScalingPolicy, ScalingRules } from "./autoscaler.ts";
import type { Memory, Recommendation, ScaleEvent } from "./observed.ts";

/*
 * How fast a target may grow and shrink. Source: normalizeDesiredReplicas and normalizeDesiredReplicasWithBehaviors of
 * k8s.io/kubernetes/pkg/controller/podautoscaler/horizontal.go, and
 * https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#configurable-scaling-behavior.
 */

/** Fewer replicas are used only when they were enough for this long, in seconds, where no behavior says otherwise. */
const STABILIZATION = 300;
/** Without a behavior at most twice as many, or four. */
const UP_FACTOR = 2;
const UP_MINIMUM = 4;

/** A size within the autoscaler's bounds, and what the conditions say of how it came about. */
export interface Limited {
  readonly replicas: number;
  /** For the condition AbleToScale. */
  readonly able: { readonly reason: string; readonly message: string };
  /** For the condition ScalingLimited, which is True when `isLimited`. */
  readonly limit: { readonly reason: string; readonly message: string; readonly isLimited: boolean };
}

const READY = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const DOWN_STABILIZED = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};
const UP_STABILIZED = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const WITHIN = { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" };
const TOO_FEW = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};
const TOO_MANY = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const UP_LIMIT = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const DOWN_LIMIT = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
};

interface WantedSize {
  readonly current: number;
  readonly desired: number;
  readonly now: number;
}

/** What becomes of the size that the metrics ask for. */
export function limited({ spec }: Autoscaler, memory: Memory, wish: WantedSize): Limited {
  const least = spec.minReplicas ?? 1;
  const { behavior } = spec;
  if (!behavior) {
    const highest = highestSince(memory.recommendations, wish.desired, wish.now - STABILIZATION * 1000);
    const able = highest === wish.desired ? READY : DOWN_STABILIZED;
    return { able, ...between(highest, least, withoutBehavior(wish.current, spec.maxReplicas)) };
  }
  const { replicas: stable, able } = stabilized(behavior, memory, wish);
  const { current } = wish;
  if (stable > current) {
    const fastest = Math.max(current, fastestUp(behavior.scaleUp, memory, wish));
    const most = fastest < spec.maxReplicas ? { at: fastest, why: UP_LIMIT } : { at: spec.maxReplicas, why: TOO_MANY };
    return { able, ...between(stable, -Infinity, most) };
  }
  if (stable < current) {
    const fastest = Math.min(current, fastestDown(behavior.scaleDown, memory, wish));
    const floor = fastest > least ? { at: fastest, why: DOWN_LIMIT } : { at: least, why: TOO_FEW };
    if (stable < floor.at) return { able, replicas: floor.at, limit: { ...floor.why, isLimited: true } };
  }
  return { able, replicas: stable, limit: { ...WITHIN, isLimited: false } };
}

interface Ceiling {
  readonly at: number;
  readonly why: { readonly reason: string; readonly message: string };
}

function between(desired: number, least: number, most: Ceiling): Omit<Limited, "able"> {
  if (desired < least) return { replicas: least, limit: { ...TOO_FEW, isLimited: true } };
  if (desired > most.at) return { replicas: most.at, limit: { ...most.why, isLimited: true } };
  return { replicas: desired, limit: { ...WITHIN, isLimited: false } };
}

function withoutBehavior(current: number, most: number): Ceiling {
  const fastest = Math.max(UP_FACTOR * current, UP_MINIMUM);
  return most > fastest ? { at: fastest, why: UP_LIMIT } : { at: most, why: TOO_MANY };
}

function highestSince(recommendations: readonly Recommendation[], desired: number, since: number): number {
  return Math.max(desired, ...recommendations.filter(({ at }) => at > since).map(({ replicas }) => replicas));
}

function stabilized(
  { scaleUp, scaleDown }: NonNullable<Autoscaler["spec"]["behavior"]>,
  { recommendations }: Memory,
  { current, desired, now }: WantedSize,
): Pick<Limited, "replicas" | "able"> {
  const since = (rules: ScalingRules | undefined, otherwise: number): number =>
    now - (rules?.stabilizationWindowSeconds ?? otherwise) * 1000;
  const after = (at: number) => recommendations.filter((each) => each.at > at).map(({ replicas }) => replicas);
  const up = Math.min(desired, ...after(since(scaleUp, 0)));
  const down = Math.max(desired, ...after(since(scaleDown, STABILIZATION)));
  let replicas = current;
  if (replicas < up) replicas = up;
  if (replicas > down) replicas = down;
  if (replicas === desired) return { replicas, able: READY };
  return { replicas, able: desired > replicas ? UP_STABILIZED : DOWN_STABILIZED };
}

/** As the API's defaults where a behavior leaves a direction out. */
const UP_POLICIES: readonly ScalingPolicy[] = [
  { type: "Pods", value: 4, periodSeconds: 15 },
  { type: "Percent", value: 100, periodSeconds: 15 },
];
const DOWN_POLICIES: readonly ScalingPolicy[] = [{ type: "Percent", value: 100, periodSeconds: 15 }];

function fastestUp(rules: ScalingRules | undefined, memory: Memory, wish: WantedSize): number {
  const { selectPolicy = "Max", policies = UP_POLICIES } = rules ?? {};
  if (selectPolicy === "Disabled") return wish.current;
  const proposals = policies.map((policy) => {
    const start = startOf(policy, memory, wish);
    return policy.type === "Pods" ? start + policy.value : Math.ceil((start * (100 + policy.value)) / 100);
  });
  return selectPolicy === "Min" ? Math.min(...proposals) : Math.max(...proposals);
}

function fastestDown(rules: ScalingRules | undefined, memory: Memory, wish: WantedSize): number {
  const { selectPolicy = "Max", policies = DOWN_POLICIES } = rules ?? {};
  if (selectPolicy === "Disabled") return wish.current;
  const proposals = policies.map((policy) => {
    const start = startOf(policy, memory, wish);
    return policy.type === "Pods" ? start - policy.value : Math.trunc((start * (100 - policy.value)) / 100);
  });
  return selectPolicy === "Min" ? Math.max(...proposals) : Math.min(...proposals);
}

/** The size at the start of the policy's period. */
function startOf({ periodSeconds }: ScalingPolicy, { added, removed }: Memory, { current, now }: WantedSize): number {
  const since = now - periodSeconds * 1000;
  const sum = (events: readonly ScaleEvent[]) =>
    events.reduce((total, { at, change }) => (at > since ? total + change : total), 0);
  return current - sum(added) + sum(removed);
}
