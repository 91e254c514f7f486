import type { Component } from "../model/component.ts";
import { PREFLIGHT } from "./fabric.ts";
import {
  backends,
  broker,
  brokerJob,
  databaseJobs,
  identity,
  needs,
  PYTHON_OVS,
  registration,
  SERVICE_UID,
  uses,
  worker,
  wsgi,
} from "./words.ts";

const OVS_SOCKET = "/run/openvswitch/db.sock";
const CONTROLLER_STATUS = "ovs-appctl -t /run/ovn/ovn-controller.ctl connection-status";
/** Open vSwitch makes it once the bridge of all servers works. */
const BRIDGE_SOCKET = "/run/openvswitch/br-int.mgmt";

/** Pods on the host's network share its ports. */
const EXPORTER_PORTS = { switch: 9476, controller: 9477, northd: 9476, nb: 9476, sb: 9476 } as const;

const exporterOf = (kind: keyof typeof EXPORTER_PORTS): Pick<Component, "exporter"> => ({
  exporter: {
    image: kind === "switch" ? "openvswitch" : "ovn",
    command: ["/usr/bin/python3", "-IS", "/programs/ovn-exporter.py", String(EXPORTER_PORTS[kind]), kind],
    port: EXPORTER_PORTS[kind],
    programs: ["ovn-exporter.py"],
    sockets: kind === "switch" || kind === "controller" ? "/run" : "/run/ovn",
  },
});

/** OVN's database of networks, which Neutron writes. */
export const NORTHBOUND = "ovn-nb";
/** The one that northd writes from it, which nodes read. */
export const SOUTHBOUND = "ovn-sb";

const ovnDatabase = (side: "nb" | "sb", port: number, peer: number): Component => ({
  name: `ovn-${side}`,
  service: "ovn",
  kind: "StatefulSet",
  image: "ovn",
  command: ["/bin/sh", "/programs/ovn-db.sh", side],
  prepares: ["/bin/sh", "/programs/ovn-db.sh", side, "prepare"],
  placement: "Control",
  scale: "Quorum",
  ports: [
    // A member without data asks the others before it makes a database of its own.
    { name: "ovsdb", port, peers: true },
    { name: "raft", port: peer, peers: true },
  ],
  programs: ["ovn-db.sh"],
  probe: {
    ask: "unixctl",
    socket: `/run/ovn/ovn${side}_db.ctl`,
    command: `cluster/status OVN_${side === "nb" ? "Northbound" : "Southbound"}`,
    expect: "Status: cluster member",
  },
  ...exporterOf(side),
  grace: { seconds: 60 },
  quorum: "Majority",
  volume: { mountPath: "/var/lib/ovn", size: "ovn" },
  scratch: ["/run/ovn"],
  resources: { cpu: "100m", memory: "512Mi" },
  uid: SERVICE_UID,
  does: `OVN's ${side === "nb" ? "northbound" : "southbound"} database, replicated by Raft.`,
});

const onHost = { placement: "Host", scale: "Node", kind: "DaemonSet" } as const;

/** OVN: both databases, northd, and what runs on each node. */
export const ovn: readonly Component[] = [
  ovnDatabase("nb", 6641, 6643),
  ovnDatabase("sb", 6642, 6644),
  {
    name: "ovn-northd",
    service: "ovn",
    kind: "Deployment",
    image: "ovn",
    command: ["/bin/sh", "/programs/ovn-northd.sh"],
    placement: "Control",
    scale: "Worker",
    connections: [needs("ovn-nb", "ovsdb"), needs("ovn-sb", "ovsdb")],
    programs: ["ovn-northd.sh"],
    probe: { ask: "unixctl", socket: "/run/ovn/ovn-northd.ctl", command: "status", expect: "Status: (active|standby)" },
    ...exporterOf("northd"),
    grace: { seconds: 30 },
    quorum: "Any",
    scratch: ["/run/ovn"],
    resources: { cpu: "100m", memory: "256Mi" },
    uid: SERVICE_UID,
    does: "Translates the northbound into the southbound database. One of them is active.",
  },
  {
    name: "openvswitch",
    service: "ovn",
    ...onHost,
    image: "openvswitch",
    command: ["/bin/sh", "/programs/openvswitch.sh"],
    after: [PREFLIGHT],
    programs: ["openvswitch.sh"],
    probe: { ask: "unixctl", socket: "/run/openvswitch/ovs-vswitchd.ctl", command: "ofproto/list" },
    ...exporterOf("switch"),
    grace: { seconds: 60 },
    host: {
      reason: "switches packets in the host's network namespace",
      network: true,
      root: true,
      capabilities: ["NET_ADMIN", "SYS_NICE"],
      paths: [
        { path: "/run" },
        { path: "/etc/openvswitch" },
        { path: "/lib/modules", readOnly: true },
        // The switch in user space, where the kernel has no module of it, makes its ports by /dev/net/tun.
        { path: "/dev/net" },
      ],
    },
    resources: { cpu: "250m", memory: "512Mi" },
    uid: 0,
    does: "Open vSwitch of a node. Flows remain while it is replaced.",
  },
  {
    name: "ovn-controller",
    service: "ovn",
    ...onHost,
    image: "ovn",
    command: ["/bin/sh", "/programs/ovn-controller.sh"],
    connections: [needs("ovn-sb", "ovsdb")],
    after: ["ovn-northd"],
    sameNode: [{ component: "openvswitch", socket: OVS_SOCKET }],
    programs: ["ovn-controller.sh"],
    probe: {
      // Ready: it has the southbound database, and the switch has made its bridge.
      ask: "command",
      command: ["/bin/sh", "-c", `${CONTROLLER_STATUS} | grep -qx connected && test -S ${BRIDGE_SOCKET}`],
      alive: ["/bin/sh", "-c", `${CONTROLLER_STATUS} >/dev/null`],
    },
    ...exporterOf("controller"),
    grace: { seconds: 30 },
    host: {
      reason: "writes flows through the sockets of Open vSwitch on the host",
      network: true,
      root: true,
      capabilities: ["NET_ADMIN"],
      paths: [{ path: "/run" }],
    },
    resources: { cpu: "100m", memory: "512Mi" },
    uid: 0,
    does: "Flows of a node, from the southbound database. A loss of that database restarts nothing.",
  },
];

