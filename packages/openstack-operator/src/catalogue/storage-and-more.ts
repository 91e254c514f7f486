import type { OpenStackService } from "@causeway/api";
import type { Component, Connection } from "../model/component.ts";
import {
  backends,
  broker,
  brokerJob,
  databaseJobs,
  identity,
  job,
  PYTHON_OVS,
  registration,
  uses,
  worker,
  wsgi,
} from "./words.ts";

/** Services of the usual shape: an API and workers, with a database, a broker and a user. */

const all = (service: OpenStackService, ...more: readonly Connection[]): Connection[] => [
  ...backends(service),
  broker(service),
  identity,
  ...more,
];
const prepared = (service: OpenStackService): string[] => [
  `${service}-db-sync`,
  `${service}-register`,
  `${service}-broker-init`,
];
const preparation = (service: OpenStackService, sync: readonly string[]): Component[] => [
  ...databaseJobs(service, sync),
  brokerJob(service),
  registration(service),
];

const volumes = all("cinder", uses("glance-api", "api"), uses("nova-api", "api"), uses("barbican-api", "api"));

/** Cinder's API, scheduler, volume and backup processes. */
export const cinder: readonly Component[] = [
  ...preparation("cinder", ["cinder-manage", "--config-dir", "/etc/cinder/cinder.conf.d", "db", "sync"]),
  wsgi("cinder", {
    name: "cinder-api",
    does: "Cinder: volumes, snapshots, backups.",
    module: "cinder.wsgi.api:application",
    factory: "cinder.wsgi.wsgi:initialize_application",
    port: 8776,
    publicName: "volume",
    connections: volumes,
    after: prepared("cinder"),
    scratch: ["/var/lib/cinder"],
  }),
  worker("cinder", {
    name: "cinder-scheduler",
    does: "Chooses backends for volumes.",
    topic: "cinder-scheduler",
    connections: volumes,
    after: prepared("cinder"),
    scratch: ["/var/lib/cinder"],
  }),
  worker("cinder", {
    name: "cinder-volume",
    does: "Makes and attaches volumes of the backends.",
    kind: "StatefulSet",
    scale: "One",
    topic: "cinder-volume",
    connections: volumes,
    after: [...prepared("cinder"), "cinder-scheduler"],
    scratch: ["/var/lib/cinder"],
  }),
  worker("cinder", {
    name: "cinder-backup",
    does: "Copies volumes to the backup store.",
    scale: "One",
    topic: "cinder-backup",
    connections: volumes,
    after: [...prepared("cinder"), "cinder-scheduler"],
    scratch: ["/var/lib/cinder"],
  }),
];

const stacks = all("heat", ...["nova-api", "neutron-server", "glance-api", "cinder-api"].map((to) => uses(to, "api")));

/** Heat's two APIs and its engine. */
export const heat: readonly Component[] = [
  ...preparation("heat", ["heat-manage", "--config-dir", "/etc/heat/heat.conf.d", "db_sync"]).map((component) =>
    component.name === "heat-register"
      ? { ...component, secrets: [...(component.secrets ?? []), "heat.domainAdmin"] }
      : component,
  ),
  wsgi("heat", {
    name: "heat-api",
    does: "Heat: stacks.",
    module: "heat.wsgi.api:application",
    factory: "heat.httpd.heat_api:init_application",
    port: 8004,
    publicName: "orchestration",
    connections: stacks,
    after: prepared("heat"),
  }),
  wsgi("heat", {
    name: "heat-cfn",
    does: "Heat for signals of servers.",
    module: "heat.wsgi.cfn:application",
    factory: "heat.httpd.heat_api_cfn:init_application",
    port: 8000,
    publicName: "cloudformation",
    connections: stacks,
    after: prepared("heat"),
  }),
  worker("heat", {
    name: "heat-engine",
    does: "Works on stacks.",
    topic: "engine",
    connections: [...stacks, uses("heat-cfn", "api")],
    after: prepared("heat"),
  }),
];

const balancers = all(
  "octavia",
  ...["nova-api", "neutron-server", "glance-api", "barbican-api"].map((to) => uses(to, "api")),
);

