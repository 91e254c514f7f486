/** More of Octavia, wire-true: https://docs.openstack.org/api-ref/load-balancer/v2/ */
import type { CallOptions, Collection, ReadOnlyCollection } from "./collection.ts";
import type { OperatingStatus, ProvisioningStatus } from "./load-balancing.ts";

interface Status {
  id: string;
  provisioning_status: ProvisioningStatus;
  operating_status: OperatingStatus;
  admin_state_up: boolean;
  tags: string[];
  project_id: string;
}
/** What an L7 policy does with a request. */
export type L7Action = "REDIRECT_PREFIX" | "REDIRECT_TO_POOL" | "REDIRECT_TO_URL" | "REJECT";
/** An L7 policy: https://docs.openstack.org/api-ref/load-balancer/v2/#l7-policies . */
export interface L7Policy extends Status {
  name: string;
  description: string;
  listener_id: string;
  action: L7Action;
  position: number;
  redirect_pool_id: string | null;
  redirect_url: string | null;
  redirect_prefix: string | null;
  redirect_http_code: number | null;
  rules: { id: string }[];
}
/** What an L7 policy is created with. */
export interface L7PolicyCreate {
  listener_id: string;
  action: L7Action;
  name?: string;
  description?: string;
  position?: number;
  redirect_pool_id?: string;
  redirect_url?: string;
  redirect_prefix?: string;
  redirect_http_code?: number;
  admin_state_up?: boolean;
  tags?: string[];
}
/** A rule of an L7 policy. */
export interface L7Rule extends Status {
  type:
    | "COOKIE"
    | "FILE_TYPE"
    | "HEADER"
    | "HOST_NAME"
    | "PATH"
    | "SSL_CONN_HAS_CERT"
    | "SSL_DN_FIELD"
    | "SSL_VERIFY_RESULT";
  compare_type: "CONTAINS" | "ENDS_WITH" | "EQUAL_TO" | "REGEX" | "STARTS_WITH";
  key: string | null;
  value: string;
  invert: boolean;
}
/** What a rule is created with. */
export interface L7RuleCreate {
  type: L7Rule["type"];
  compare_type: L7Rule["compare_type"];
  value: string;
  key?: string;
  invert?: boolean;
  admin_state_up?: boolean;
  tags?: string[];
}
/** A flavor of load balancers. */
export interface LoadBalancerFlavor {
  id: string;
  name: string;
  description: string;
  enabled: boolean;
  flavor_profile_id: string;
}
/** The provider and settings of a flavor. */
export interface LoadBalancerFlavorProfile {
  id: string;
  name: string;
  provider_name: string;
  /** JSON. */
  flavor_data: string;
}
/** An availability zone of load balancers. */
export interface LoadBalancerZone {
  name: string;
  description: string;
  enabled: boolean;
  availability_zone_profile_id: string;
}
/** The provider and settings of a zone. */
export interface LoadBalancerZoneProfile {
  id: string;
  name: string;
  provider_name: string;
  /** JSON. */
  availability_zone_data: string;
}
/** Connections, and bytes. */
export interface TrafficStatistics {
  active_connections: number;
  bytes_in: number;
  bytes_out: number;
  request_errors: number;
  total_connections: number;
}
/** A server that Octavia runs a load balancer on. */
export interface Amphora {
  id: string;
  loadbalancer_id: string | null;
  compute_id: string | null;
  lb_network_ip: string | null;
  role: string | null;
  status: string;
}
/** null: the default; -1: no limit. */
export type LoadBalancingQuota = Record<string, number | null>;

/** Resources of Octavia next to load balancers and their parts. */
export interface LoadBalancingExtras {
  readonly l7Policies: Collection<L7Policy, L7PolicyCreate, Partial<Omit<L7PolicyCreate, "listener_id">>>;
  l7Rules(policyId: string): Collection<L7Rule, L7RuleCreate>;
  readonly flavors: Collection<
    LoadBalancerFlavor,
    { name: string; flavor_profile_id: string; description?: string; enabled?: boolean }
  >;
  /** For administrators. */
  readonly flavorProfiles: Collection<
    LoadBalancerFlavorProfile,
    { name: string; provider_name: string; flavor_data: string }
  >;
  /** Named by their names. */
  readonly availabilityZones: Collection<
    LoadBalancerZone,
    { name: string; availability_zone_profile_id: string; description?: string; enabled?: boolean }
  >;
  readonly availabilityZoneProfiles: Collection<
    LoadBalancerZoneProfile,
    { name: string; provider_name: string; availability_zone_data: string }
  >;
  /** For administrators. */
  readonly amphorae: Pick<ReadOnlyCollection<Amphora>, "list" | "all" | "get" | "find">;
  /** Recreates the load balancer's amphorae. For administrators in most clouds. */
  failover(loadBalancerId: string, options?: CallOptions): Promise<void>;
  statistics(kind: "loadbalancers" | "listeners", id: string, options?: CallOptions): Promise<TrafficStatistics>;
  quota(projectId: string, options?: CallOptions): Promise<LoadBalancingQuota>;
  setQuota(projectId: string, quota: LoadBalancingQuota, options?: CallOptions): Promise<LoadBalancingQuota>;
  resetQuota(projectId: string, options?: CallOptions): Promise<void>;
}
