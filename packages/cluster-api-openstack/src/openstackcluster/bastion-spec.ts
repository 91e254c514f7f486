import { createHash } from "node:crypto";
import type { OpenStackCluster, OpenStackServerSpec, PortSpec } from "@causeway/api";
import type { Network, SecurityGroup, Subnet } from "@causeway/openstack";

/** Annotation of the bastion's OpenStackServer: the hash of the spec that it was created with. */
export const bastionHashAnnotation = "causeway.dev/bastion-hash";

interface Place {
  readonly network: Network;
  readonly subnets: readonly Subnet[];
  readonly group: SecurityGroup | undefined;
}

/**
 * The bastion as an OpenStackServer: like a machine's, with the cluster's network and the bastion's security group for
 * what it leaves out.
 */
export function bastionSpec({ spec }: OpenStackCluster, place: Place): OpenStackServerSpec | undefined {
  const { bastion } = spec;
  if (!bastion?.spec) return undefined;
  const { flavor, providerID: _id, identityRef = spec.identityRef, sshKeyName = "", ports, ...shared } = bastion.spec;
  const tags = [...new Set([...(shared.tags ?? []), ...(spec.tags ?? [])])];
  return {
    ...shared,
    ...(flavor.id === undefined ? { flavor: flavor.filter?.name ?? "" } : { flavorID: flavor.id }),
    identityRef,
    sshKeyName,
    ports: (ports?.length ? ports : [{}]).map((port) => portOf(port, place)),
    ...(tags.length > 0 ? { tags } : {}),
    ...(bastion.availabilityZone ? { availabilityZone: bastion.availabilityZone } : {}),
  };
}

function portOf(port: PortSpec, { network, subnets, group }: Place): PortSpec {
  const secured = port.enablePortSecurity !== false && network.port_security_enabled !== false;
  const groups = port.securityGroups?.length || !secured || !group ? {} : { securityGroups: [{ id: group.id }] };
  if (port.network) return { ...port, ...groups };
  const fixedIPs = port.fixedIPs?.length ? port.fixedIPs : subnets.map(({ id }) => ({ subnet: { id } }));
  return { ...port, ...groups, network: { id: network.id }, fixedIPs };
}

/**
 * 16 hex digits that are equal for equal specs, whatever the order of their keys. Another hash: the bastion is
 * recreated.
 */
export function bastionHash(spec: OpenStackServerSpec): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(spec)))
    .digest("hex")
    .slice(0, 16);
}

/** The same value with the keys of every object in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, child]) => [key, sorted(child)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
