import {
  authOpen,
  authSecret,
  brokerParts,
  brokerUrl,
  cacheServers,
  commonOpen,
  databaseOpen,
  databaseUrl,
  hostOf,
  ovnConnection,
  publicUrl,
  secretOf,
  tokenCheck,
  type Configure,
  type Facts,
} from "../facts.ts";
import { cellResource } from "../../model/cell.ts";
import { merged, type Sections, type ServiceConfiguration } from "../sections.ts";
import { TLS } from "../tls.ts";

/** Sections in which Nova has the accounts for other services; those that know regions first. */
const WITH_REGION = ["neutron", "placement"] as const;
const WITHOUT_REGION = ["cinder", "service_user"] as const;

/** Without it a process has as many as its node has processors, and no pod has memory for that. */
export const BOUNDED_WORKERS = "2";

/** nova.conf, of the APIs and workers as of the compute nodes. */
export const nova: Configure = (facts) => {
  const check = tokenCheck(facts, "nova");
  const broker = brokerParts(facts, "nova");
  const auth = authOpen(facts, "nova");
  const { region_name: _region, ...withoutRegion } = auth;
  const each = (names: readonly string[], options: Record<string, string>): Sections =>
    Object.fromEntries(names.map((name) => [name, { ...options }]));
  const clients = merged(each(WITH_REGION, auth), each(WITHOUT_REGION, withoutRegion));
  const passwords = each([...WITH_REGION, ...WITHOUT_REGION], authSecret(facts, "nova"));
  const cinder = { os_region_name: facts.spec.region, catalog_info: "volumev3::internalURL" };
  return {
    open: merged(commonOpen(), databaseOpen(), databaseOpen("api_database"), check.open, broker.open, clients, {
      DEFAULT: { state_path: "/var/lib/nova", graceful_shutdown_timeout: "180", ...consoleTls(facts) },
      cinder,
      service_user: { send_service_user_token: "true" },
      conductor: { workers: BOUNDED_WORKERS },
      neutron: { service_metadata_proxy: "true", valid_interfaces: "internal" },
      placement: { valid_interfaces: "internal" },
      glance: { valid_interfaces: "internal", region_name: facts.spec.region },
      barbican: { barbican_endpoint_type: "internal" },
      upgrade_levels: { compute: "auto" },
      cache: { enabled: "true", backend: "oslo_cache.memcache_pool", memcache_servers: cacheServers(facts) },
      scheduler: {
        workers: BOUNDED_WORKERS,
        discover_hosts_in_cells_interval: "300",
        query_placement_for_routed_network_aggregates: String(isSegmented(facts)),
      },
      vnc: {
        enabled: "true",
        server_listen: "0.0.0.0",
        novncproxy_base_url: consoleUrl(facts, "console"),
      },
      libvirt: {
        connection_uri: "qemu:///system",
        live_migration_scheme: "tls",
        live_migration_with_native_tls: "true",
        ...serverStorage(facts),
      },
    }),
    secret: merged(check.secret, broker.secret, passwords, {
      database: { connection: databaseUrl(facts, "nova", "nova") },
      api_database: { connection: databaseUrl(facts, "nova", "nova_api") },
      neutron: { metadata_proxy_shared_secret: secretOf(facts, "metadata.secret") },
    }),
  };
};

const consoleUrl = (facts: Facts, endpoint: string): string => `${publicUrl(facts, endpoint)}/vnc_auto.html`;

/** What is another one in a further cell of Nova: its database, its virtual host and its consoles. */
export function cellOptions(facts: Facts, cell: string | undefined): ServiceConfiguration {
  if (cell === undefined) return { open: {}, secret: {} };
  const resource = cellResource(cell);
  return {
    open: { vnc: { novncproxy_base_url: consoleUrl(facts, `console-${cell}`) } },
    secret: {
      DEFAULT: { transport_url: brokerUrl(facts, "nova", resource) },
      database: { connection: databaseUrl(facts, "nova", resource) },
    },
  };
}

/** The proxy of consoles is the only process of Nova that serves TLS by options. */
const consoleTls = ({ spec }: Facts): Record<string, string> =>
  spec.tls ? { ssl_only: "true", cert: TLS.certificate, key: TLS.key } : {};

