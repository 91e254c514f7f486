import { formatIp, nthAddress, parseCidr } from "@causeway/foundation";
import type * as OpenStack from "@causeway/openstack";
import type { DryRunCloud } from "./cloud.ts";

/** What steps that make something leave in a cloud. */
export const own = ({ projectId }: DryRunCloud) => ({
  project_id: projectId,
  admin_state_up: true,
  tags: [] as string[],
});

/** An address of a subnet that represents the one that Neutron will choose. */
export function addressIn(cloud: DryRunCloud, subnetId: string | undefined, n: number): string {
  const cidr = parseCidr(cloud.subnets.find(({ id }) => id === subnetId)?.cidr ?? "");
  const address = cidr && nthAddress(cidr, n);
  return address ? formatIp(address) : `192.0.2.${n}`;
}

/**
 * The address of a floating IP that is still to be created, in the first subnet of its network that the project sees.
 */
export function floatingAddress(cloud: DryRunCloud, networkId: string): string {
  const subnet = cloud.subnets.find((s) => s.network_id === networkId && s.ip_version === 4);
  return addressIn(cloud, subnet?.id, 10 + cloud.floatingIps.length);
}

/** A server as Nova would show it after the create: ACTIVE, with an address that is made up. */
export function server(id: string, body: Pick<OpenStack.ServerCreate, "name" | "metadata" | "tags">): OpenStack.Server {
  return {
    id,
    name: body.name,
    status: "ACTIVE",
    tenant_id: "",
    user_id: "user",
    created: "",
    updated: "",
    hostId: "",
    addresses: { net: [{ addr: "10.6.0.10", version: 4, "OS-EXT-IPS:type": "fixed" }] },
    metadata: body.metadata ?? {},
    tags: body.tags ?? [],
    key_name: null,
    flavor: {},
    image: "",
  };
}

/** A port as Neutron would show it: `body` replaces the defaults; it is DOWN until a server has it. */
export function port(cloud: DryRunCloud, body: Partial<OpenStack.Port>): OpenStack.Port {
  const id = cloud.id("port");
  return {
    ...own(cloud),
    id,
    name: "",
    description: "",
    network_id: "",
    status: "DOWN",
    mac_address: `fa:${id}`,
    fixed_ips: [],
    device_id: "",
    device_owner: "",
    security_groups: [],
    allowed_address_pairs: [],
    ...body,
  };
}

/** A security group rule as Neutron would show it, with null for what the create leaves out. */
export function rule(cloud: DryRunCloud, body: OpenStack.SecurityGroupRuleCreate): OpenStack.SecurityGroupRule {
  return {
    id: cloud.id("rule"),
    ethertype: "IPv4",
    protocol: null,
    port_range_min: null,
    port_range_max: null,
    remote_group_id: null,
    remote_ip_prefix: null,
    description: "",
    project_id: cloud.projectId,
    ...body,
  };
}