/**
 * The first release whose API runs under uWSGI with OVN. Its other processes are components of their own; before it,
 * neutron-server starts them.
 */
const WSGI_WITH_OVN = "2025.1";

const neutronNeeds = [
  ...backends("neutron"),
  broker("neutron"),
  identity,
  needs("ovn-nb", "ovsdb"),
  needs("ovn-sb", "ovsdb"),
];

/**
 * A process of Neutron other than its API. Without a topic it listens to nothing: that it runs is all that can be
 * checked.
 */
const neutronWorker = (name: string, does: string, more: { readonly topic?: string } = {}): Component =>
  worker("neutron", {
    name,
    does,
    ...PYTHON_OVS,
    since: WSGI_WITH_OVN,
    environment: { ...PYTHON_OVS.environment, OS_NEUTRON_CONFIG_FILES: "neutron.conf" },
    demandsMainFile: true,
    connections: neutronNeeds,
    after: ["neutron-db-sync", "neutron-broker-init", "neutron-server"],
    ...(more.topic === undefined
      ? {
          probe: { ask: "command" as const, command: ["/usr/bin/python3", "-IS", "/programs/probe.py", "runs", name] },
        }
      : more),
  });

/** Neutron's API and workers, and the metadata agent of every compute node. */
export const neutron: readonly Component[] = [
  ...databaseJobs("neutron", ["neutron-db-manage", "--config-dir", "/etc/neutron/neutron.conf.d", "upgrade", "heads"]),
  brokerJob("neutron"),
  registration("neutron"),
  wsgi("neutron", {
    name: "neutron-server",
    does: "Neutron: networks, ports, routers, security groups; before 2025.1 also its messages and periodic tasks.",
    module: "neutron.wsgi.api:application",
    // Under uWSGI the OVN driver of these releases never connects with OVN's databases, and waits at the first write.
    earlier: { before: WSGI_WITH_OVN, command: ["neutron-server", "--config-dir", "/etc/neutron/neutron.conf.d"] },
    port: 9696,
    publicName: "network",
    // Options of ML2 are in the same file.
    environment: { ...PYTHON_OVS.environment, OS_NEUTRON_CONFIG_FILES: "neutron.conf" },
    demandsMainFile: true,
    programs: ["uwsgi.ini", ...PYTHON_OVS.programs],
    connections: [...neutronNeeds, uses("nova-api", "api"), uses("placement-api", "api"), uses("designate-api", "api")],
    after: ["neutron-db-sync", "neutron-register", "neutron-broker-init", "ovn-northd"],
    resources: { cpu: "200m", memory: "1Gi" },
  }),
  neutronWorker("neutron-rpc-server", "Neutron's workers for messages of agents.", { topic: "q-plugin" }),
  neutronWorker("neutron-periodic-workers", "Neutron's periodic tasks."),
  neutronWorker("neutron-ovn-maintenance-worker", "Repairs what differs between Neutron's and OVN's databases."),
  worker("neutron", {
    name: "neutron-ovn-metadata-agent",
    does: "Metadata for the servers of a compute node.",
    ...PYTHON_OVS,
    kind: "DaemonSet",
    placement: "Compute",
    scale: "Node",
    connections: [needs("ovn-sb", "ovsdb"), needs("nova-metadata", "api")],
    after: ["neutron-server"],
    // It asks OVN and Nova's metadata alone.
    lacks: ["database", "nova", "placement", "keystone_authtoken"],
    sameNode: [{ component: "ovn-controller", socket: "/run/ovn/ovn-controller.ready" }],
    probe: {
      ask: "command",
      command: ["/usr/bin/python3", "-IS", "/programs/probe.py", "answers", "/var/lib/neutron/metadata_proxy"],
    },
    grace: { seconds: 60 },
    // A proxy for each network of the node's servers, and helpers with privileges, are its processes.
    resources: { cpu: "100m", memory: "1Gi" },
    host: {
      reason: "makes network namespaces for metadata proxies on the host",
      network: true,
      privileged: true,
      root: true,
      paths: [{ path: "/run" }, { path: "/run/netns", bidirectional: true }, { path: "/var/lib/neutron" }],
    },
    uid: 0,
  }),
];
