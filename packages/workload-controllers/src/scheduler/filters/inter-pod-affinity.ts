import type { NodeInfo } from "../../model/node-info.ts";
import type { AffinityTerm, PodInfo } from "../../model/pod-info.ts";
import type { ClusterView } from "../view.ts";
import { busy, final, type Filter } from "./interface.ts";

/**
 * The pod runs where the pods are that its required affinity asks for, and not where its required anti-affinity, or
 * that of pods which run already, forbids it. The first pod of a group that attracts itself may run anywhere that has
 * the topology.
 */
export const interPodAffinity: Filter = {
  name: "InterPodAffinity",
  wokenBy: ["pod-added", "pod-changed", "pod-removed", "node-added", "node-changed"],
  prepare(pod, view) {
    const repelled = domainsThatRepel(pod, view);
    const { affinity, antiAffinity } = pod;
    if (affinity.length === 0 && antiAffinity.length === 0 && repelled.size === 0) return undefined;
    const near = affinity.length === 0 ? [] : nodesWith(affinity, view);
    const attracting = affinity.map((term) => domainsOf(near, term));
    const forbidden = antiAffinity.map((term) => domainsOf(nodesWith([term], view), term));
    const isFirst =
      attracting.every((domains) => domains.size === 0) &&
      affinity.every((term) => term.matches(pod, view.namespaceLabels));
    return (node) => {
      const domainOf = ({ topologyKey }: AffinityTerm) => node.labels[topologyKey];
      if (affinity.some((term) => domainOf(term) === undefined)) return final(affinityReason);
      const isAttracted = affinity.every((term, i) => attracting[i]?.has(domainOf(term) ?? ""));
      if (!isAttracted && !isFirst) return final(affinityReason);
      const isForbidden = antiAffinity.some((term, i) => {
        const domain = domainOf(term);
        return domain !== undefined && forbidden[i]?.has(domain);
      });
      if (isForbidden) return busy(antiReason);
      return isRepelled(node, repelled) ? busy(existingReason) : undefined;
    };
  },
};

const affinityReason = "node(s) didn't match pod affinity rules";
const antiReason = "node(s) didn't match pod anti-affinity rules";
const existingReason = "node(s) didn't satisfy existing pods anti-affinity rules";

/** The nodes on which a pod is that all of these terms match. */
function nodesWith(terms: readonly AffinityTerm[], view: ClusterView): readonly NodeInfo[] {
  return view.nodes.filter((node) =>
    node.pods.values().some((other) => terms.every((term) => term.matches(other, view.namespaceLabels))),
  );
}

function domainsOf(nodes: readonly NodeInfo[], { topologyKey }: AffinityTerm): Set<string> {
  return new Set(nodes.flatMap(({ labels }) => labels[topologyKey] ?? []));
}

type Repelled = ReadonlyMap<string, ReadonlySet<string>>;

/** By topology key, the domains of pods whose anti-affinity forbids this pod. */
function domainsThatRepel(pod: PodInfo, view: ClusterView): Repelled {
  const repelled = new Map<string, Set<string>>();
  for (const node of view.nodes) {
    for (const other of node.withAffinity.values()) {
      for (const term of other.antiAffinity) {
        const domain = node.labels[term.topologyKey];
        if (domain === undefined || !term.matches(pod, view.namespaceLabels)) continue;
        repelled.getOrInsertComputed(term.topologyKey, () => new Set<string>()).add(domain);
      }
    }
  }
  return repelled;
}

function isRepelled({ labels }: NodeInfo, repelled: Repelled): boolean {
  for (const [key, domains] of repelled) {
    const domain = labels[key];
    if (domain !== undefined && domains.has(domain)) return true;
  }
  return false;
}
