import type { NodeInfo } from "../../model/node-info.ts";
import type { PodInfo } from "../../model/pod-info.ts";
import { busy, final, type Failure, type Filter } from "./interface.ts";
import { countSelected, spreadConstraints, type SpreadConstraint } from "./spread-constraints.ts";

const reason = "node(s) didn't match pod topology spread constraints";

/** No domain of a DoNotSchedule constraint gets more than maxSkew pods ahead of the one that has the fewest. */
export const podTopologySpread: Filter = {
  name: "PodTopologySpread",
  wokenBy: ["pod-added", "pod-changed", "pod-removed", "node-added", "node-changed"],
  prepare(pod, view) {
    const constraints = spreadConstraints(pod, "DoNotSchedule");
    if (constraints.length === 0) return undefined;
    const nodes = view.nodes.filter(({ labels }) =>
      constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined),
    );
    const counted = constraints.map((constraint) => countDomains(constraint, { pod, nodes }));
    return (node) => {
      for (const domains of counted) {
        const failure = domains(node);
        if (failure) return failure;
      }
      return undefined;
    };
  },
};

interface Among {
  readonly pod: PodInfo;
  /** Those that have the topology keys of all constraints. */
  readonly nodes: readonly NodeInfo[];
}

function countDomains(constraint: SpreadConstraint, { pod, nodes }: Among) {
  const { topologyKey, maxSkew, minDomains, selects } = constraint;
  const counts = new Map<string, number>();
  for (const node of nodes) {
    if (!constraint.includes(node)) continue;
    const domain = node.labels[topologyKey] ?? "";
    counts.set(domain, (counts.get(domain) ?? 0) + countSelected(node, pod.namespace, selects));
  }
  let fewest = Number.POSITIVE_INFINITY;
  for (const count of counts.values()) fewest = Math.min(fewest, count);
  if (counts.size < minDomains) fewest = 0;
  const self = selects(pod.labels) ? 1 : 0;
  return (node: NodeInfo): Failure | undefined => {
    const domain = node.labels[topologyKey];
    if (domain === undefined) return final(`${reason} (missing required label)`);
    const skew = (counts.get(domain) ?? 0) + self - fewest;
    return skew > maxSkew ? busy(reason) : undefined;
  };
}
