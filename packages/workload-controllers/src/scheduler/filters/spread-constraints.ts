import { tolerates } from "./tolerations.ts";
import type { NodeInfo } from "../../model/node-info.ts";
import type { PodInfo } from "../../model/pod-info.ts";
import { labelTest, type LabelTest } from "../../model/selector.ts";
import type { TopologySpreadConstraint } from "../../model/spec.ts";

/** A constraint of topology spread, ready to count with. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selects: LabelTest;
  /** Whether a node's pods count for this pod. */
  includes(node: NodeInfo): boolean;
}

/** The pod's constraints with `DoNotSchedule` (for the filter) or `ScheduleAnyway` (for the score). */
export function spreadConstraints(pod: PodInfo, whenUnsatisfiable: string): SpreadConstraint[] {
  return (pod.spec.topologySpreadConstraints ?? [])
    .filter((constraint) => constraint.whenUnsatisfiable === whenUnsatisfiable)
    .map((constraint) => spreadConstraint(pod, constraint));
}

function spreadConstraint(pod: PodInfo, constraint: TopologySpreadConstraint): SpreadConstraint {
  const { labelSelector, matchLabelKeys = [], nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
  const same = matchLabelKeys.flatMap((key) => {
    const value = pod.labels[key];
    return value === undefined ? [] : [{ key, operator: "In", values: [value] }];
  });
  const selector = labelSelector && {
    ...labelSelector,
    matchExpressions: [...(labelSelector.matchExpressions ?? []), ...same],
  };
  const honorsAffinity = nodeAffinityPolicy !== "Ignore" && pod.restrictsNodes;
  const honorsTaints = nodeTaintsPolicy === "Honor";
  return {
    topologyKey: constraint.topologyKey,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    selects: labelTest(selector),
    includes: ({ node }) =>
      (!honorsAffinity || pod.selectsNode(node)) &&
      (!honorsTaints ||
        (node.spec.taints ?? []).every(
          (taint) => taint.effect === "PreferNoSchedule" || tolerates(pod.tolerations, taint),
        )),
  };
}

/** How many pods of the namespace that remain are selected on a node. */
export function countSelected(node: NodeInfo, namespace: string, selects: LabelTest): number {
  let count = 0;
  for (const pod of node.pods.values()) {
    if (pod.namespace === namespace && !pod.isTerminating && selects(pod.labels)) count++;
  }
  return count;
}
