/** Neutron's extensions, wire-true: https://docs.openstack.org/api-ref/network/v2/ */
import type { CallOptions, Collection, Query, ReadOnlyCollection } from "./collection.ts";
import type { Network, NetworkCreate, Router, Subnet, SubnetCreate, Taggable } from "./network.ts";

/** A port of a trunk, and its segment. */
export interface SubPort {
  port_id: string;
  segmentation_type: "vlan" | "inherit";
  segmentation_id: number;
}
/** A port that has other ports. */
export interface Trunk {
  id: string;
  name: string;
  description: string;
  project_id: string;
  port_id: string;
  status: "ACTIVE" | "DOWN" | "BUILD" | "DEGRADED" | "ERROR";
  admin_state_up: boolean;
  sub_ports: SubPort[];
  tags: string[];
}
/** What a trunk is created with. */
export interface TrunkCreate {
  port_id: string;
  name?: string;
  description?: string;
  admin_state_up?: boolean;
  sub_ports?: SubPort[];
}
/** Addresses that security group rules name together. */
export interface AddressGroup {
  id: string;
  name: string;
  description: string;
  project_id: string;
  /** CIDRs. */
  addresses: string[];
}
/** What an address group is created with. */
export interface AddressGroupCreate {
  name?: string;
  description?: string;
  addresses?: string[];
}
/** A port of a floating IP that leads to a port of an internal address. */
export interface PortForwarding {
  id: string;
  internal_port_id: string;
  internal_ip_address: string;
  internal_port?: number;
  internal_port_range?: string;
  external_port?: number;
  external_port_range?: string;
  protocol: string;
  description?: string;
}
/** What a port forwarding is created with. */
export interface PortForwardingCreate {
  internal_port_id: string;
  internal_ip_address: string;
  internal_port?: number;
  external_port?: number;
  protocol: "tcp" | "udp";
  description?: string;
}
/** Networks that subnets are allocated from. */
export interface SubnetPool {
  id: string;
  name: string;
  description: string;
  project_id: string;
  prefixes: string[];
  ip_version: 4 | 6;
  /** Numbers, which some releases send as text. */
  default_prefixlen: number | string;
  min_prefixlen: number | string;
  max_prefixlen: number | string;
  address_scope_id: string | null;
  shared: boolean;
  is_default: boolean;
  tags: string[];
}
/** What a subnet pool is created with. */
export interface SubnetPoolCreate {
  name: string;
  prefixes: string[];
  description?: string;
  default_prefixlen?: number;
  min_prefixlen?: number;
  max_prefixlen?: number;
  address_scope_id?: string;
  shared?: boolean;
}
/** Subnet pools whose addresses do not overlap. */
export interface AddressScope {
  id: string;
  name: string;
  ip_version: 4 | 6;
  shared: boolean;
  project_id: string;
}
/** A QoS policy: https://docs.openstack.org/api-ref/network/v2/#quality-of-service . */
export interface QosPolicy {
  id: string;
  name: string;
  description: string;
  project_id: string;
  shared: boolean;
  is_default: boolean;
  rules: { id: string; type: string }[];
  tags: string[];
}
/** What a QoS policy is created with. */
export interface QosPolicyCreate {
  name: string;
  description?: string;
  shared?: boolean;
  is_default?: boolean;
}
/** Kilobits a second, and kilobits of burst. */
export interface BandwidthLimitRule {
  id: string;
  max_kbps: number;
  max_burst_kbps: number;
  direction: "egress" | "ingress";
}
/** A rule of a QoS policy that marks packets. */
export interface DscpMarkingRule {
  id: string;
  dscp_mark: number;
}
/** A project that an object is shared with. */
export interface RbacPolicy {
  id: string;
  object_type: string;
  object_id: string;
  action: string;
  target_tenant?: string;
  target_project?: string;
  project_id: string;
}
/** What an RBAC policy is created with. */
export interface RbacPolicyCreate {
  object_type: string;
  object_id: string;
  action: "access_as_shared" | "access_as_external";
  target_tenant: string;
}
/** How many addresses of a network are used. */
export interface IpAvailability {
  network_id: string;
  network_name: string;
  total_ips: number;
  used_ips: number;
  subnet_ip_availability: {
    subnet_id: string;
    subnet_name: string;
    cidr: string;
    ip_version: number;
    total_ips: number;
    used_ips: number;
  }[];
}
/** -1: no limit. */
export type NetworkQuota = Record<string, number>;
/** Limits, usage and reservations of a project. */
export type NetworkQuotaDetails = Record<string, { limit: number; used: number; reserved: number }>;
/** A route of a router or a subnet. */
export interface Route {
  destination: string;
  nexthop: string;
}
/** An availability zone of networks or routers. */
export interface ZoneOfNetworks {
  name: string;
  resource: "network" | "router";
  state: string;
}

