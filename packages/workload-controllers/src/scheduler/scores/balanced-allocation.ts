import type { NodeInfo } from "../../model/node-info.ts";
import type { PodInfo } from "../../model/pod-info.ts";
import { highest, type Score } from "./interface.ts";

const balanced = ["cpu", "memory"];

/** Nodes on which the pod leaves CPU and memory used to the same degree are better. */
export const balancedAllocationScore: Score = {
  name: "NodeResourcesBalancedAllocation",
  weight: 1,
  rate(pod, nodes) {
    if (balanced.every((name) => !pod.requests[name])) return undefined;
    return nodes.map((node) => balance(pod, node));
  },
};

function balance(pod: PodInfo, { allocatable, requested }: NodeInfo): number {
  const fractions = balanced.flatMap((name) => {
    const capacity = allocatable[name] ?? 0;
    return capacity === 0 ? [] : [Math.min(1, ((requested[name] ?? 0) + (pod.requests[name] ?? 0)) / capacity)];
  });
  const [a = 0, b = a] = fractions;
  return Math.trunc((1 - Math.abs(a - b) / 2) * highest);
}
