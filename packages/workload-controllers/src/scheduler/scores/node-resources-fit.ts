import type { NodeInfo } from "../../model/node-info.ts";
import type { PodInfo } from "../../model/pod-info.ts";
import { highest, type Score } from "./interface.ts";

/** Nodes with more CPU and memory left are better (LeastAllocated). Containers without a request count for a little. */
export const nodeResourcesFitScore: Score = {
  name: "NodeResourcesFit",
  weight: 1,
  rate: (pod, nodes) => nodes.map((node) => leastAllocated(pod, node)),
};

function leastAllocated(pod: PodInfo, { allocatable, scored }: NodeInfo): number {
  let sum = 0;
  let weights = 0;
  for (const name of ["cpu", "memory"]) {
    const capacity = allocatable[name] ?? 0;
    if (capacity === 0) continue;
    const requested = (scored[name] ?? 0) + (pod.scored[name] ?? 0);
    sum += requested > capacity ? 0 : Math.floor(((capacity - requested) * highest) / capacity);
    weights++;
  }
  return weights === 0 ? 0 : Math.floor(sum / weights);
}
