import { isIPv4 } from "node:net";
import type { OpenStackFloatingIPPool } from "@causeway/api";
import { immutable } from "./fields.ts";

/** Why an OpenStackFloatingIPPool is refused. */
export function floatingIpPoolRefusals(
  after: OpenStackFloatingIPPool,
  before: OpenStackFloatingIPPool | undefined,
): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  return [...ownRefusals(after), ...(before ? changes(after, before) : [])];
}

function ownRefusals({ spec }: OpenStackFloatingIPPool): string[] {
  const given = spec.preAllocatedFloatingIPs ?? [];
  const at = (index: number): string => `spec.preAllocatedFloatingIPs[${index}]`;
  return [
    ...(spec.maxIPs !== undefined && spec.maxIPs < 0 ? ["spec.maxIPs: Invalid value: must be 0 or more"] : []),
    ...given.flatMap((address, index) => [
      ...(isIPv4(address) ? [] : [`${at(index)}: Invalid value: ${JSON.stringify(address)} is not an IPv4 address`]),
      ...(given.indexOf(address) < index ? [`${at(index)}: Duplicate value: ${JSON.stringify(address)}`] : []),
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
