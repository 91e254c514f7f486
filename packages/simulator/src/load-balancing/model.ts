import type { Kernel, Table } from "../kernel/interface.ts";
import type { NetworkLinks } from "../kernel/links.ts";

import { flavorWords, flavorsAndZonesOf, zoneWords, type FlavorsAndZones } from "./rules/flavors-and-zones.ts";

/** Octavia's `provisioning_status`: in a PENDING one the load balancer and all below it are immutable. */
export type ProvisioningStatus = "ACTIVE" | "ERROR" | "PENDING_CREATE" | "PENDING_UPDATE" | "PENDING_DELETE";

/** What all of Octavia's resources carry; rows have the wire's own field names. */
export interface Resource {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly admin_state_up: boolean;
  readonly provisioning_status: ProvisioningStatus;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** A load balancer; the port of its VIP is the network service's. */
export interface LoadBalancer extends Resource {
  readonly description: string;
  readonly vip_address: string;
  readonly vip_port_id: string;
  readonly vip_subnet_id: string | null;
  readonly vip_network_id: string;
  readonly vip_qos_policy_id: string | null;
  readonly provider: string;
  readonly flavor_id: string | null;
  readonly availability_zone: string | null;
  /** True if the VIP port was made here, and goes with the load balancer. Not on the wire. */
  readonly owns_port: boolean;
  /** Further addresses of the VIP's port; null where the provider gave none. */
  readonly additional_vips?: readonly { readonly subnet_id: string; readonly ip_address: string | null }[];
}

/** What a load balancer of the amphora provider would run on. */
export interface Amphora {
  readonly id: string;
  readonly loadbalancer_id: string;
  readonly compute_id: string;
  readonly lb_network_ip: string;
  /** The port under its VRRP address. */
  readonly vrrp_port_id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A listener: a protocol and a port of the load balancer's addresses. Timeouts are in milliseconds. */
export interface Listener extends Resource {
  readonly loadbalancer_id: string;
  readonly description: string;
  readonly protocol: string;
  readonly protocol_port: number;
  readonly connection_limit: number;
  readonly default_pool_id: string | null;
  readonly insert_headers: Readonly<Record<string, string>>;
  readonly timeout_client_data: number;
  readonly timeout_member_connect: number;
  readonly timeout_member_data: number;
  readonly timeout_tcp_inspect: number;
  readonly allowed_cidrs: readonly string[] | null;
  readonly default_tls_container_ref: string | null;
  readonly sni_container_refs: readonly string[];
  readonly client_ca_tls_container_ref: string | null;
  readonly client_authentication: string;
  readonly client_crl_container_ref: string | null;
  readonly tls_ciphers: string | null;
  readonly tls_versions: readonly string[] | null;
  readonly alpn_protocols: readonly string[] | null;
}

/** A pool. It belongs to a load balancer, and listeners and L7 policies refer to it. */
export interface Pool extends Resource {
  readonly loadbalancer_id: string;
  readonly description: string;
  readonly protocol: string;
  readonly lb_algorithm: string;
  readonly session_persistence: Readonly<Record<string, unknown>> | null;
  readonly tls_enabled: boolean;
  /** How the pool speaks TLS to its members; undefined in a state that an older version wrote. */
  readonly tls_container_ref?: string | null;
  readonly ca_tls_container_ref?: string | null;
  readonly crl_container_ref?: string | null;
  readonly tls_ciphers?: string | null;
  readonly tls_versions?: readonly string[] | null;
  readonly alpn_protocols?: readonly string[] | null;
}

/** A member of a pool; `backup` ones get connections only when no other is up. */
export interface Member extends Resource {
  readonly pool_id: string;
  readonly address: string;
  readonly protocol_port: number;
  readonly weight: number;
  readonly backup: boolean;
  readonly subnet_id: string | null;
  readonly monitor_address: string | null;
  readonly monitor_port: number | null;
}

/** The health monitor of a pool; `delay` and `timeout` are in seconds. */
export interface HealthMonitor extends Resource {
  readonly pool_id: string;
  readonly type: string;
  readonly delay: number;
  readonly timeout: number;
  readonly max_retries: number;
  readonly max_retries_down: number;
  readonly http_method: string | null;
  readonly url_path: string | null;
  readonly expected_codes: string | null;
  readonly http_version: number | null;
  readonly domain_name: string | null;
}

/** An L7 policy of a listener; lower positions decide first. */
export interface L7Policy extends Resource {
  readonly listener_id: string;
  readonly description: string;
  readonly action: string;
  readonly position: number;
  readonly redirect_pool_id: string | null;
  readonly redirect_url: string | null;
  readonly redirect_prefix: string | null;
  readonly redirect_http_code: number | null;
}

/** An L7 rule. All rules of a policy must match. */
export interface L7Rule extends Resource {
  readonly l7policy_id: string;
  readonly type: string;
  readonly compare_type: string;
  readonly key: string | null;
  readonly value: string;
  readonly invert: boolean;
}

/** All of Octavia's state, in the kernel's tables. */
export interface BalancerState {
  readonly kernel: Kernel;
  readonly links: NetworkLinks;
  readonly loadBalancers: Table<LoadBalancer>;
  readonly listeners: Table<Listener>;
  readonly pools: Table<Pool>;
  readonly members: Table<Member>;
  readonly monitors: Table<HealthMonitor>;
  readonly policies: Table<L7Policy>;
  readonly rules: Table<L7Rule>;
  readonly amphorae: Table<Amphora>;
  readonly flavors: FlavorsAndZones;
  readonly zones: FlavorsAndZones;
}

/** Octavia's tables, and what it calls of Neutron. */
export function balancerState(kernel: Kernel, links: NetworkLinks): BalancerState {
  return {
    kernel,
    links,
    loadBalancers: kernel.table("loadbalancer", ["project_id", "name"]),
    listeners: kernel.table("listener", ["project_id", "loadbalancer_id", "default_pool_id"]),
    pools: kernel.table("pool", ["project_id", "loadbalancer_id"]),
    members: kernel.table("member", ["project_id", "pool_id"]),
    monitors: kernel.table("healthmonitor", ["project_id", "pool_id"]),
    policies: kernel.table("l7policy", ["project_id", "listener_id"]),
    rules: kernel.table("l7rule", ["project_id", "l7policy_id"]),
    amphorae: kernel.table("_amphora", ["loadbalancer_id"]),
    flavors: flavorsAndZonesOf(kernel, flavorWords),
    zones: flavorsAndZonesOf(kernel, zoneWords),
  };
}

/** Time as Octavia writes it: without a zone. */
export const now = (kernel: Kernel): string => kernel.timestamp().replace("Z", "");

/** The fields every new resource begins with. */
export function born(
  kernel: Kernel,
  projectId: string,
  given: { name?: string | undefined; admin_state_up?: boolean | undefined; tags?: readonly string[] | undefined },
): Resource {
  return {
    id: kernel.newId(),
    project_id: projectId,
    name: given.name ?? "",
    admin_state_up: given.admin_state_up ?? true,
    provisioning_status: "PENDING_CREATE",
    tags: (given.tags ?? []).toSorted(),
    created_at: now(kernel),
    updated_at: null,
  };
}

/** The table of a reference "listener:ID", with what is common to all rows. */
export function tableOf(state: BalancerState, kind: string): Table<Resource> {
  const tables: Readonly<Record<string, unknown>> = {
    listener: state.listeners,
    pool: state.pools,
    member: state.members,
    healthmonitor: state.monitors,
    l7policy: state.policies,
    rule: state.rules,
  };
  // Every one of them holds Resources; only the common fields are read and changed through this.
  return tables[kind] as Table<Resource>;
}