function serverStorage({ spec }: Facts): Record<string, string> {
  const { ceph } = spec.storage ?? {};
  if (!ceph) return {};
  return {
    images_type: "rbd",
    images_rbd_pool: ceph.serverPool ?? "vms",
    rbd_user: "nova",
    images_rbd_ceph_conf: "/etc/ceph/ceph.conf",
  };
}

/** Does each rack have networks of its own? */
export function isSegmented({ spec }: Facts): boolean {
  const several = new Set(physicalNetworks(spec.nodeGroups).map(({ name }) => name)).size > 1;
  return several || (spec.network?.providerNetworks ?? []).length > 0;
}

function physicalNetworks(groups: Facts["spec"]["nodeGroups"]) {
  return groups.flatMap((group) => group.physicalNetworks ?? []);
}

/**
 * Bounded: by default there would be as many as the node has processors. Before 2025.1 neutron-server starts them all.
 */
function neutronWorkers({ spec: { release } }: Facts): Record<string, string> {
  const workers = { rpc_workers: "1", rpc_state_report_workers: "0" };
  if (release >= "2025.1") return workers;
  // As under uWSGI, a client that kept a connection open would meet a reset when its worker ends.
  return { ...workers, api_workers: "2", wsgi_keep_alive: "false" };
}

/** Before 2025.1 its API serves by itself. */
function neutronTls({ spec: { release, tls } }: Facts): Sections {
  if (!tls || release >= "2025.1") return {};
  return { DEFAULT: { use_ssl: "true" }, ssl: { cert_file: TLS.certificate, key_file: TLS.key } };
}

/** neutron.conf, with ML2's options, which are in the same file. */
export const neutron: Configure = (facts) => {
  const check = tokenCheck(facts, "neutron");
  const broker = brokerParts(facts, "neutron");
  const networks = new Map(physicalNetworks(facts.spec.nodeGroups).map((each) => [each.name, each.vlanRanges ?? []]));
  const vlans = [...networks].flatMap(([name, ranges]) =>
    ranges.length === 0 ? [name] : ranges.map((range) => `${name}:${range}`),
  );
  const mtu = String(facts.spec.network?.mtu ?? 1500);
  return {
    open: merged(commonOpen(), databaseOpen(), check.open, broker.open, neutronTls(facts), {
      DEFAULT: {
        core_plugin: "ml2",
        service_plugins: `ovn-router,qos,trunk${isSegmented(facts) ? ",segments" : ""}`,
        notify_nova_on_port_status_changes: "true",
        notify_nova_on_port_data_changes: "true",
        global_physnet_mtu: mtu,
        nova_metadata_host: hostOf(facts, "nova-metadata"),
        nova_metadata_port: "8775",
        metadata_workers: BOUNDED_WORKERS,
        ...neutronWorkers(facts),
        ...(facts.spec.tls ? { nova_metadata_protocol: "https" } : {}),
      },
      nova: { ...authOpen(facts, "neutron"), endpoint_type: "internal" },
      placement: { ...authOpen(facts, "neutron"), endpoint_type: "internal" },
      // The agents of nodes: they run as root, next to the node's own Open vSwitch.
      agent: { root_helper: "env" },
      ovs: { ovsdb_connection: "unix:/run/openvswitch/db.sock" },
      ml2: {
        mechanism_drivers: "ovn",
        type_drivers: "geneve,vlan,flat",
        tenant_network_types: "geneve",
        extension_drivers: "port_security,qos",
        path_mtu: mtu,
      },
      ml2_type_geneve: { vni_ranges: "1:65536", max_header_size: "38" },
      ml2_type_flat: { flat_networks: [...networks.keys()].join(",") || "*" },
      ...(vlans.length > 0 ? { ml2_type_vlan: { network_vlan_ranges: vlans.join(",") } } : {}),
      ovn: {
        ovn_nb_connection: ovnConnection(facts, "nb"),
        ovn_sb_connection: ovnConnection(facts, "sb"),
        ovn_metadata_enabled: "true",
        ovn_emit_need_to_frag: "true",
        enable_distributed_floating_ip: String(facts.spec.network?.distributedFloatingIPs ?? true),
      },
    }),
    secret: merged(check.secret, broker.secret, {
      database: { connection: databaseUrl(facts, "neutron", "neutron") },
      nova: authSecret(facts, "neutron"),
      placement: authSecret(facts, "neutron"),
      DEFAULT: { metadata_proxy_shared_secret: secretOf(facts, "metadata.secret") },
    }),
  };
};
