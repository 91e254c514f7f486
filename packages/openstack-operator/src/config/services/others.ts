import type { OpenStackService } from "@causeway/api";
import {
  authOpen,
  authSecret,
  brokerParts,
  commonOpen,
  databaseOpen,
  databaseUrl,
  internalUrl,
  ovnConnection,
  publicUrl,
  secretOf,
  tokenCheck,
  type Configure,
  type Facts,
} from "../facts.ts";
import { BOUNDED_WORKERS } from "./compute-network.ts";
import { merged, type Sections, type ServiceConfiguration } from "../sections.ts";

/** Public endpoints need not be reachable from inside the cluster. */
const INTERNAL = { endpoint_type: "internalURL" };

/** A service with database, broker and a user. */
function usual(facts: Facts, service: OpenStackService, open: Sections, secret: Sections = {}): ServiceConfiguration {
  const check = tokenCheck(facts, service);
  const broker = brokerParts(facts, service);
  return {
    open: merged(commonOpen(), databaseOpen(), check.open, broker.open, open),
    secret: merged(
      check.secret,
      broker.secret,
      { database: { connection: databaseUrl(facts, service, service) } },
      secret,
    ),
  };
}

/** cinder.conf: volumes are in Ceph, or in LVM. */
export const cinder: Configure = (facts) => {
  const { ceph } = facts.spec.storage ?? {};
  const backend = ceph ? "ceph" : "lvm";
  const section: Record<string, string> = ceph
    ? {
        volume_driver: "cinder.volume.drivers.rbd.RBDDriver",
        volume_backend_name: "ceph",
        rbd_pool: ceph.volumePool ?? "volumes",
        rbd_user: "cinder",
        rbd_ceph_conf: "/etc/ceph/ceph.conf",
      }
    : {
        volume_driver: "cinder.volume.drivers.lvm.LVMVolumeDriver",
        volume_backend_name: "lvm",
        target_helper: "lioadm",
      };
  return usual(
    facts,
    "cinder",
    {
      DEFAULT: {
        enabled_backends: backend,
        glance_api_servers: internalUrl(facts, "glance-api", 9292),
        graceful_shutdown_timeout: "120",
      },
      // The same for every pod that takes the backend over: volumes belong to it.
      [backend]: { ...section, backend_host: "cinder-volume" },
      nova: { ...authOpen(facts, "cinder"), interface: "internal" },
      barbican: { barbican_endpoint_type: "internal" },
    },
    { nova: authSecret(facts, "cinder") },
  );
};

/** The domain of the users of stacks. */
export const HEAT_DOMAIN = { name: "heat", administrator: "heat_domain_admin" } as const;

/** heat.conf. Stacks' own users are in the domain "heat". */
export const heat: Configure = (facts) =>
  usual(
    facts,
    "heat",
    {
      DEFAULT: {
        heat_metadata_server_url: publicUrl(facts, "cloudformation"),
        heat_waitcondition_server_url: `${publicUrl(facts, "cloudformation")}/v1/waitcondition`,
        stack_domain_admin: HEAT_DOMAIN.administrator,
        stack_user_domain_name: HEAT_DOMAIN.name,
        // Bounded: by default there would be four in each pod, which have its memory together.
        num_engine_workers: "1",
      },
      trustee: withoutProject(authOpen(facts, "heat")),
      clients: INTERNAL,
      clients_keystone: { auth_uri: internalUrl(facts, "keystone-api", 5000) },
    },
    {
      DEFAULT: {
        auth_encryption_key: secretOf(facts, "heat.encryption"),
        stack_domain_admin_password: secretOf(facts, "heat.domainAdmin"),
      },
      trustee: authSecret(facts, "heat"),
    },
  );

/** A trustee is scoped by the trust alone. */
function withoutProject({ auth_type, auth_url, username, user_domain_name }: Record<string, string>) {
  return {
    auth_type: auth_type ?? "password",
    auth_url: auth_url ?? "",
    username: username ?? "",
    user_domain_name: user_domain_name ?? "",
  };
}