/** Octavia's API, the driver of OVN, and the processes of amphorae. */
export const octavia: readonly Component[] = [
  ...preparation("octavia", ["/bin/sh", "/programs/octavia-db-sync.sh"]).map((component) =>
    component.name === "octavia-db-sync"
      ? { ...component, programs: [...(component.programs ?? []), "octavia-db-sync.sh"] }
      : component,
  ),
  wsgi("octavia", {
    name: "octavia-api",
    does: "Octavia: load balancers. In its pods is the driver of OVN's, which follows both databases of OVN.",
    module: "octavia.wsgi.api:application",
    factory: "octavia.api.app:setup_app",
    port: 9876,
    publicName: "load-balancer",
    connections: [...balancers, uses("ovn-nb", "ovsdb"), uses("ovn-sb", "ovsdb")],
    after: [...prepared("octavia"), "neutron-server", "ovn-northd"],
    secrets: ["octavia.certificates"],
    environment: PYTHON_OVS.environment,
    programs: ["uwsgi.ini", ...PYTHON_OVS.programs],
    scratch: ["/run/octavia"],
    // Drivers in the API report and ask by sockets of the agent, and wait for them without an end.
    companion: {
      name: "octavia-driver-agent",
      command: ["octavia-driver-agent", "--config-dir", "/etc/octavia/octavia.conf.d"],
      ready: ["test", "-S", "/run/octavia/get.sock"],
      resources: { cpu: "50m", memory: "768Mi" },
    },
  }),
  worker("octavia", {
    name: "octavia-worker",
    does: "Builds amphorae and configures them.",
    topic: "octavia_provisioning_v2",
    connections: balancers,
    after: prepared("octavia"),
    secrets: ["octavia.certificates"],
    grace: { option: { section: "DEFAULT", name: "graceful_shutdown_timeout", fallback: 300 } },
  }),
  worker("octavia", {
    name: "octavia-health-manager",
    does: "Receives heartbeats of amphorae and replaces those that failed.",
    placement: "Network",
    kind: "DaemonSet",
    scale: "Node",
    ports: [{ name: "heartbeat", port: 5555, protocol: "UDP", publicName: "health" }],
    connections: balancers,
    after: prepared("octavia"),
    secrets: ["octavia.certificates"],
    sameNode: [{ component: "openvswitch", socket: "/run/openvswitch/db.sock" }],
    probe: { ask: "command", command: ["/usr/bin/python3", "-IS", "/programs/probe.py", "listens-udp", "5555"] },
    host: {
      reason: "owns an interface of the management network on the node's integration bridge",
      network: true,
      root: true,
      capabilities: ["NET_ADMIN"],
      paths: [{ path: "/run" }],
    },
    uid: 0,
  }),
  worker("octavia", {
    name: "octavia-housekeeping",
    does: "Replaces certificates and spares, removes deleted records.",
    scale: "One",
    connections: balancers,
    after: prepared("octavia"),
    secrets: ["octavia.certificates"],
    probe: {
      ask: "command",
      command: ["/usr/bin/python3", "-IS", "/programs/probe.py", "runs", "octavia-housekeeping"],
    },
  }),
];

const zones = all("designate");

/** Where name servers are queried and notified of changes: DNS, BIND's control channel, PowerDNS's API. */
const NAME_SERVERS = [{ port: 53, protocol: "UDP" }, { port: 53 }, { port: 953 }, { port: 8081 }] as const;
const POOLS = "designate-pools.sh";

/**
 * Designate's API, central, workers, the process of periodic work and the server that zones are transferred from. Its
 * pools of name servers are a file of the administrator.
 */
export const designate: readonly Component[] = [
  ...preparation("designate", [
    "designate-manage",
    "--config-dir",
    "/etc/designate/designate.conf.d",
    "database",
    "sync",
  ]),
  wsgi("designate", {
    name: "designate-api",
    does: "Designate: zones and records.",
    module: "designate.wsgi.api:application",
    factory: "designate.api.wsgi:init_application",
    port: 9001,
    publicName: "dns",
    connections: zones,
    after: prepared("designate"),
  }),
  worker("designate", {
    name: "designate-central",
    does: "Keeps zones and records.",
    topic: "central",
    connections: zones,
    after: prepared("designate"),
  }),
  worker("designate", {
    name: "designate-worker",
    does: "Writes zones to the name servers.",
    topic: "worker",
    connections: zones,
    after: [...prepared("designate"), "designate-central"],
    outside: NAME_SERVERS,
  }),
  worker("designate", {
    name: "designate-producer",
    does: "Periodic work: notices of changes, zones that wait for a name server, deleted ones.",
    // Several divide the work by a coordinator, which there is none of.
    scale: "One",
    topic: "producer",
    connections: zones,
    after: [...prepared("designate"), "designate-central"],
  }),
  worker("designate", {
    name: "designate-mdns",
    does: "Serves transfers of zones to the name servers.",
    // Name servers ask for the serial number by UDP.
    ports: [
      { name: "dns", port: 5354, publicName: "transfer" },
      { name: "dns-udp", port: 5354, protocol: "UDP", publicName: "transfer" },
    ],
    connections: zones,
    after: [...prepared("designate"), "designate-central"],
    outside: NAME_SERVERS,
    probe: { ask: "command", command: ["/usr/bin/python3", "-IS", "/programs/probe.py", "resolves", "5354"] },
  }),
  job("designate", {
    name: "designate-pools",
    does: "Gives Designate its pools of name servers: pools.yaml of the Secret of services[].secretConfiguration.",
    command: ["/bin/sh", `/programs/${POOLS}`],
    connections: [broker("designate")],
    after: ["designate-central"],
    programs: [POOLS],
    rerunWith: ["designate.secretConfiguration"],
  }),
];

const shares = all("manila", ...["nova-api", "neutron-server", "cinder-api"].map((to) => uses(to, "api")));

/** Manila's API, scheduler and share process. */
export const manila: readonly Component[] = [
  ...preparation("manila", ["manila-manage", "--config-dir", "/etc/manila/manila.conf.d", "db", "sync"]),
  wsgi("manila", {
    name: "manila-api",
    does: "Manila: shared file systems.",
    module: "manila.wsgi.wsgi:application",
    factory: "manila.wsgi.wsgi:initialize_application",
    port: 8786,
    publicName: "share",
    connections: shares,
    after: prepared("manila"),
    scratch: ["/var/lib/manila"],
  }),
  worker("manila", {
    name: "manila-scheduler",
    does: "Chooses backends for shares.",
    topic: "manila-scheduler",
    connections: shares,
    after: prepared("manila"),
    scratch: ["/var/lib/manila"],
  }),
  worker("manila", {
    name: "manila-share",
    does: "Makes shares of the backends.",
    kind: "StatefulSet",
    scale: "One",
    topic: "manila-share",
    connections: shares,
    after: [...prepared("manila"), "manila-scheduler"],
    // The same for every pod that takes the backend over: shares belong to it. Schedulers have names of their own.
    environment: { OS_DEFAULT__HOST: "manila-share" },
    scratch: ["/var/lib/manila"],
  }),
];
