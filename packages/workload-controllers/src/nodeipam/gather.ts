import type { Informer, Node, ObjectKey } from "@causeway/kubernetes";

/** A Node, and the networks that it cannot get. */
export interface Observed {
  readonly node: Node;
  /** The networks of other Nodes. */
  readonly taken: readonly string[];
  /** The networks of all pods, one of each family. */
  readonly clusterCIDRs: readonly string[];
}

/** What gather reads, and the cluster's pod networks such as `10.244.0.0/16`. */
export interface Caches {
  readonly nodes: Informer<Node>;
  readonly clusterCIDRs: readonly string[];
}

/** Undefined: the Node does not exist. Other Nodes are read only for a Node without a network. */
export function gather({ nodes, clusterCIDRs }: Caches, { name }: ObjectKey): Observed | undefined {
  const node = nodes.get({ namespace: "", name });
  if (!node) return undefined;
  const others = node.spec?.podCIDR === undefined ? nodes.list() : [];
  return { node, taken: others.flatMap(({ spec }) => spec?.podCIDRs ?? []), clusterCIDRs };
}
