import type { OpenStackService } from "@causeway/api";
import type { Component } from "../model/component.ts";

/** Databases, brokers and caches. Those of one service carry its name: mariadb-neutron. */

/** A Galera cluster of MariaDB: of one service, or without an owner the one that services share. */
export function databaseCluster(owner?: OpenStackService): Component {
  return {
    name: owner === undefined ? "mariadb" : `mariadb-${owner}`,
    service: "mariadb",
    kind: "StatefulSet",
    image: "mariadb",
    command: ["/bin/sh", "/programs/galera.sh"],
    placement: "Control",
    scale: "Quorum",
    ports: [
      { name: "mysql", port: 3306 },
      { name: "replication", port: 4567, peers: true },
      { name: "ist", port: 4568, peers: true },
      { name: "sst", port: 4444, peers: true },
    ],
    secrets: ["database.admin"],
    programs: ["galera.sh", "mysqld-exporter.sh"],
    probe: {
      ask: "command",
      command: ["/bin/sh", "/programs/galera.sh", "ready"],
      // A member that sends its data to another one, or waits for the others, is not ready, and alive.
      alive: ["/bin/sh", "/programs/galera.sh", "alive"],
    },
    // It is in the pod that has the administrator's password anyway.
    exporter: { image: "mysqld-exporter", command: ["/bin/sh", "/programs/mysqld-exporter.sh"], port: 9104 },
    grace: { seconds: 120 },
    quorum: "Majority",
    volume: { mountPath: "/var/lib/mysql", size: "database" },
    scratch: ["/run/mysqld"],
    resources: { cpu: "500m", memory: "2Gi" },
    uid: 999,
    does: "Galera cluster of MariaDB. After a loss of all members the one with the last transaction starts the cluster.",
  };
}

/** RabbitMQ for all services ("rabbitmq"), or with `owner` a cluster of that service's own ("rabbitmq-nova"). */
export function brokerCluster(owner?: OpenStackService): Component {
  return {
    name: owner === undefined ? "rabbitmq" : `rabbitmq-${owner}`,
    service: "rabbitmq",
    kind: "StatefulSet",
    image: "rabbitmq",
    command: ["/bin/sh", "/programs/rabbitmq.sh"],
    placement: "Control",
    scale: "Quorum",
    ports: [
      { name: "amqp", port: 5672 },
      { name: "management", port: 15_672 },
      { name: "metrics", port: 15_692 },
      { name: "epmd", port: 4369, peers: true },
      { name: "distribution", port: 25_672, peers: true },
    ],
    secrets: ["broker.admin", "broker.cookie"],
    programs: ["rabbitmq.sh", "rabbitmq.conf"],
    // It listens once it has started, and the kernel alone accepts a connection: it has to say something. Its own
    // diagnostics start an Erlang machine for each question.
    probe: { ask: "command", command: ["/usr/bin/python3", "-IS", "/programs/probe.py", "greets", "5672"] },
    grace: { seconds: 120 },
    quorum: "Majority",
    volume: { mountPath: "/var/lib/rabbitmq", size: "broker" },
    resources: { cpu: "250m", memory: "1Gi" },
    uid: 999,
    does: "Message broker with quorum queues. Members of a cluster that lost all of them start in any order.",
  };
}

/** One cache for all services; clients know each pod by its name. */
export const memcached: Component = {
  name: "memcached",
  service: "memcached",
  kind: "StatefulSet",
  image: "memcached",
  command: ["memcached", "-m", "256", "-c", "4096", "-I", "2m"],
  placement: "Control",
  scale: "Quorum",
  ports: [{ name: "memcache", port: 11_211 }],
  probe: { ask: "tcp", port: "memcache" },
  exporter: {
    image: "memcached-exporter",
    command: ["prometheus-memcached-exporter", "--memcached.address=127.0.0.1:11211", "--web.listen-address=:9150"],
    port: 9150,
  },
  grace: { seconds: 10 },
  quorum: "Any",
  resources: { cpu: "50m", memory: "320Mi" },
  uid: 999,
  does: "Cache of tokens and of Nova. Its loss costs time, not data.",
};
