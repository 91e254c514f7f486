import type { Kernel, Table } from "../kernel/interface.ts";

/** What all Neutron resources carry; rows have the wire's own field names. */
export interface Resource {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly revision_number: number;
}

/** A network's row. Its subnets are found by their `network_id`. */
export interface Network extends Resource {
  readonly admin_state_up: boolean;
  readonly mtu: number;
  readonly shared: boolean;
  readonly "router:external": boolean;
  readonly is_default: boolean;
  readonly port_security_enabled: boolean;
  readonly dns_domain: string;
  readonly availability_zone_hints: readonly string[];
  readonly "provider:network_type": string;
  readonly "provider:physical_network": string | null;
  readonly "provider:segmentation_id": number | null;
  /** Undefined in a state that an older version wrote: none. */
  readonly qos_policy_id?: string | null;
}

/** A flavor of Neutron: the service profiles (drivers) that an operator offers for a service type. */
export interface ServiceFlavor {
  readonly id: string;
  /** "": of no project. */
  readonly project_id: string;
  readonly revision_number: number;
  readonly name: string;
  readonly description: string;
  readonly service_type: string;
  readonly enabled: boolean;
  /** Ids of service profiles. */
  readonly profiles: readonly string[];
}

/** A profile of a service flavor: a driver and its options. */
export interface ServiceProfile {
  readonly id: string;
  readonly project_id: string;
  readonly revision_number: number;
  readonly description: string;
  readonly driver: string;
  readonly metainfo: string;
  readonly enabled: boolean;
}

/** A segment of a network: its type, physical network and segmentation ID. */
export interface Segment {
  readonly id: string;
  /** "": segments belong to no project. */
  readonly project_id: string;
  readonly network_id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly physical_network: string | null;
  readonly network_type: string;
  readonly segmentation_id: number | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly revision_number: number;
}

/** A range of addresses that Neutron allocates from, ends included. */
export interface Pool {
  readonly start: string;
  readonly end: string;
}

/** A static route of a subnet or router. */
export interface Route {
  readonly destination: string;
  readonly nexthop: string;
}

/** A subnet; `cidr` is in canonical form. IPv6 modes are null on IPv4 subnets. */
export interface Subnet extends Resource {
  readonly network_id: string;
  readonly ip_version: 4 | 6;
  readonly cidr: string;
  readonly gateway_ip: string | null;
  readonly allocation_pools: readonly Pool[];
  readonly enable_dhcp: boolean;
  readonly dns_nameservers: readonly string[];
  readonly host_routes: readonly Route[];
  readonly ipv6_ra_mode: string | null;
  readonly ipv6_address_mode: string | null;
  readonly service_types: readonly string[];
  /** Undefined in a state that an older version wrote: none. */
  readonly subnetpool_id?: string | null;
  readonly segment_id?: string | null;
  readonly dns_publish_fixed_ip?: boolean;
}

/** An address of a port, and the subnet that it is from. */
export interface FixedIp {
  readonly subnet_id: string;
  readonly ip_address: string;
}

/** Further addresses that a port may send from; `ip_address` may be a CIDR. */
export interface AddressPair {
  readonly mac_address: string;
  readonly ip_address: string;
}

/** An option that DHCP gives to this port alone. */
export interface DhcpOption {
  readonly opt_name: string;
  readonly opt_value: string;
  readonly ip_version: number;
}

/** A port. Its lists of addresses are kept twice: as the wire has them, and as the table's indexes need them. */
export interface Port extends Resource {
  readonly network_id: string;
  readonly mac_address: string;
  readonly admin_state_up: boolean;
  readonly status: string;
  readonly device_id: string;
  readonly device_owner: string;
  readonly fixed_ips: readonly FixedIp[];
  readonly security_groups: readonly string[];
  readonly allowed_address_pairs: readonly AddressPair[];
  readonly port_security_enabled: boolean;
  readonly extra_dhcp_opts: readonly DhcpOption[];
  readonly dns_name: string;
  readonly "binding:vnic_type": string;
  readonly "binding:profile": Readonly<Record<string, unknown>>;
  readonly "binding:host_id": string;
  readonly qos_policy_id?: string | null;
  /** The value of `ip_allocation`; undefined: by its addresses. */
  readonly ip_allocation?: string;
  /** Every address as "subnet|address", and the addresses alone: for the table's indexes. Not on the wire. */
  readonly allocations: readonly string[];
  readonly addresses: readonly string[];
  /** Ids of the subnets of `fixed_ips`: for the table's index. */
  readonly subnet_ids: readonly string[];
}

