/** Neutron, wire-true: https://docs.openstack.org/api-ref/network/v2/ */

/** A network of Neutron. */
export interface Network {
  id: string;
  name: string;
  description: string;
  project_id: string;
  status: "ACTIVE" | "DOWN" | "BUILD" | "ERROR";
  admin_state_up: boolean;
  mtu: number;
  shared: boolean;
  "router:external": boolean;
  port_security_enabled?: boolean;
  subnets: string[];
  tags: string[];
  revision_number?: number;
  created_at?: string;
  updated_at?: string;
}
/** What a network is created with. */
export interface NetworkCreate {
  name: string;
  description?: string;
  mtu?: number;
  admin_state_up?: boolean;
  port_security_enabled?: boolean;
  "router:external"?: boolean;
  shared?: boolean;
}

/** A subnet: https://docs.openstack.org/api-ref/network/v2/#subnets . */
export interface Subnet {
  id: string;
  name: string;
  description: string;
  project_id: string;
  network_id: string;
  ip_version: 4 | 6;
  cidr: string;
  gateway_ip: string | null;
  enable_dhcp: boolean;
  dns_nameservers: string[];
  allocation_pools: { start: string; end: string }[];
  host_routes: { destination: string; nexthop: string }[];
  tags: string[];
  ipv6_address_mode?: string | null;
  ipv6_ra_mode?: string | null;
}
/** What a subnet is created with. */
export interface SubnetCreate {
  name: string;
  network_id: string;
  ip_version: 4 | 6;
  cidr?: string;
  description?: string;
  gateway_ip?: string | null;
  enable_dhcp?: boolean;
  subnetpool_id?: string;
  prefixlen?: number;
  dns_nameservers?: string[];
  allocation_pools?: { start: string; end: string }[];
  host_routes?: { destination: string; nexthop: string }[];
}

/** The external network of a router, and its addresses there. */
export interface ExternalGatewayInfo {
  network_id: string;
  enable_snat?: boolean;
  external_fixed_ips?: { subnet_id?: string; ip_address?: string }[];
}
/** A router: https://docs.openstack.org/api-ref/network/v2/#routers-routers . */
export interface Router {
  id: string;
  name: string;
  description: string;
  project_id: string;
  status: string;
  admin_state_up: boolean;
  external_gateway_info: ExternalGatewayInfo | null;
  routes: { destination: string; nexthop: string }[];
  tags: string[];
}
/** What a router is created with. */
export interface RouterCreate {
  name: string;
  description?: string;
  admin_state_up?: boolean;
  external_gateway_info?: ExternalGatewayInfo | null;
  routes?: { destination: string; nexthop: string }[];
}

/** An address of a port, and its subnet. */
export interface FixedIp {
  subnet_id: string;
  ip_address: string;
}
/** Addresses that a port may send from in addition to its own. */
export interface AddressPair {
  ip_address: string;
  mac_address?: string;
}
/** A port: https://docs.openstack.org/api-ref/network/v2/#ports . */
export interface Port {
  id: string;
  name: string;
  description: string;
  project_id: string;
  network_id: string;
  status: "ACTIVE" | "DOWN" | "BUILD" | "N/A";
  admin_state_up: boolean;
  mac_address: string;
  fixed_ips: FixedIp[];
  device_id: string;
  device_owner: string;
  security_groups: string[];
  allowed_address_pairs: AddressPair[];
  port_security_enabled?: boolean;
  tags: string[];
  "binding:vnic_type"?: string;
  "binding:host_id"?: string;
  qos_policy_id?: string | null;
  trunk_details?: { trunk_id: string; sub_ports: { port_id: string; segmentation_id: number }[] };
  revision_number?: number;
  created_at?: string;
}
/** What a port is created with. */
export interface PortCreate {
  name: string;
  network_id: string;
  description?: string;
  fixed_ips?: { subnet_id?: string; ip_address?: string }[];
  security_groups?: string[];
  admin_state_up?: boolean;
  mac_address?: string;
  allowed_address_pairs?: AddressPair[];
  port_security_enabled?: boolean;
  device_id?: string;
  device_owner?: string;
  "binding:vnic_type"?: string;
  "binding:host_id"?: string;
  "binding:profile"?: Record<string, unknown>;
  propagate_uplink_status?: boolean;
  qos_policy_id?: string | null;
  tags?: string[];
}

/** A security group: https://docs.openstack.org/api-ref/network/v2/#security-groups-security-groups . */
export interface SecurityGroup {
  id: string;
  name: string;
  description: string;
  project_id: string;
  stateful?: boolean;
  security_group_rules: SecurityGroupRule[];
  tags: string[];
}
/** What a security group is created with. */
export interface SecurityGroupCreate {
  name: string;
  description?: string;
  stateful?: boolean;
}
/** A rule of a security group. */
export interface SecurityGroupRule {
  id: string;
  security_group_id: string;
  direction: "ingress" | "egress";
  ethertype: "IPv4" | "IPv6";
  protocol: string | null;
  port_range_min: number | null;
  port_range_max: number | null;
  remote_group_id: string | null;
  remote_ip_prefix: string | null;
  description: string;
  project_id: string;
}
/** What a rule is created with. */
export interface SecurityGroupRuleCreate {
  security_group_id: string;
  direction: "ingress" | "egress";
  ethertype?: "IPv4" | "IPv6";
  protocol?: string | null;
  port_range_min?: number | null;
  port_range_max?: number | null;
  remote_group_id?: string | null;
  remote_ip_prefix?: string | null;
  remote_address_group_id?: string | null;
  description?: string;
}

/** A floating IP: https://docs.openstack.org/api-ref/network/v2/#floating-ips-floatingips . */
export interface FloatingIp {
  id: string;
  description: string;
  project_id: string;
  floating_network_id: string;
  floating_ip_address: string;
  fixed_ip_address: string | null;
  port_id: string | null;
  router_id: string | null;
  status: "ACTIVE" | "DOWN" | "ERROR";
  tags: string[];
}
/** What a floating IP is created with. */
export interface FloatingIpCreate {
  floating_network_id: string;
  description?: string;
  port_id?: string;
  fixed_ip_address?: string;
  floating_ip_address?: string;
  subnet_id?: string;
}

/** Resource collections whose tags can be set: PUT /v2.0/{collection}/{id}/tags. */
export type Taggable =
  | "networks"
  | "subnets"
  | "routers"
  | "ports"
  | "security-groups"
  | "floatingips"
  | "trunks"
  | "subnetpools"
  | "policies";
