import type { NodeInfo } from "../../model/node-info.ts";
import type { AffinityTerm, PodInfo } from "../../model/pod-info.ts";
import type { ClusterView } from "../view.ts";
import { highest, type Score } from "./interface.ts";

/** What the required affinity of a pod that runs counts for towards a pod that it attracts (hardPodAffinityWeight). */
const requiredWeight = 1;

/** Nodes near pods that the pod prefers, and that prefer the pod, are better; near those that either avoids, worse. */
export const interPodAffinityScore: Score = {
  name: "InterPodAffinity",
  weight: 2,
  rate(pod, nodes, view) {
    const sums = weigh(pod, view);
    if (sums.size === 0) return undefined;
    const raw = nodes.map(({ labels }) => {
      let sum = 0;
      for (const [key, domains] of sums) sum += domains.get(labels[key] ?? "") ?? 0;
      return sum;
    });
    const [least, largest] = [Math.min(...raw), Math.max(...raw)];
    return raw.map((sum) => (largest === least ? 0 : Math.floor((highest * (sum - least)) / (largest - least))));
  },
};

/** By topology key and domain. */
type Sums = Map<string, Map<string, number>>;

function weigh(pod: PodInfo, view: ClusterView): Sums {
  const sums: Sums = new Map();
  const prefers = pod.preferredAffinity.length + pod.preferredAntiAffinity.length > 0;
  for (const node of view.nodes) {
    const others = prefers ? node.pods : node.withAffinity;
    for (const other of others.values()) weighPair(pod, { other, node, view, sums });
  }
  return sums;
}

interface Pair {
  readonly other: PodInfo;
  readonly node: NodeInfo;
  readonly view: ClusterView;
  readonly sums: Sums;
}

function weighPair(pod: PodInfo, { other, node, view, sums }: Pair): void {
  const weighTerms = (terms: readonly AffinityTerm[], target: PodInfo, factor: number) => {
    for (const term of terms) {
      const domain = node.labels[term.topologyKey];
      if (domain === undefined || !term.matches(target, view.namespaceLabels)) continue;
      const domains = sums.getOrInsertComputed(term.topologyKey, () => new Map<string, number>());
      domains.set(domain, (domains.get(domain) ?? 0) + factor * term.weight);
    }
  };
  weighTerms(pod.preferredAffinity, other, 1);
  weighTerms(pod.preferredAntiAffinity, other, -1);
  weighTerms(other.affinity, pod, requiredWeight);
  weighTerms(other.preferredAffinity, pod, 1);
  weighTerms(other.preferredAntiAffinity, pod, -1);
}