/** octavia.conf. Load balancers are OVN's unless a request names the provider amphora. */
export const octavia: Configure = (facts) =>
  usual(
    facts,
    "octavia",
    {
      DEFAULT: { graceful_shutdown_timeout: "300" },
      // The worker of 2022.2 also listens to the topic of the first amphora driver, and fails without its name.
      oslo_messaging: { topic: "octavia_prov" },
      api_settings: { enabled_provider_drivers: "amphora:Amphora,ovn:OVN", default_provider_driver: "ovn" },
      service_auth: withoutRegion(authOpen(facts, "octavia")),
      ...Object.fromEntries(["neutron", "nova", "glance", "cinder"].map((name) => [name, INTERNAL])),
      health_manager: {
        bind_ip: "0.0.0.0",
        bind_port: "5555",
        health_update_threads: BOUNDED_WORKERS,
        stats_update_threads: BOUNDED_WORKERS,
      },
      certificates: {
        ca_certificate: "/etc/octavia/certs/ca.crt",
        ca_private_key: "/etc/octavia/certs/ca.key",
        endpoint_type: "internalURL",
      },
      haproxy_amphora: { client_cert: "/etc/octavia/certs/client.pem", server_ca: "/etc/octavia/certs/ca.crt" },
      driver_agent: {
        status_socket_path: "/run/octavia/status.sock",
        stats_socket_path: "/run/octavia/stats.sock",
        get_socket_path: "/run/octavia/get.sock",
        enabled_provider_agents: "ovn",
      },
      ...(facts.catalogue.services.has("ovn")
        ? { ovn: { ovn_nb_connection: ovnConnection(facts, "nb"), ovn_sb_connection: ovnConnection(facts, "sb") } }
        : {}),
    },
    {
      service_auth: authSecret(facts, "octavia"),
      health_manager: { heartbeat_key: secretOf(facts, "octavia.heartbeat") },
      task_flow: { persistence_connection: databaseUrl(facts, "octavia", "octavia_persistence") },
    },
  );

function withoutRegion({ region_name: _region, ...options }: Record<string, string>): Record<string, string> {
  return options;
}

/** designate.conf. Its database is in a section of another name. */
export const designate: Configure = (facts) => {
  const bounded = ["central", "worker", "mdns"].map((name) => [`service:${name}`, { workers: BOUNDED_WORKERS }]);
  const { open, secret } = usual(facts, "designate", {
    // rndc needs no privilege, and pods have no sudo. An empty one is refused.
    DEFAULT: { root_helper: "env" },
    ...Object.fromEntries(bounded),
    // Each would do all of the periodic work.
    "service:producer": { workers: "1" },
  });
  const { database = {}, ...rest } = secret;
  return {
    open: merged(
      Object.fromEntries(Object.entries(open).filter(([name]) => name !== "database")),
      databaseOpen("storage:sqlalchemy"),
    ),
    secret: { ...rest, "storage:sqlalchemy": database },
  };
};

/** manila.conf, with the generic driver: shares are on servers of Nova. */
export const manila: Configure = (facts) =>
  usual(
    facts,
    "manila",
    {
      DEFAULT: {
        enabled_share_backends: "generic",
        enabled_share_protocols: "NFS,CIFS",
        default_share_type: "default",
      },
      generic: {
        share_backend_name: "generic",
        share_driver: "manila.share.drivers.generic.GenericShareDriver",
        driver_handles_share_servers: "true",
      },
      ...Object.fromEntries(
        ["nova", "neutron", "cinder"].map((name) => [name, { ...authOpen(facts, "manila"), ...INTERNAL }]),
      ),
    },
    Object.fromEntries(["nova", "neutron", "cinder"].map((name) => [name, authSecret(facts, "manila")])),
  );
