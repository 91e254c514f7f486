import { canonicalJson } from "@causeway/foundation";
import { controllerOf, timestamp, type Plan, type PlannedEvent, type Pod } from "@causeway/kubernetes";
import type { BudgetStatus, PodDisruptionBudget } from "../objects/budget.ts";
import { scaled } from "../objects/int-or-percent.ts";
import { isReady } from "../objects/pods.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** How long a pod may exist after its eviction was accepted, in milliseconds. */
const deletionTimeout = 120_000;

/**
 * How many of the pods that a budget selects may be disrupted, as kube-controller-manager's disruption controller
 * counts.
 */
export function plan(observed: Observed, now: number): Plan<Step, undefined> {
  const { budget, pods } = observed;
  if (budget.metadata.deletionTimestamp !== undefined) return { steps: [], status: undefined };
  const expected = expectedOf(observed);
  const { disrupted, undeleted } = disruptedPods(budget, pods, now);
  const status =
    typeof expected === "string"
      ? failedStatus(budget, expected, now)
      : countedStatus(budget, { ...expected, healthy: healthy(pods, disrupted).length, disrupted, now });
  const moments = Object.values(disrupted).map((at) => Date.parse(at) + deletionTimeout);
  const wait = { for: "pods whose eviction was accepted to be deleted", until: Math.min(...moments) + 1 };
  const waiting = moments.length === 0 ? {} : { wait };
  if (same(status, budget.status)) return { steps: [], status: undefined, ...waiting };
  return {
    steps: [{ type: "write-status", status, undeleted }],
    status: undefined,
    events: [...eventsOf(observed), ...(typeof expected === "string" ? [failure(expected)] : [])],
    ...waiting,
  };
}

interface Expected {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

/** A text says why it cannot be known. */
function expectedOf({ budget, pods, scales }: Observed): Expected | string {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (maxUnavailable === undefined && typeof minAvailable !== "string") {
    return { expectedPods: pods.length, desiredHealthy: minAvailable ?? 0 };
  }
  const byController = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    const scale = owner && scales.get(owner.uid);
    if (typeof scale === "string") return scale;
    if (scale) byController.set(scale.uid, scale.replicas);
  }
  const expectedPods = [...byController.values()].reduce((sum, replicas) => sum + replicas, 0);
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaled(minAvailable, expectedPods, "up")
      : Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods, "up"));
  return { expectedPods, desiredHealthy };
}

/** Evictions that were accepted and are not done; after two minutes a pod counts again. */
function disruptedPods({ status }: PodDisruptionBudget, pods: readonly Pod[], now: number) {
  const disrupted: Record<string, string> = {};
  const undeleted: Pod[] = [];
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata;
    const at = status?.disruptedPods?.[name];
    if (at === undefined || deletionTimestamp !== undefined) continue;
    if (Date.parse(at) + deletionTimeout < now) undeleted.push(pod);
    else disrupted[name] = at;
  }
  return { disrupted, undeleted };
}

function healthy(pods: readonly Pod[], disrupted: Readonly<Record<string, string>>): readonly Pod[] {
  return pods.filter(
    (pod) =>
      pod.metadata.deletionTimestamp === undefined && !Object.hasOwn(disrupted, pod.metadata.name) && isReady(pod),
  );
}

function countedStatus(
  budget: PodDisruptionBudget,
  counts: Expected & {
    readonly healthy: number;
    readonly disrupted: Readonly<Record<string, string>>;
    readonly now: number;
  },
): BudgetStatus {
  const { expectedPods, desiredHealthy, healthy: currentHealthy, disrupted, now } = counts;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const [status, reason] = disruptionsAllowed > 0 ? ["True", "SufficientPods"] : ["False", "InsufficientPods"];
  const { generation } = budget.metadata;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: conditionsOf(budget, { status, reason, message: "" }, now),
  };
}

/** Where the count fails, nothing may be evicted. */
function failedStatus(budget: PodDisruptionBudget, why: string, now: number): BudgetStatus {
  const conditions = conditionsOf(budget, { status: "False", reason: "SyncFailed", message: why }, now);
  return { ...budget.status, disruptionsAllowed: 0, conditions };
}

function conditionsOf(
  { metadata, status }: PodDisruptionBudget,
  wanted: { readonly status: string | undefined; readonly reason: string | undefined; readonly message: string },
  now: number,
): NonNullable<BudgetStatus["conditions"]> {
  const given = status?.conditions ?? [];
  const before = given.find(({ type }) => type === "DisruptionAllowed");
  const is = wanted.status === "True" ? "True" : "False";
  const since = before?.status === is ? before.lastTransitionTime : undefined;
  const condition = {
    type: "DisruptionAllowed",
    status: is,
    reason: wanted.reason ?? "",
    message: wanted.message,
    lastTransitionTime: since ?? timestamp(now),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  } as const;
  return before ? given.map((each) => (each === before ? condition : each)) : [...given, condition];
}

function same(a: BudgetStatus, b: BudgetStatus = {}): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function eventsOf({ budget, pods }: Observed): PlannedEvent[] {
  if (pods.length === 0) return [{ type: "Normal", reason: "NoPods", message: "No matching pods found" }];
  const { minAvailable, selector } = budget.spec ?? {};
  if (typeof minAvailable === "number" || pods.every((pod) => controllerOf(pod))) return [];
  const message =
    `Pods selected by this PodDisruptionBudget (selector: ${canonicalJson(selector ?? {})}) were found to be unmanaged. ` +
    "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
  return [{ type: "Warning", reason: "UnmanagedPods", message }];
}

function failure(why: string): PlannedEvent {
  const message = `Failed to calculate the number of expected pods: ${why}`;
  return { type: "Warning", reason: "CalculateExpectedPodCountFailed", message };
}
