/** Octavia, wire-true: https://docs.openstack.org/api-ref/load-balancer/v2/ */
import type { L7PolicyCreate, L7RuleCreate } from "./load-balancing-extras.ts";

export type ProvisioningStatus =
  | "ACTIVE"
  | "DELETED"
  | "ERROR"
  | "PENDING_CREATE"
  | "PENDING_UPDATE"
  | "PENDING_DELETE";
export type OperatingStatus = "ONLINE" | "DRAINING" | "OFFLINE" | "DEGRADED" | "ERROR" | "NO_MONITOR";
export type ListenerProtocol = "TCP" | "UDP" | "SCTP" | "HTTP" | "HTTPS" | "TERMINATED_HTTPS" | "PROMETHEUS";
export type PoolProtocol = "TCP" | "UDP" | "SCTP" | "HTTP" | "HTTPS" | "PROXY" | "PROXYV2";
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
export interface LoadBalancerUpdate {
  name?: string;
  description?: string;
  admin_state_up?: boolean;
  tags?: string[];
}

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
  default_pool?: PoolInCreate;
}
/** A pool of the same request, by its name. */
export interface PoolReference {
  name: string;
}
export type L7PolicyInCreate = Omit<L7PolicyCreate, "listener_id" | "redirect_pool_id" | "position"> & {
  redirect_pool?: PoolReference;
  rules: L7RuleCreate[];
};
export type ListenerInCreate = Omit<ListenerCreate, "loadbalancer_id"> & {
  l7policies?: L7PolicyInCreate[];
};
export type ListenerUpdate = Partial<
  Omit<ListenerCreate, "loadbalancer_id" | "protocol" | "protocol_port" | "default_pool" | "default_pool_id">
> & { default_pool_id?: string | null };

export interface SessionPersistence {
  type: "SOURCE_IP" | "HTTP_COOKIE" | "APP_COOKIE";
  cookie_name?: string | null;
}
export interface Pool extends Common {
  protocol: PoolProtocol;
  lb_algorithm: LbAlgorithm;
  session_persistence: SessionPersistence | null;
  healthmonitor_id: string | null;
  loadbalancers: { id: string }[];
  listeners: { id: string }[];
  members: { id: string }[];
}
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
export type PoolInCreate = Omit<PoolCreate, "loadbalancer_id" | "listener_id"> & {
  members?: MemberCreate[];
  healthmonitor?: Omit<HealthMonitorCreate, "pool_id">;
};
export type PoolUpdate = Partial<Omit<PoolCreate, "loadbalancer_id" | "listener_id" | "protocol">>;

export interface Member extends Omit<Common, "description"> {
  address: string;
  protocol_port: number;
  subnet_id: string | null;
  weight: number;
  backup?: boolean;
  monitor_address: string | null;
  monitor_port: number | null;
}
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
export type MemberUpdate = Partial<Omit<MemberCreate, "address" | "protocol_port" | "subnet_id">>;

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
export type HealthMonitorUpdate = Partial<Omit<HealthMonitorCreate, "pool_id" | "type">>;
export interface Provider {
  name: string;
  description: string;
}