/** A router's external gateway. */
export interface GatewayInfo {
  readonly network_id: string;
  readonly external_fixed_ips: readonly FixedIp[];
  readonly enable_snat: boolean;
}

/** A router; its interfaces are ports whose `device_id` is the router. */
export interface Router extends Resource {
  readonly admin_state_up: boolean;
  readonly external_gateway_info: GatewayInfo | null;
  readonly routes: readonly Route[];
  readonly availability_zone_hints: readonly string[];
}

/** A floating IP; `port_id` and `fixed_ip_address` are null while it is not associated. */
export interface FloatingIp extends Resource {
  readonly floating_ip_address: string;
  readonly floating_network_id: string;
  readonly router_id: string | null;
  readonly port_id: string | null;
  readonly fixed_ip_address: string | null;
  readonly status: string;
  readonly dns_domain: string;
  readonly dns_name: string;
  readonly qos_policy_id?: string | null;
}

/** A security group; its rules are rows of their own. */
export interface SecurityGroup extends Resource {
  readonly stateful: boolean;
}

/** A rule: what a group's ports may receive ("ingress") or send ("egress"). null means any. */
export interface SecurityGroupRule {
  readonly id: string;
  readonly project_id: string;
  readonly security_group_id: string;
  readonly ethertype: "IPv4" | "IPv6";
  readonly direction: string;
  readonly protocol: string | null;
  readonly port_range_min: number | null;
  readonly port_range_max: number | null;
  readonly remote_ip_prefix: string | null;
  readonly remote_group_id: string | null;
  readonly remote_address_group_id: string | null;
  readonly description: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly revision_number: number;
}

/** A port that is a VLAN of a trunk. */
export interface SubPort {
  readonly port_id: string;
  readonly segmentation_type: string;
  readonly segmentation_id: number;
}

/** A trunk: a parent port that has the traffic of other ports, tagged. */
export interface Trunk extends Resource {
  readonly port_id: string;
  readonly admin_state_up: boolean;
  readonly status: string;
  readonly sub_ports: readonly SubPort[];
  /** Ids of the ports of `sub_ports`: for the table's index. */
  readonly sub_port_ids: readonly string[];
}

/** A list of CIDRs for rules of security groups. */
export interface AddressGroup extends Resource {
  readonly addresses: readonly string[];
}

/** Within a scope addresses do not overlap, so traffic is routed without NAT. */
export interface AddressScope extends Resource {
  readonly ip_version: 4 | 6;
}

/** Prefixes that subnets are allocated from. Lengths are of the subnets' CIDRs. */
export interface SubnetPool extends Resource {
  readonly prefixes: readonly string[];
  readonly ip_version: 4 | 6;
  readonly default_prefixlen: number;
  readonly min_prefixlen: number;
  readonly max_prefixlen: number;
  readonly default_quota: number | null;
  readonly address_scope_id: string | null;
  readonly is_default: boolean;
}

/** A QoS policy; its rules are rows of their own. */
export interface QosPolicy extends Resource {
  readonly is_default: boolean;
}

/** One rule of a QoS policy; `values` are the wire fields of its type. */
export interface QosRule {
  readonly id: string;
  readonly policy_id: string;
  readonly type: string;
  readonly values: Readonly<Record<string, string | number>>;
}

/** Who may use an object of another project. */
export interface RbacPolicy {
  readonly id: string;
  readonly project_id: string;
  readonly object_type: string;
  readonly object_id: string;
  readonly action: string;
  /** A project's id, or "*". */
  readonly target_tenant: string;
  readonly revision_number: number;
}

