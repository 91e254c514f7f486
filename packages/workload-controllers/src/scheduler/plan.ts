import { evaluate, failureOn, type Evaluation } from "./evaluate.ts";
import { planVolumes, waitingClaims } from "./filters/volume-binding.ts";
import { unschedulableMessage } from "./message.ts";
import type { NodeInfo } from "../model/node-info.ts";
import type { PodInfo } from "../model/pod-info.ts";
import { statusOf } from "../model/spec.ts";
import type { ClusterView, DisruptionBudget } from "./view.ts";
import { planPreemption } from "./preemption.ts";
import { scores } from "./scores/table.ts";
import type { SchedulerStep } from "./steps.ts";

/** All that the choice of a node for a pod depends on. */
export interface Observed {
  readonly pod: PodInfo;
  readonly view: ClusterView;
  readonly budgets: readonly DisruptionBudget[];
  readonly nominatedTo: (node: string) => readonly PodInfo[];
  /** The node to begin with. */
  readonly start: number;
  /** From 0 to 1: chooses among nodes that are equally good. */
  readonly choice: number;
}

/** What to do for one pod; `tested` moves the node that the next search starts with. */
export interface SchedulerPlan {
  readonly steps: readonly SchedulerStep[];
  /** The filters that keep the pod from nodes; empty when it is bound. */
  readonly failedBy: ReadonlySet<string>;
  readonly tested: number;
}

/** The best node for a pod; or the pods to remove for it, and why it waits. */
export function plan(observed: Observed): SchedulerPlan {
  const { pod, view } = observed;
  const nominated = nominatedNode(observed);
  if (nominated) return binding(observed, nominated, 0);
  const evaluation = evaluate(pod, view, observed);
  const { feasible, tested } = evaluation;
  if (feasible.length > 0) return binding(observed, chooseNode(observed, feasible), tested);
  return refusal(observed, evaluation);
}

/** The node that pods were removed from for this pod, if it fits there by now. */
function nominatedNode({ pod, view, nominatedTo }: Observed): NodeInfo | undefined {
  const name = statusOf(pod.pod).nominatedNodeName;
  const node = view.nodes.find((one) => one.name === name);
  if (!node || failureOn(pod, node, view)) return undefined;
  const others = nominatedTo(node.name).filter(({ key, priority }) => key !== pod.key && priority >= pod.priority);
  if (others.length > 0 && failureOn(pod, node.with([...node.pods.values(), ...others]), view)) return undefined;
  return node;
}

function binding({ pod, view }: Observed, node: NodeInfo, tested: number): SchedulerPlan {
  const planned = planVolumes(waitingClaims(pod, view.storage), node, view.storage);
  const volumes = "reason" in planned ? { bind: [], provision: [] } : planned;
  return { steps: [{ type: "bind", node: node.name, volumes }], failedBy: new Set(), tested };
}

function chooseNode(observed: Observed, nodes: readonly NodeInfo[]): NodeInfo {
  const totals = totalScores(observed.pod, nodes, observed.view);
  const highest = Math.max(...totals);
  const equal = nodes.filter((_, i) => totals[i] === highest);
  const chosen = equal[Math.min(equal.length - 1, Math.floor(observed.choice * equal.length))];
  if (!chosen) throw new TypeError("a node is chosen of at least one");
  return chosen;
}

/** The weighted sum of all scores for each node. */
export function totalScores(pod: PodInfo, nodes: readonly NodeInfo[], view: ClusterView): number[] {
  const totals = nodes.map(() => 0);
  if (nodes.length === 1) return totals;
  for (const { weight, rate } of scores) {
    const rated = rate(pod, nodes, view);
    rated?.forEach((value, i) => (totals[i] = (totals[i] ?? 0) + weight * value));
  }
  return totals;
}

function refusal(observed: Observed, evaluation: Evaluation): SchedulerPlan {
  const { pod, view, budgets, nominatedTo } = observed;
  const { rejection, failures, tested } = evaluation;
  const count = view.nodes.length;
  const found = planPreemption({ pod, view, evaluation, budgets, nominatedTo });
  const preemption = "victims" in found ? found : undefined;
  const obstacle = "victims" in found ? undefined : found;
  const message = unschedulableMessage(evaluation, count, obstacle?.message);
  const kept = obstacle?.isUnderWay ? (statusOf(pod.pod).nominatedNodeName ?? "") : "";
  return {
    steps: [
      ...(preemption ? [{ type: "preempt", ...preemption } as const] : []),
      { type: "report", message, nominatedNode: preemption?.node ?? kept },
    ],
    failedBy: new Set(rejection ? [rejection.filter] : [...failures.values()].map(({ filter }) => filter)),
    tested,
  };
}
