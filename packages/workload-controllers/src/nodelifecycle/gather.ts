import type { Informer, Lease, Node, ObjectKey, Pod } from "@causeway/kubernetes";
import type { Observed } from "./plan.ts";
import type { Zones } from "./zones.ts";

/** What is known of nodes; the leases are those that kubelets renew. */
export interface NodeCaches {
  readonly nodes: Informer<Node>;
  readonly leases: Informer<Lease>;
  readonly pods: Informer<Pod>;
}

/** The index of pods by node. */
export const byNode = "nodeName";

/**
 * When each kubelet was last heard of: by its Lease, or by the status of its node. Times of other clocks are not
 * compared.
 */
export class Heartbeats {
  readonly #last = new Map<string, { readonly sign: string; readonly at: number }>();

  heardAt(node: Node, lease: Lease | undefined, now: number): number {
    const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
    const sign = `${lease?.spec?.renewTime ?? ""} ${ready?.lastHeartbeatTime ?? ""}`;
    const known = this.#last.get(node.metadata.name);
    if (known?.sign === sign) return known.at;
    this.#last.set(node.metadata.name, { sign, at: now });
    return now;
  }

  forget(name: string): void {
    this.#last.delete(name);
  }
}

/** Undefined: the Node does not exist. */
export function gather(
  key: ObjectKey,
  from: { readonly caches: NodeCaches; readonly heartbeats: Heartbeats; readonly zones: Zones; readonly now: number },
): Observed | undefined {
  const { caches, heartbeats, zones, now } = from;
  const node = caches.nodes.get({ namespace: "", name: key.name });
  if (!node) return undefined;
  const lease = caches.leases.get({ namespace: "kube-node-lease", name: key.name });
  return {
    node,
    heardAt: heartbeats.heardAt(node, lease, now),
    pods: caches.pods.byIndex(byNode, key.name),
    evictionAt: zones.nextTurn(node, caches.nodes.list()),
  };
}
