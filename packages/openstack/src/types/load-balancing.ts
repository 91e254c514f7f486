/** Octavia, wire-true: https://docs.openstack.org/api-ref/load-balancer/v2/ */
import type { L7PolicyCreate, L7RuleCreate } from "./load-balancing-extras.ts";

/** Whether Octavia is changing a resource. */
export type ProvisioningStatus =
  | "ACTIVE"
  | "DELETED"
  | "ERROR"
  | "PENDING_CREATE"
  | "PENDING_UPDATE"
  | "PENDING_DELETE";
/** Whether a resource serves traffic, as its provider reports. */
export type OperatingStatus = "ONLINE" | "DRAINING" | "OFFLINE" | "DEGRADED" | "ERROR" | "NO_MONITOR";
/** A protocol that a listener can have. */
export type ListenerProtocol = "TCP" | "UDP" | "SCTP" | "HTTP" | "HTTPS" | "TERMINATED_HTTPS" | "PROMETHEUS";
/** A protocol that a pool can have. */
export type PoolProtocol = "TCP" | "UDP" | "SCTP" | "HTTP" | "HTTPS" | "PROXY" | "PROXYV2";
/** How a pool chooses the member of a connection. */
export type LbAlgorithm = "ROUND_ROBIN" | "LEAST_CONNECTIONS" | "SOURCE_IP" | "SOURCE_IP_PORT";

interface Common {
  id: string;
  name: string;
  description: string;
  project_id: string;
  provisioning_status: ProvisioningStatus;
  operating_status: OperatingStatus;
  admin_state_up: boolean;
  tags: string[];
  created_at: string;
  updated_at: string | null;
}

/** A load balancer: https://docs.openstack.org/api-ref/load-balancer/v2/#load-balancers . */
export interface LoadBalancer extends Common {
  vip_address: string;
  vip_port_id: string;
  vip_subnet_id: string;
  vip_network_id: string;
  provider: string;
  flavor_id?: string | null;
  availability_zone?: string | null;
  additional_vips?: { subnet_id: string; ip_address?: string; port_id?: string }[];
  listeners: { id: string }[];
  pools: { id: string }[];
}
/** What a load balancer is created with, its parts included. */
export interface LoadBalancerCreate {
  name: string;
  description?: string;
  vip_subnet_id?: string;
  vip_network_id?: string;
  vip_port_id?: string;
  vip_address?: string;
  provider?: string;
  flavor_id?: string;
  availability_zone?: string;
  admin_state_up?: boolean;
  tags?: string[];
  listeners?: ListenerInCreate[];
  /** Pools that listeners and policies of the same request name. */
  pools?: PoolInCreate[];
  additional_vips?: { subnet_id: string; ip_address?: string }[];
}
/** What of a load balancer can be changed. */
export interface LoadBalancerUpdate {
  name?: string;
  description?: string;
  admin_state_up?: boolean;
  tags?: string[];
}

/** A listener: https://docs.openstack.org/api-ref/load-balancer/v2/#listeners . */
export interface Listener extends Common {
  protocol: ListenerProtocol;
  protocol_port: number;
  connection_limit?: number;
  default_pool_id: string | null;
  loadbalancers: { id: string }[];
  allowed_cidrs: string[] | null;
  timeout_client_data?: number;
  timeout_member_connect?: number;
  timeout_member_data?: number;
  timeout_tcp_inspect?: number;
  insert_headers?: Record<string, string>;
  default_tls_container_ref?: string | null;
  sni_container_refs?: string[];
  l7policies?: { id: string }[];
}
/** What a listener is created with. */
export interface ListenerCreate {
  loadbalancer_id: string;
  name?: string;
  description?: string;
  protocol: ListenerProtocol;
  protocol_port: number;
  connection_limit?: number;
  default_pool_id?: string;
  allowed_cidrs?: string[];
  timeout_client_data?: number;
  timeout_member_connect?: number;
  timeout_member_data?: number;
  timeout_tcp_inspect?: number;
  insert_headers?: Record<string, string>;
  default_tls_container_ref?: string;
  sni_container_refs?: string[];
  admin_state_up?: boolean;
  tags?: string[];
}
/** A pool of the same request, by its name. */
export interface PoolReference {
  name: string;
}
/** An L7 policy that is created with its load balancer. */
export type L7PolicyInCreate = Omit<L7PolicyCreate, "listener_id" | "redirect_pool_id" | "position"> & {
  redirect_pool?: PoolReference;
  rules: L7RuleCreate[];
};
/** A listener that is created with its load balancer. Only there can it bring its pool: POST /listeners refuses one. */
export type ListenerInCreate = Omit<ListenerCreate, "loadbalancer_id"> & {
  default_pool?: PoolInCreate;
  l7policies?: L7PolicyInCreate[];
};
/** What of a listener can be changed. */
export type ListenerUpdate = Partial<
  Omit<ListenerCreate, "loadbalancer_id" | "protocol" | "protocol_port" | "default_pool_id">
