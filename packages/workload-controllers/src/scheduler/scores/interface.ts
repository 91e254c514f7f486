import type { NodeInfo } from "../../model/node-info.ts";
import type { PodInfo } from "../../model/pod-info.ts";
import type { ClusterView } from "../view.ts";

/** The best rating of a score; the worst is 0 (upstream's MaxNodeScore). */
export const highest = 100;

/** One rule about which of several nodes is better. */
export interface Score {
  readonly name: string;
  readonly weight: number;
  /** From 0 to 100 for each of the nodes. Undefined: the rule has no say about this pod. */
  readonly rate: (pod: PodInfo, nodes: readonly NodeInfo[], view: ClusterView) => readonly number[] | undefined;
}

/** The largest becomes 100, the others in proportion; or the other way round. */
export function inProportion(values: readonly number[], reverse = false): number[] {
  const largest = Math.max(0, ...values);
  if (largest === 0) return values.map(() => (reverse ? highest : 0));
  const scaled = values.map((value) => Math.floor((value * highest) / largest));
  return reverse ? scaled.map((value) => highest - value) : scaled;
}
