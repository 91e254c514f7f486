import { formatCidr, parseCidr, type Cidr } from "@causeway/foundation";
import type { Plan } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** kube-controller-manager's --node-cidr-mask-size-ipv4 and -ipv6. */
const MASKS = { 4: 24, 6: 64 } as const;

/**
 * Assigns a Node without podCIDR the first free network of each family. A Node that has one keeps it: the field is
 * immutable.
 */
export function plan({ node, taken, clusterCIDRs }: Observed): Plan<Step, undefined> {
  const { name, uid = "", deletionTimestamp } = node.metadata;
  if (node.spec?.podCIDR !== undefined || deletionTimestamp !== undefined) return { steps: [], status: undefined };
  const podCIDRs = clusterCIDRs.map((text) => freeNetwork(text, new Set(taken)));
  const free = podCIDRs.filter((cidr) => cidr !== undefined);
  if (free.length < podCIDRs.length) {
    const message = `Node ${name} status is now: CIDRNotAvailable`;
    return { steps: [], status: undefined, events: [{ type: "Normal", reason: "CIDRNotAvailable", message }] };
  }
  return { steps: [{ type: "assign", name, uid, podCIDRs: free }], status: undefined };
}

/**
 * The first network of a node's size that is free; undefined: all are. Linear in
 * the number of those that are in use.
 */
function freeNetwork(cluster: string, taken: ReadonlySet<string>): string | undefined {
  const cidr = parseCidr(cluster);
  if (!cidr) return undefined;
  const prefix = Math.max(cidr.prefix, MASKS[cidr.version]);
  const size = 1n << BigInt((cidr.version === 4 ? 32 : 128) - prefix);
  const count = 1n << BigInt(prefix - cidr.prefix);
  for (let n = 0n; n < count; n += 1n) {
    const network = cidr.network + n * size;
    const candidate: Cidr = { version: cidr.version, address: network, network, prefix };
    const text = formatCidr(candidate);
    if (!taken.has(text)) return text;
  }
  return undefined;
}
