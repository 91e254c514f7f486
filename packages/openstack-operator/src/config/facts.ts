import type { OpenStackDeploymentSpec, OpenStackService } from "@causeway/api";
import type { KeyPair } from "@causeway/foundation";
import type { Catalogue } from "../catalogue/index.ts";
import { accountKey, accountName, type Credentials } from "../credentials/credentials.ts";
import type { CredentialUse } from "../model/component.ts";
import type { Sections, ServiceConfiguration } from "./sections.ts";

/** What configuration files are made from. */
export interface Facts {
  readonly name: string;
  readonly namespace: string;
  readonly spec: OpenStackDeploymentSpec;
  readonly catalogue: Catalogue;
  readonly credentials: Credentials;
  /** Whom clients of the APIs trust, and the certificates of these. Undefined: they have no TLS, or not yet. */
  readonly tls?: TlsMaterial | undefined;
  /** Pods of a component at its size. */
  readonly replicas: (component: string) => number;
}

/** PEM. */
export interface TlsMaterial {
  readonly authorities: string;
  /** By component. */
  readonly pairs: Readonly<Record<string, KeyPair | undefined>>;
}

/** The domain of a Kubernetes cluster that has no other one. */
export const CLUSTER_DOMAIN = "cluster.local";

/** Makes the configuration of one service. Pure. */
export type Configure = (facts: Facts) => ServiceConfiguration;

/** The name of a component's Service inside the cluster. */
export const hostOf = ({ name, namespace }: Pick<Facts, "name" | "namespace">, component: string): string =>
  `${name}-${component}.${namespace}.svc`;

/** Where users reach an endpoint: "https://identity.cloud.example.org". */
export const publicUrl = ({ spec }: Facts, endpoint: string): string => `https://${endpoint}.${spec.domain}`;

/** Where pods reach a component: "http://demo-keystone-api.openstack.svc:5000", with https where the APIs have TLS. */
export const internalUrl = (facts: Facts, component: string, port: number): string =>
  `${facts.spec.tls ? "https" : "http"}://${hostOf(facts, component)}:${port}`;

/** A value that there is one of at a time: "barbican.kek". "" while it is not made yet. */
export function secretOf({ credentials }: Facts, key: string): string {
  return credentials.values[key] ?? "";
}

/** The account that configuration uses now, of the current generation. */
export function accountOf({ credentials }: Facts, service: OpenStackService, use: CredentialUse) {
  const { generation, values } = credentials;
  return {
    user: accountName(service, generation),
    password: values[accountKey(`${service}.${use}`, generation)] ?? "",
  };
}

/** Where a database or broker of the deployment is. Percona's operator has a proxy before its servers. */
export function backendHost(facts: Facts, name: string): string {
  const component = facts.catalogue.components.find((each) => each.name === name);
  return hostOf(facts, component?.operator === "percona" ? `${name}-haproxy` : name);
}

/** The brokers that clients choose from. Behind the cluster operator's Service there are all of them. */
function brokerHosts(facts: Facts, name: string): string[] {
  const component = facts.catalogue.components.find((each) => each.name === name);
  return component?.operator ? [`${backendHost(facts, name)}:5672`] : membersOf(facts, name, 5672);
}

/** Address of each pod of a component that keeps its names. */
export function membersOf(facts: Facts, component: string, port: number): string[] {
  const headless = `${facts.name}-${component}-members.${facts.namespace}.svc`;
  return Array.from(
    { length: facts.replicas(component) },
    (_, index) => `${facts.name}-${component}-${index}.${headless}:${port}`,
  );
}

/** OVN's databases by whole names: the library of Open vSwitch looks up no others, and knows no search domains. */
export function ovnConnection(facts: Facts, side: "nb" | "sb"): string {
  const domain = facts.spec.network?.clusterDomain ?? CLUSTER_DOMAIN;
  return membersOf(facts, `ovn-${side}`, side === "nb" ? 6641 : 6642)
    .map((member) => `tcp:${member.replace(/:\d+$/, (port) => `.${domain}${port}`)}`)
    .join(",");
}

/** SQLAlchemy's URL, with the password: it belongs into the secret part of a configuration. */
export function databaseUrl(facts: Facts, service: OpenStackService, database: string): string {
  const { user, password } = accountOf(facts, service, "database");
  const backend = facts.catalogue.databases.get(service) ?? "mariadb";
  const at = typeof backend === "string" ? `${backendHost(facts, backend)}:3306` : `${backend.host}:${backend.port}`;
  return `mysql+pymysql://${user}:${password}@${at}/${database}?charset=utf8`;
}

