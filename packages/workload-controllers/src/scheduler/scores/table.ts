import { balancedAllocationScore } from "./balanced-allocation.ts";
import { imageLocalityScore } from "./image-locality.ts";
import { interPodAffinityScore } from "./inter-pod-affinity.ts";
import type { Score } from "./interface.ts";
import { nodeAffinityScore } from "./node-affinity.ts";
import { nodeResourcesFitScore } from "./node-resources-fit.ts";
import { podTopologySpreadScore } from "./pod-topology-spread.ts";
import { taintTolerationScore } from "./taint-toleration.ts";

/** With the weights of kube-scheduler's default profile. */
export const scores: readonly Score[] = [
  taintTolerationScore,
  nodeAffinityScore,
  podTopologySpreadScore,
  interPodAffinityScore,
  nodeResourcesFitScore,
  balancedAllocationScore,
  imageLocalityScore,
];