/** A port of a floating IP that is forwarded to a port of a server. */
export interface PortForwarding {
  readonly id: string;
  readonly floatingip_id: string;
  readonly description: string;
  readonly protocol: string;
  readonly external_port: number;
  readonly internal_port: number;
  readonly internal_ip_address: string;
  readonly internal_port_id: string;
}

/** All of Neutron's state, in the kernel's tables. */
export interface NetworkState {
  readonly kernel: Kernel;
  readonly networks: Table<Network>;
  readonly segments: Table<Segment>;
  readonly serviceFlavors: Table<ServiceFlavor>;
  readonly serviceProfiles: Table<ServiceProfile>;
  readonly subnets: Table<Subnet>;
  readonly ports: Table<Port>;
  readonly routers: Table<Router>;
  readonly floatingIps: Table<FloatingIp>;
  readonly groups: Table<SecurityGroup>;
  readonly rules: Table<SecurityGroupRule>;
  readonly trunks: Table<Trunk>;
  readonly addressGroups: Table<AddressGroup>;
  readonly addressScopes: Table<AddressScope>;
  readonly subnetPools: Table<SubnetPool>;
  readonly qosPolicies: Table<QosPolicy>;
  readonly qosRules: Table<QosRule>;
  readonly rbac: Table<RbacPolicy>;
  readonly forwardings: Table<PortForwarding>;
  /** Where the last allocation of a subnet was; a hint that makes the next one cheap, safe to forget. */
  readonly cursors: Map<string, bigint>;
}

/** Neutron's tables, with the indexes that lists and checks use. */
export function networkState(kernel: Kernel): NetworkState {
  const owned = ["project_id", "name"];
  const portIndexes = [...owned, "network_id", "device_id", "allocations", "addresses", "subnet_ids"];
  return {
    kernel,
    networks: kernel.table("network", owned),
    serviceFlavors: kernel.table("_network_flavor", ["project_id", "name"]),
    serviceProfiles: kernel.table("_service_profile", ["project_id"]),
    segments: kernel.table("_segment", ["project_id", "network_id", "network_type"]),
    subnets: kernel.table("subnet", [...owned, "network_id", "subnetpool_id"]),
    ports: kernel.table("port", [...portIndexes, "mac_address", "security_groups"]),
    routers: kernel.table("router", owned),
    floatingIps: kernel.table("floatingip", [...owned, "port_id", "router_id", "floating_ip_address"]),
    groups: kernel.table("security_group", owned),
    rules: kernel.table("security_group_rule", ["project_id", "security_group_id", "remote_group_id"]),
    trunks: kernel.table("trunk", [...owned, "port_id", "sub_port_ids"]),
    addressGroups: kernel.table("address_group", owned),
    addressScopes: kernel.table("address_scope", owned),
    subnetPools: kernel.table("subnetpool", [...owned, "address_scope_id"]),
    qosPolicies: kernel.table("qos_policy", owned),
    qosRules: kernel.table("_qos_rule", ["policy_id"]),
    rbac: kernel.table("rbac_policy", ["project_id", "object_id"]),
    forwardings: kernel.table("port_forwarding", ["floatingip_id", "internal_port_id"]),
    cursors: new Map(),
  };
}

/** The fields every new resource begins with. */
export function born(
  kernel: Kernel,
  projectId: string,
  given: { name?: string | undefined; description?: string | undefined },
): Resource {
  const now = kernel.timestamp();
  const { name = "", description = "" } = given;
  const base = { id: kernel.newId(), project_id: projectId, name, description, tags: [] };
  return { ...base, created_at: now, updated_at: now, revision_number: 1 };
}

/** What a change adds to a row by itself: its instant and its revision. */
export function touched(
  kernel: Kernel,
  row: { readonly revision_number: number },
): { updated_at: string; revision_number: number } {
  return { updated_at: kernel.timestamp(), revision_number: row.revision_number + 1 };
}

/** Only what was given: table rows never hold undefined. */
export function defined<T extends object>(change: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(change).filter(([key, value]) => value !== undefined && key !== "tenant_id");
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}