/** The URL of oslo.messaging, with the password and all brokers; the virtual host is the service's name, or another. */
export function brokerUrl(facts: Facts, service: OpenStackService, virtualHost: string = service): string {
  const { user, password } = accountOf(facts, service, "broker");
  const backend = facts.catalogue.brokers.get(service) ?? "rabbitmq";
  const hosts = typeof backend === "string" ? brokerHosts(facts, backend) : [`${backend.host}:${backend.port}`];
  return `rabbit://${hosts.map((host) => `${user}:${password}@${host}`).join(",")}/${virtualHost}`;
}

/** The pods of memcached as "HOST:PORT,HOST:PORT". */
export const cacheServers = (facts: Facts): string => membersOf(facts, "memcached", 11_211).join(",");

/** Log lines are one JSON object each, tracebacks included. */
const logging: Sections = {
  DEFAULT: {
    use_json: "true",
    use_stderr: "true",
    debug: "false",
    default_log_levels:
      "amqp=WARN,sqlalchemy=WARN,oslo.messaging=INFO,stevedore=WARN,urllib3.connectionpool=WARN,keystonemiddleware=WARN,eventlet.wsgi.server=WARN,oslo_messaging.rpc.client=ERROR",
  },
};

/** What every service has: logs, proxies in front of it, health checks and locks. */
export const commonOpen = (): Sections => ({
  ...logging,
  oslo_middleware: { enable_proxy_headers_parsing: "true" },
  // The file appears when a pod is about to stop: load balancers then send it nothing more.
  healthcheck: { backends: "disable_by_file", disable_by_file_path: "/tmp/drain" },
  oslo_concurrency: { lock_path: "/var/lock/openstack" },
});

/** How a service talks to other services, as itself. */
export function authOpen(facts: Facts, service: OpenStackService): Record<string, string> {
  return {
    auth_type: "password",
    auth_url: internalUrl(facts, "keystone-api", 5000),
    username: accountOf(facts, service, "identity").user,
    user_domain_name: "Default",
    project_name: "service",
    project_domain_name: "Default",
    region_name: facts.spec.region,
  };
}

/** The password that belongs to `authOpen`. */
export const authSecret = (facts: Facts, service: OpenStackService): Record<string, string> => ({
  password: accountOf(facts, service, "identity").password,
});

/** The check of users' tokens. */
export function tokenCheck(facts: Facts, service: OpenStackService): ServiceConfiguration {
  return {
    open: {
      keystone_authtoken: {
        ...authOpen(facts, service),
        www_authenticate_uri: publicUrl(facts, "identity"),
        memcached_servers: cacheServers(facts),
        memcache_security_strategy: "ENCRYPT",
        service_token_roles_required: "true",
        service_token_roles: "service",
      },
    },
    secret: {
      keystone_authtoken: {
        ...authSecret(facts, service),
        memcache_secret_key: secretOf(facts, "memcached.key"),
      },
    },
  };
}

/**
 * A server that hangs costs a request a minute and not its life: PyMySQL has no limit of its own, not even for the
 * greeting. InnoDB's locks are waited for for 50 s.
 */
const RESPONSE_SECONDS = 60;
/** Changes of schemas and rows may take a day. */
const JOB_RESPONSE_SECONDS = 86_400;

/** Connection pools end their connections before a load balancer or the server does. */
export const databaseOpen = (section = "database"): Sections => ({
  [section]: {
    connection_parameters: `read_timeout=${RESPONSE_SECONDS}`,
    connection_recycle_time: "280",
    max_pool_size: "5",
    max_overflow: "20",
    max_retries: "-1",
  },
});

/**
 * What Jobs read after the options of their service: the same connections, TLS of the administrator's too, with more
 * time.
 */
export function patientDatabases(open: Sections): Sections {
  const found = Object.entries(open).flatMap(([section, { connection_parameters: given }]) => {
    if (given === undefined) return [];
    const others = given.split("&").filter((each) => each !== "" && !each.startsWith("read_timeout="));
    const connection_parameters = [...others, `read_timeout=${JOB_RESPONSE_SECONDS}`].join("&");
    return [[section, { connection_parameters }] as const];
  });
  return Object.fromEntries(found);
}

/** How a service talks to its broker: quorum queues, and the URL in the secret part. */
export function brokerParts(facts: Facts, service: OpenStackService): ServiceConfiguration {
  const { release } = facts.spec;
  // Queues for replies that outlive a broker exist since 2024.1.
  const transient = release >= "2024.1" ? { rabbit_transient_quorum_queue: "true", use_queue_manager: "true" } : {};
  return {
    open: {
      DEFAULT: { rpc_ping_enabled: "true", rpc_response_timeout: "60" },
      oslo_messaging_rabbit: {
        rabbit_quorum_queue: "true",
        heartbeat_in_pthread: "false",
        heartbeat_timeout_threshold: "60",
        ...transient,
      },
      oslo_messaging_notifications: { driver: "noop" },
    },
    secret: { DEFAULT: { transport_url: brokerUrl(facts, service) } },
  };
}
