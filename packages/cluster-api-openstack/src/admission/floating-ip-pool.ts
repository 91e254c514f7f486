import { isIPv4 } from "node:net";
import type { OpenStackFloatingIPPool } from "@causeway/api";
import { immutable, quoted, firstProblems } from "./fields.ts";

/** Why an OpenStackFloatingIPPool is refused. */
export function floatingIpPoolRefusals(
  after: OpenStackFloatingIPPool,
  before: OpenStackFloatingIPPool | undefined,
): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  return [...firstProblems(ownRefusals(after)), ...(before ? changes(after, before) : [])];
}

/** Each is compared with the floating IPs of the project in every reconcile. */
const MOST_ADDRESSES = 1024;

function ownRefusals({ spec }: OpenStackFloatingIPPool): string[] {
  const given = spec.preAllocatedFloatingIPs ?? [];
  const at = (index: number): string => `spec.preAllocatedFloatingIPs[${index}]`;
  if (given.length > MOST_ADDRESSES)
    return [`spec.preAllocatedFloatingIPs: Too many: ${given.length}: must have at most ${MOST_ADDRESSES} items`];
  const seen = new Set<string>();
  const isRepeated = (address: string): boolean => seen.size === seen.add(address).size;
  return [
    ...(spec.maxIPs !== undefined && spec.maxIPs < 0 ? ["spec.maxIPs: Invalid value: must be 0 or more"] : []),
    ...given.flatMap((address, index) => [
      ...(isIPv4(address) ? [] : [`${at(index)}: Invalid value: ${quoted(address)} is not an IPv4 address`]),
      ...(isRepeated(address) ? [`${at(index)}: Duplicate value: ${quoted(address)}`] : []),
    ]),
  ];
}

/**
 * The pool's floating IPs are of the network that was found first. It may be named by its ID later; another one would
 * have no effect.
 */
function changes({ spec }: OpenStackFloatingIPPool, before: OpenStackFloatingIPPool): string[] {
  const id = before.status?.floatingIPNetwork?.id;
  const network = spec.floatingIPNetwork;
  const isSame = id === undefined || (network?.id === id && network.filter === undefined);
  return isSame
    ? []
    : immutable(
        "spec.floatingIPNetwork",
        before.spec.floatingIPNetwork,
        network,
        `may only become the ID ${id}, of which the pool's addresses are; create another pool`,
      );
}
