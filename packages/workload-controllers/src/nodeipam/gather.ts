import type { Informer, Node, ObjectKey } from "@causeway/kubernetes";

export interface Observed {
  readonly node: Node;
  /** The networks of other Nodes. */
  readonly taken: readonly string[];
  /** The networks of all pods, one of each family. */
  readonly clusterCIDRs: readonly string[];
}

export interface Caches {
  readonly nodes: Informer<Node>;
  readonly clusterCIDRs: readonly string[];
}

export function gather({ nodes, clusterCIDRs }: Caches, { name }: ObjectKey): Observed | undefined {
  const node = nodes.get({ namespace: "", name });
  if (!node) return undefined;
  const others = node.spec?.podCIDR === undefined ? nodes.list() : [];
  return { node, taken: others.flatMap(({ spec }) => spec?.podCIDRs ?? []), clusterCIDRs };
}
