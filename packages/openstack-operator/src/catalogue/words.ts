import type { OpenStackService } from "@causeway/api";
import type { Component, Connection, Grace, Port } from "../model/component.ts";

/** Words that the tables of components are written with. */

/** A connection that is needed before the process starts. */
export const needs = (to: string, port: string): Connection => ({ to, port, needed: true });
/** A connection that is used later: the process starts without it. */
export const uses = (to: string, port: string): Connection => ({ to, port, needed: false });

/** What every service of OpenStack is connected with. */
export const backends = (service: OpenStackService): Connection[] => [
  needs(databaseOf(service), "mysql"),
  needs("memcached", "memcache"),
];
/** The connection to the service's message broker. */
export const broker = (service: OpenStackService): Connection => needs(brokerOf(service), "amqp");
/** The connection to Keystone. */
export const identity: Connection = needs("keystone-api", "api");

/**
 * The names that represent the cluster that a service uses: which one that is, the deployment's specification decides.
 */
export const databaseOf = (service: OpenStackService): string => `database:${service}`;
/** See `databaseOf`. */
export const brokerOf = (service: OpenStackService): string => `broker:${service}`;

/** Grace of a service that stops by oslo.service's own limit. */
export const serviceGrace: Grace = {
  option: { section: "DEFAULT", name: "graceful_shutdown_timeout", fallback: 60 },
};
/** uWSGI ends its workers within this time. */
export const wsgiGrace: Grace = { seconds: 80 };
/** The user that all services of OpenStack run as, in images and on volumes. */
export const SERVICE_UID = 42_424;

const api = (port: number, publicName: string): Port[] => [{ name: "api", port, publicName, tls: true }];

/** Processes of Python that are connected with OVN's databases: names have to be looked up for their library. */
export const PYTHON_OVS = { programs: ["sitecustomize.py"], environment: { PYTHONPATH: "/programs" } } as const;

/** An HTTP API under uWSGI. */
export function wsgi(
  service: OpenStackService,
  facts: Pick<Component, "name" | "does"> &
    Partial<Component> & {
      readonly module: string;
      /** Before 2025.1, where it is another one: `module:factory()` makes the application. */
      readonly factory?: string;
      readonly port: number;
      readonly publicName: string;
      /** A path below which uWSGI serves the files of a folder of the image. */
      readonly files?: { readonly path: string; readonly folder: string };
    },
): Component {
  const { module, factory, port, publicName, files, ...rest } = facts;
  const serving = (application: string) => [
    "uwsgi",
    "--ini",
    "/programs/uwsgi.ini",
    "--http-socket",
    `:${port}`,
    "--module",
    application,
    // Links lead to files of other packages.
    ...(files ? ["--static-map", `${files.path}=${files.folder}`, "--static-safe", "/usr/share"] : []),
  ];
  return {
    service,
    kind: "Deployment",
    image: service,
    command: serving(module),
    ...(factory === undefined ? {} : { earlier: { before: "2025.1" as const, command: serving(`${factory}()`) } }),
    placement: "Control",
    scale: "Api",
    ports: api(port, publicName),
    configuration: [service],
    programs: ["uwsgi.ini"],
    probe: { ask: "http", path: "/healthcheck", port: "api" },
    grace: wsgiGrace,
    quorum: "Any",
    resources: { cpu: "100m", memory: "512Mi" },
    uid: SERVICE_UID,
    ...rest,
  };
}

/** A process that works on messages of the broker. */
export function worker(
  service: OpenStackService,
  facts: Pick<Component, "name" | "does"> & Partial<Component> & { readonly topic?: string },
): Component {
  const { topic, ...rest } = facts;
  return {
    service,
    kind: "Deployment",
    image: service,
    command: [facts.name, "--config-dir", `/etc/${service}/${service}.conf.d`],
    placement: "Control",
    scale: "Worker",
    configuration: [service],
    ...(topic === undefined ? {} : { probe: { ask: "rpc" as const, topic } }),
    grace: serviceGrace,
    quorum: "Any",
    resources: { cpu: "100m", memory: "384Mi" },
    uid: SERVICE_UID,
    ...rest,
  };
}

/** A Job. */
export function job(
  service: OpenStackService,
  facts: Pick<Component, "name" | "does" | "command"> & Partial<Component>,
): Component {
  return {
    service,
    kind: "Job",
    image: service,
    placement: "Control",
    scale: "One",
    configuration: [service],
    grace: { seconds: 30 },
    resources: { cpu: "100m", memory: "384Mi" },
    uid: SERVICE_UID,
    ...facts,
  };
}

/** What a Job that makes schemas has in addition. */
export const makesSchemas = (service: OpenStackService, databases: readonly string[]): Partial<Component> => ({
  schemas: databases,
  secrets: [`${service}.database`],
  programs: ["db-unfinished.sh"],
});

/** The Jobs before a service with a database starts: accounts and databases, then the schema. */
export function databaseJobs(
  service: OpenStackService,
  sync: readonly string[],
  databases: readonly string[] = [service],
): Component[] {
  return [
    job(service, {
      name: `${service}-db-init`,
      does: `Creates the databases and the account of ${service}.`,
      image: "mariadb",
      command: ["/bin/sh", "/programs/db-init.sh", service],
      configuration: [],
      connections: [needs(databaseOf(service), "mysql")],
      secrets: [`${service}.database`, "database.admin"],
      programs: ["db-init.sh"],
    }),
    job(service, {
      name: `${service}-db-sync`,
      does: `Brings the schema of ${service} to its release.`,
      command: sync,
      ...makesSchemas(service, databases),
      connections: [needs(databaseOf(service), "mysql")],
      after: [`${service}-db-init`],
      rerunWith: [`${service}-db-init`],
    }),
  ];
}

/** The Job that registers users, services and endpoints in Keystone. */
export function registration(service: OpenStackService): Component {
  return job(service, {
    name: `${service}-register`,
    does: `Registers the user, the service and the endpoints of ${service} in Keystone.`,
    image: "keystone",
    command: ["/usr/bin/python3", "/programs/register.py", `/programs/${service}.json`],
    configuration: [],
    connections: [identity],
    after: ["keystone-bootstrap"],
    secrets: [`${service}.identity`, "keystone.admin"],
    programs: ["register.py", "first_request.py", `${service}.json`],
  });
}

/** The Job that creates a virtual host and an account of the broker. */
export function brokerJob(service: OpenStackService): Component {
  return job(service, {
    name: `${service}-broker-init`,
    does: `Creates the virtual host and the account of ${service} in the message broker.`,
    image: "keystone",
    command: ["/usr/bin/python3", "/programs/broker-init.py", service],
    configuration: [],
    connections: [needs(brokerOf(service), "management")],
    secrets: [`${service}.broker`, "broker.admin"],
    programs: ["broker-init.py", "first_request.py"],
  });
}
