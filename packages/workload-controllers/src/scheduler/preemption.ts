import { failureOn, type Evaluation, type NodeFailure } from "./evaluate.ts";
import { nodesMessage } from "./message.ts";
import type { NodeInfo } from "../model/node-info.ts";
import type { PodInfo } from "../model/pod-info.ts";
import { labelTest } from "../model/selector.ts";
import { statusOf } from "../model/spec.ts";
import type { ClusterView, DisruptionBudget } from "./view.ts";

/** The pods to remove from a node, the most important first. */
export interface Preemption {
  readonly node: string;
  readonly victims: readonly PodInfo[];
}

interface Candidate extends Preemption {
  readonly violations: number;
}

/** What the choice of victims depends on; `evaluation` has why the pod fits on no node. */
export interface PreemptionFacts {
  readonly pod: PodInfo;
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly budgets: readonly DisruptionBudget[];
  /** Pods for which pods have been removed from a node. */
  readonly nominatedTo: (node: string) => readonly PodInfo[];
}

/** Why no pods are removed. */
export interface Obstacle {
  readonly message: string;
  /** Pods that were removed for this pod before are still leaving. */
  readonly isUnderWay: boolean;
}

/**
 * Objects that are read to compare candidates, about; beyond it the best of those found so far is used. Other clusters
 * of the process wait meanwhile.
 */
const MOST_WORK = 5_000_000;

/** Objects that are read to test whether the pod fits on a node without one other pod. */
function costOfOneTest({ pod, view }: PreemptionFacts): number {
  const rules = pod.affinity.length + pod.antiAffinity.length + (pod.spec.topologySpreadConstraints ?? []).length;
  const pods = rules === 0 ? 0 : view.nodes.reduce((sum, node) => sum + node.pods.size, 0);
  return 2 * view.nodes.length + rules * pods;
}

/** Which pods to remove so that a pod has room; or why that does not help. */
export function planPreemption(facts: PreemptionFacts): Preemption | Obstacle {
  const { pod, view, evaluation } = facts;
  const obstacle = whyNotEligible(facts);
  if (obstacle !== undefined) return obstacle;
  const candidates: Candidate[] = [];
  const reasons: string[] = [];
  const each = costOfOneTest(facts);
  let work = 0;
  const enough = Math.max(100, Math.floor(view.nodes.length / 10));
  for (const node of view.nodes) {
    const failure = evaluation.failures.get(node.name);
    if (evaluation.rejection || !failure || failure.final) {
      reasons.push("Preemption is not helpful for scheduling");
      continue;
    }
    if (candidates.length >= enough || (candidates.length > 0 && work > MOST_WORK)) break;
    work += node.pods.size * each * (facts.nominatedTo(node.name).length === 0 ? 1 : 2);
    const found = victimsOn(pod, node, facts);
    if ("victims" in found) candidates.push(found);
    else reasons.push(...found.reasons);
  }
  return best(candidates) ?? { message: nodesMessage(view.nodes.length, reasons), isUnderWay: false };
}

/** Of the condition DisruptionTarget of victims, as upstream's: by it a later plan knows them. */
export const preemptedReason = "PreemptionByScheduler";

function whyNotEligible({ pod, view, evaluation }: PreemptionFacts): Obstacle | undefined {
  if (pod.spec.preemptionPolicy === "Never") {
    return { message: "not eligible due to preemptionPolicy=Never.", isUnderWay: false };
  }
  const { nominatedNodeName } = statusOf(pod.pod);
  if (!nominatedNodeName || evaluation.failures.get(nominatedNodeName)?.final) return undefined;
  const node = view.nodes.find(({ name }) => name === nominatedNodeName);
  const leaves = [...(node?.pods.values() ?? [])].some(
    (other) => other.isTerminating && other.priority < pod.priority && wasPreempted(other),
  );
  if (!leaves) return undefined;
  return { message: "not eligible due to a terminating pod on the nominated node.", isUnderWay: true };
}

function wasPreempted({ pod }: PodInfo): boolean {
  return (statusOf(pod).conditions ?? []).some(
    ({ type, status, reason }) => type === "DisruptionTarget" && status === "True" && reason === preemptedReason,
  );
}

/** The fewest pods of a lower priority without which the pod fits; those that no budget protects go first. */
function victimsOn(
  pod: PodInfo,
  node: NodeInfo,
  { view, budgets, nominatedTo }: PreemptionFacts,
): Candidate | Pick<NodeFailure, "reasons"> {
  const lower = [...node.pods.values()].filter(({ priority }) => priority < pod.priority);
  if (lower.length === 0) return { reasons: ["No preemption victims found for incoming pod"] };
  const staying = new Map([...node.pods].filter(([, { priority }]) => priority >= pod.priority));
  // The room that was made for pods of at least its priority is theirs.
  const expected = nominatedTo(node.name).filter(
    ({ key, priority }) => key !== pod.key && priority >= pod.priority && !node.pods.has(key),
  );
  const failing = (): NodeFailure | undefined =>
    failureOn(pod, node.with(staying.values()), view) ??
    (expected.length === 0 ? undefined : failureOn(pod, node.with([...staying.values(), ...expected]), view));
  const failure = failing();
  if (failure) return failure;
  const sorted = lower.toSorted(byImportance);
  const violating = violatingPods(sorted, budgets);
  const victims: PodInfo[] = [];
  for (const other of [...violating, ...sorted.filter((one) => !violating.has(one))]) {
    staying.set(other.key, other);
    if (!failing()) continue;
    staying.delete(other.key);
    victims.push(other);
  }
  return {
    node: node.name,
    victims: victims.toSorted(byImportance),
    violations: victims.filter((victim) => violating.has(victim)).length,
  };
}

/** A higher priority, then an earlier start, is more important. */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || a.startTime - b.startTime;
}

/** The pods whose removal, in this order, would go beyond what a budget allows. */
function violatingPods(pods: readonly PodInfo[], budgets: readonly DisruptionBudget[]): Set<PodInfo> {
  const left = budgets.map((budget) => ({ ...budget, selects: labelTest(budget.selector) }));
  const violating = new Set<PodInfo>();
  for (const pod of pods) {
    for (const budget of left) {
      if (budget.namespace !== pod.namespace || Object.keys(pod.labels).length === 0) continue;
      if (!budget.selects(pod.labels) || budget.disrupted.has(pod.pod.metadata.name)) continue;
      budget.allowed--;
      if (budget.allowed < 0) violating.add(pod);
    }
  }
  return violating;
}

/** Keeps sums of priorities in order whatever their signs, as kube-scheduler does. */
const offset = 2 ** 31;

type Rating = (candidate: Candidate) => number;

/** In this order; the least is best. */
const ratings: readonly Rating[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? Number.NEGATIVE_INFINITY,
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + offset, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestStart(victims),
];

function earliestStart(victims: readonly PodInfo[]): number {
  const top = victims[0]?.priority;
  return Math.min(...victims.filter(({ priority }) => priority === top).map(({ startTime }) => startTime));
}

function best(candidates: readonly Candidate[]): Candidate | undefined {
  let left = candidates;
  for (const rating of ratings) {
    if (left.length <= 1) break;
    const rated = left.map(rating);
    const least = Math.min(...rated);
    left = left.filter((_, i) => rated[i] === least);
  }
  return left[0];
}
