import { FIRST_CELL } from "../model/cell.ts";
import type { Component } from "../model/component.ts";
import {
  backends,
  broker,
  brokerJob,
  databaseJobs,
  databaseOf,
  identity,
  job,
  makesSchemas,
  needs,
  registration,
  uses,
  worker,
  wsgi,
} from "./words.ts";

const CONFIG = ["--config-dir", "/etc/nova/nova.conf.d"];
const schemas = ["nova-db-sync", "nova-cell-sync", "nova-register", "nova-broker-init"];

/**
 * Each conductor has the manager of both kinds, which exits if Placement is registered and does not respond. That of a
 * cell also frees ports and volumes of a server that could not be built, and places it again.
 */
const conductorNeeds = [
  ...backends("nova"),
  broker("nova"),
  identity,
  needs("placement-api", "api"),
  uses("neutron-server", "api"),
  uses("glance-api", "api"),
  uses("cinder-api", "api"),
];

/** Nova's Jobs, APIs and workers, and nova-compute on every node with the role Compute. */
export const nova: readonly Component[] = [
  ...databaseJobs("nova", ["nova-manage", ...CONFIG, "api_db", "sync"], ["nova_api"]),
  brokerJob("nova"),
  registration("nova"),
  job("nova", {
    name: "nova-cell-map",
    does: "Maps cell0 and the first cell to their databases and broker.",
    // The name of the database is a part of the template, too: there is one cell.
    command: ["/bin/sh", "/programs/nova-cell.sh", "map", "cell1", "{path}"],
    connections: [needs(databaseOf("nova"), "mysql")],
    after: ["nova-db-sync"],
    rerunWith: ["nova-db-sync", "nova-broker-init"],
    programs: ["nova-cell.sh"],
  }),
  job("nova", {
    name: "nova-cell-sync",
    does: "Brings the schemas of all cells to the release.",
    command: ["nova-manage", ...CONFIG, "db", "sync"],
    ...makesSchemas("nova", ["nova", "nova_cell0"]),
    connections: [needs(databaseOf("nova"), "mysql")],
    after: ["nova-cell-map"],
    rerunWith: ["nova-cell-map"],
  }),
  worker("nova", {
    name: "nova-super-conductor",
    does: "Conductor above the cells: builds, migrations and resizes. It exits at the start like nova-scheduler.",
    image: "nova",
    command: ["nova-conductor", ...CONFIG],
    topic: "conductor",
    connections: conductorNeeds,
    after: schemas,
  }),
  worker("nova", {
    name: "nova-conductor",
    cell: FIRST_CELL,
    does: "Conductor of the first cell: database access of its compute nodes.",
    command: ["nova-conductor", ...CONFIG],
    topic: "conductor",
    connections: conductorNeeds,
    after: schemas,
  }),
  worker("nova", {
    name: "nova-scheduler",
    does: "Chooses nodes for servers. It exits at the start if Placement does not respond.",
    command: ["nova-scheduler", ...CONFIG],
    topic: "scheduler",
    // It asks for each port of a new server whether a smart card manages it.
    connections: [
      ...backends("nova"),
      broker("nova"),
      identity,
      needs("placement-api", "api"),
      uses("neutron-server", "api"),
    ],
    after: schemas,
  }),
  wsgi("nova", {
    name: "nova-api",
    does: "Nova: servers, flavors, key pairs.",
    module: "nova.wsgi.osapi_compute:application",
    factory: "nova.api.openstack.compute.wsgi:init_application",
    port: 8774,
    publicName: "compute",
    connections: [
      ...backends("nova"),
      broker("nova"),
      identity,
      uses("placement-api", "api"),
      uses("neutron-server", "api"),
      uses("glance-api", "api"),
      uses("cinder-api", "api"),
    ],
    after: [...schemas, "nova-super-conductor", "nova-conductor"],
    // Nova has no health application: its list of versions needs neither database nor broker.
    probe: { ask: "http", path: "/", port: "api" },
  }),
  wsgi("nova", {
    name: "nova-metadata",
    does: "Metadata of servers.",
    module: "nova.wsgi.metadata:application",
    factory: "nova.api.metadata.wsgi:init_application",
    port: 8775,
    publicName: "metadata",
    connections: [...backends("nova"), broker("nova"), identity, uses("neutron-server", "api")],
    after: [...schemas, "nova-conductor"],
    probe: { ask: "http", path: "/", port: "api" },
  }),
  worker("nova", {
    name: "nova-novncproxy",
    cell: FIRST_CELL,
    does: "Consoles of servers in a browser.",
    command: ["nova-novncproxy", ...CONFIG],
    ports: [{ name: "vnc", port: 6080, publicName: "console", tls: true }],
    connections: [...backends("nova"), broker("nova"), identity, uses("libvirt", "vnc")],
    after: schemas,
    probe: { ask: "tcp", port: "vnc" },
  }),
  worker("nova", {
    name: "nova-compute",
    cell: FIRST_CELL,
    does: "Runs servers on a compute node.",
    kind: "DaemonSet",
    placement: "Compute",
    scale: "Node",
    image: "nova-compute",
    command: ["/bin/sh", "/programs/nova-compute.sh"],
    programs: ["nova-compute.sh", "compute-id.py"],
    topic: "compute",
    connections: [
      broker("nova"),
      identity,
      needs("placement-api", "api"),
      needs("neutron-server", "api"),
      needs("glance-api", "api"),
      uses("cinder-api", "api"),
      uses("nova-api", "api"),
    ],
    after: ["nova-conductor", "nova-scheduler"],
    // The conductor asks the databases for it.
    lacks: ["database", "api_database"],
    sameNode: [
      { component: "libvirt", socket: "/run/libvirt/libvirt-sock" },
      { component: "ovn-controller", socket: "/run/ovn/ovn-controller.ready" },
    ],
    host: {
      reason: "attaches disks and network devices of servers, which are processes of the host",
      network: true,
      pid: true,
      privileged: true,
      root: true,
      paths: [
        { path: "/var/lib/nova", bidirectional: true },
        { path: "/var/lib/libvirt", bidirectional: true },
        { path: "/run" },
        { path: "/dev" },
        { path: "/sys/fs/cgroup" },
        { path: "/lib/modules", readOnly: true },
      ],
    },
    grace: { option: { section: "DEFAULT", name: "graceful_shutdown_timeout", fallback: 180 } },
    // Nova stops in the middle of a migration: the machine would be on one node, and Nova's record on the other.
    settles: "migrations.py",
    resources: { cpu: "250m", memory: "1Gi" },
    uid: 0,
  }),
  job("nova", {
    name: "nova-discover-hosts",
    does: "Maps new compute nodes to the first cell.",
    command: ["nova-manage", ...CONFIG, "cell_v2", "discover_hosts"],
    connections: [needs(databaseOf("nova"), "mysql"), uses("rabbitmq", "amqp")],
    after: ["nova-compute", "nova-cell-map"],
    rerunWith: ["nova-cell-map", "compute-nodes"],
  }),
];

