import type { Node } from "@causeway/kubernetes";
import type { MemberCreate } from "@causeway/openstack";

const EXCLUDED = ["node.kubernetes.io/exclude-from-external-load-balancers", "node-role.kubernetes.io/master"];

/**
 * Nodes that may be members, as upstream chooses them: schedulable, Ready, not excluded by a label, not being deleted.
 * By name.
 */
export function memberNodes(nodes: readonly Node[]): Node[] {
  return nodes.filter(isMember).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function isMember({ metadata, spec, status }: Node): boolean {
  if (metadata.deletionTimestamp !== undefined || spec?.unschedulable === true) return false;
  if (EXCLUDED.some((label) => metadata.labels?.[label] !== undefined)) return false;
  const conditions = status?.conditions ?? [];
  return conditions.length > 0 && conditions.every(({ type, status: is }) => type !== "Ready" || is === "True");
}

/** One member for each node, at that node port. Nodes without an address give none. */
export function membersAt(nodes: readonly Node[], port: number | undefined): MemberCreate[] {
  if (port === undefined) return [];
  return nodes.flatMap((node) => {
    const address = nodeAddress(node);
    return address === undefined ? [] : [{ name: node.metadata.name, address, protocol_port: port }];
  });
}

/** The first InternalIP, else the first address of any type. */
function nodeAddress({ status }: Node): string | undefined {
  const addresses = status?.addresses ?? [];
  return (addresses.find(({ type }) => type === "InternalIP") ?? addresses[0])?.address;
}

/** What of a node decides whether and how it is a member. */
export function memberFacts(node: Node): string {
  return JSON.stringify([isMember(node), nodeAddress(node)]);
}
