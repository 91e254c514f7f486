import type { Node } from "@causeway/kubernetes";

/** kube-controller-manager's rates: one node in 10 s, one in 100 s where most of a large zone is not ready. */
const interval = 10_000;
const slowInterval = 100_000;
const unhealthyShare = 0.55;
const largeZone = 50;

/**
 * Spaces the nodes of a zone whose pods are evicted: many nodes that fail together are rather a failure of the network.
 */
export class Zones {
  readonly #last = new Map<string, number>();

  /** When the next node of a zone may be tainted; undefined: none while the zone is as it is. */
  nextTurn(node: Node, nodes: readonly Node[]): number | undefined {
    const zone = zoneOf(node);
    const members = nodes.filter((other) => zoneOf(other) === zone);
    const unready = members.filter((other) => !isReady(other)).length;
    // No node of the whole cluster reports: it is the control plane that is cut off.
    if (nodes.length > 1 && nodes.every((other) => !isReady(other))) return undefined;
    const isPartial = unready > 2 && unready < members.length && unready / members.length >= unhealthyShare;
    if (isPartial && members.length <= largeZone) return undefined;
    const last = this.#last.get(zone);
    return last === undefined ? 0 : last + (isPartial ? slowInterval : interval);
  }

  used(node: Node, now: number): void {
    this.#last.set(zoneOf(node), now);
  }
}

function zoneOf({ metadata }: Node): string {
  const { labels = {} } = metadata;
  return `${labels["topology.kubernetes.io/region"] ?? ""}:${labels["topology.kubernetes.io/zone"] ?? ""}`;
}

function isReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True");
}