/** libvirt on every node with the role Compute. Its machines continue while it is replaced. */
export const libvirt: readonly Component[] = [
  {
    name: "libvirt",
    service: "libvirt",
    kind: "DaemonSet",
    image: "libvirt",
    command: ["/bin/sh", "/programs/libvirt.sh"],
    placement: "Compute",
    scale: "Node",
    ports: [
      { name: "migration", port: 16_514, peers: true },
      { name: "vnc", port: 5900 },
    ],
    sameNode: [{ component: "ovn-controller", socket: "/run/ovn/ovn-controller.ready" }],
    programs: ["libvirt.sh"],
    secrets: ["libvirt.tls"],
    probe: {
      ask: "command",
      command: ["virsh", "--connect", "qemu:///system?socket=/run/libvirt/libvirt-sock-ro", "version"],
    },
    grace: { seconds: 60 },
    host: {
      reason: "starts virtual machines in cgroups of the host, so that they live on when the pod is replaced",
      network: true,
      pid: true,
      privileged: true,
      root: true,
      paths: [
        { path: "/var/lib/nova", bidirectional: true },
        { path: "/var/lib/libvirt", bidirectional: true },
        { path: "/etc/libvirt/qemu" },
        { path: "/run" },
        { path: "/dev" },
        { path: "/sys/fs/cgroup" },
        { path: "/lib/modules", readOnly: true },
      ],
    },
    resources: { cpu: "250m", memory: "512Mi" },
    uid: 0,
    does: "Virtual machines of a compute node. They live on while it is replaced.",
  },
];