> & { default_pool_id?: string | null };

/** By what a pool recognises the connections of one client. */
export interface SessionPersistence {
  type: "SOURCE_IP" | "HTTP_COOKIE" | "APP_COOKIE";
  cookie_name?: string | null;
}
/** A pool: https://docs.openstack.org/api-ref/load-balancer/v2/#pools . */
export interface Pool extends Common {
  protocol: PoolProtocol;
  lb_algorithm: LbAlgorithm;
  session_persistence: SessionPersistence | null;
  healthmonitor_id: string | null;
  loadbalancers: { id: string }[];
  listeners: { id: string }[];
  members: { id: string }[];
}
/** What a pool is created with. */
export interface PoolCreate {
  loadbalancer_id?: string;
  listener_id?: string;
  name?: string;
  description?: string;
  protocol: PoolProtocol;
  lb_algorithm: LbAlgorithm;
  session_persistence?: SessionPersistence | null;
  admin_state_up?: boolean;
  tags?: string[];
}
/** A pool that is created with its load balancer. */
export type PoolInCreate = Omit<PoolCreate, "loadbalancer_id" | "listener_id"> & {
  members?: MemberCreate[];
  healthmonitor?: Omit<HealthMonitorCreate, "pool_id">;
};
/** What of a pool can be changed. */
export type PoolUpdate = Partial<Omit<PoolCreate, "loadbalancer_id" | "listener_id" | "protocol">>;

/** A member of a pool: https://docs.openstack.org/api-ref/load-balancer/v2/#members . */
export interface Member extends Omit<Common, "description"> {
  address: string;
  protocol_port: number;
  subnet_id: string | null;
  weight: number;
  backup?: boolean;
  monitor_address: string | null;
  monitor_port: number | null;
}
/** What a member is created with. */
export interface MemberCreate {
  address: string;
  protocol_port: number;
  name?: string;
  subnet_id?: string;
  weight?: number;
  backup?: boolean;
  monitor_address?: string;
  monitor_port?: number | null;
  admin_state_up?: boolean;
  tags?: string[];
}
/** What of a member can be changed. */
export type MemberUpdate = Partial<Omit<MemberCreate, "address" | "protocol_port" | "subnet_id">>;

/** A health monitor: https://docs.openstack.org/api-ref/load-balancer/v2/#health-monitor . */
export interface HealthMonitor extends Omit<Common, "description"> {
  type: string;
  delay: number;
  timeout: number;
  max_retries: number;
  max_retries_down: number;
  url_path?: string | null;
  http_method?: string | null;
  expected_codes?: string | null;
  pools: { id: string }[];
}
/** What a health monitor is created with. */
export interface HealthMonitorCreate {
  pool_id: string;
  name?: string;
  type: string;
  delay: number;
  timeout: number;
  max_retries: number;
  max_retries_down?: number;
  url_path?: string;
  http_method?: string;
  expected_codes?: string;
  admin_state_up?: boolean;
  tags?: string[];
}
/** What of a health monitor can be changed. */
export type HealthMonitorUpdate = Partial<Omit<HealthMonitorCreate, "pool_id" | "type">>;
/** A provider of load balancers, by its name. */
export interface Provider {
  name: string;
  description: string;
}