/** A process of Neutron, or of OVN, on a host. */
export interface NetworkAgent {
  id: string;
  host: string;
  agent_type: string;
  binary: string;
  alive: boolean;
  admin_state_up: boolean;
}

/** Neutron's API other than its core; each part needs an extension of the cloud (`extensions`). */
export interface NetworkExtensions {
  readonly trunks: Collection<Trunk, TrunkCreate, Partial<Omit<TrunkCreate, "port_id" | "sub_ports">>>;
  addSubPorts(trunkId: string, ports: readonly SubPort[], options?: CallOptions): Promise<Trunk>;
  removeSubPorts(trunkId: string, portIds: readonly string[], options?: CallOptions): Promise<Trunk>;
  readonly addressGroups: Collection<AddressGroup, AddressGroupCreate, Omit<AddressGroupCreate, "addresses">>;
  addAddresses(groupId: string, addresses: readonly string[], options?: CallOptions): Promise<AddressGroup>;
  removeAddresses(groupId: string, addresses: readonly string[], options?: CallOptions): Promise<AddressGroup>;
  portForwardings(floatingIpId: string): Collection<PortForwarding, PortForwardingCreate>;
  readonly subnetPools: Collection<SubnetPool, SubnetPoolCreate>;
  readonly addressScopes: Collection<AddressScope, { name: string; ip_version: 4 | 6; shared?: boolean }>;
  readonly qosPolicies: Collection<QosPolicy, QosPolicyCreate>;
  bandwidthLimitRules(policyId: string): Collection<BandwidthLimitRule, Partial<Omit<BandwidthLimitRule, "id">>>;
  dscpMarkingRules(policyId: string): Collection<DscpMarkingRule, Omit<DscpMarkingRule, "id">>;
  readonly rbacPolicies: Collection<RbacPolicy, RbacPolicyCreate, { target_tenant: string }>;
  /** For administrators. */
  readonly ipAvailabilities: Pick<ReadOnlyCollection<IpAvailability>, "list" | "all" | "get" | "find">;
  /** For administrators. An agent that runs registers again. */
  readonly agents: Pick<Collection<NetworkAgent, never>, "list" | "all" | "delete">;
  readonly availabilityZones: Pick<ReadOnlyCollection<ZoneOfNetworks>, "list" | "all">;
  quota(projectId: string, options?: CallOptions): Promise<NetworkQuota>;
  quotaDetails(projectId: string, options?: CallOptions): Promise<NetworkQuotaDetails>;
  /** For administrators. */
  setQuota(projectId: string, quota: NetworkQuota, options?: CallOptions): Promise<NetworkQuota>;
  /** Back to the defaults. */
  resetQuota(projectId: string, options?: CallOptions): Promise<void>;
  createNetworks(networks: readonly NetworkCreate[], options?: CallOptions): Promise<Network[]>;
  createSubnets(subnets: readonly SubnetCreate[], options?: CallOptions): Promise<Subnet[]>;
  /**
   * Adds or removes routes without touching the router's others: one atomic call where the cloud has
   * `extraroute-atomic`, else read, change and write while the router's revision is current (again when another writer
   * changed it meanwhile).
   */
  addRoutes(routerId: string, routes: readonly Route[], options?: CallOptions): Promise<Router>;
  removeRoutes(routerId: string, routes: readonly Route[], options?: CallOptions): Promise<Router>;
  addTag(kind: Taggable, id: string, tag: string, options?: CallOptions): Promise<void>;
  /** 404 is success. */
  removeTag(kind: Taggable, id: string, tag: string, options?: CallOptions): Promise<void>;
  /** Any list of Neutron that this kit has no name for. */
  listOf<T>(route: string, many: string, query?: Query, options?: CallOptions): AsyncIterable<T>;
}
