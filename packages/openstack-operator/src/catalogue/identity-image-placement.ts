import type { Component } from "../model/component.ts";
import { backends, databaseJobs, identity, job, registration, uses, wsgi } from "./words.ts";

/** Keystone: its API, and the Jobs that set up what every other service needs of it. */
export const keystone: readonly Component[] = [
  ...databaseJobs("keystone", ["keystone-manage", "--config-dir", "/etc/keystone/keystone.conf.d", "db_sync"]),
  wsgi("keystone", {
    name: "keystone-api",
    does: "Keystone: tokens, users, projects, the catalogue.",
    module: "keystone.wsgi.api:application",
    factory: "keystone.server.wsgi:initialize_public_application",
    port: 5000,
    publicName: "identity",
    connections: backends("keystone"),
    after: ["keystone-db-sync"],
    secrets: ["keystone.tokenKeys", "keystone.credentialKeys"],
  }),
  job("keystone", {
    name: "keystone-bootstrap",
    does: "Creates the administrator, the service project and Keystone's own endpoints.",
    command: ["/bin/sh", "/programs/keystone-bootstrap.sh"],
    connections: [identity, ...backends("keystone")],
    secrets: ["keystone.admin", "keystone.tokenKeys", "keystone.credentialKeys"],
    programs: ["keystone-bootstrap.sh", "keystone.env"],
    rerunWith: ["keystone-db-sync"],
  }),
  job("keystone", {
    name: "keystone-credential-migrate",
    does: "Encrypts stored credentials with the newest of Keystone's credential keys.",
    command: ["keystone-manage", "--config-dir", "/etc/keystone/keystone.conf.d", "credential_migrate"],
    connections: backends("keystone"),
    after: ["keystone-db-sync"],
    // Keystone loads its tokens, too, and ends without their keys.
    secrets: ["keystone.tokenKeys", "keystone.credentialKeys"],
    rerunWith: ["credential-keys"],
  }),
];

/** Glance's API. */
export const glance: readonly Component[] = [
  ...databaseJobs("glance", ["glance-manage", "--config-dir", "/etc/glance/glance.conf.d", "db_sync"]),
  registration("glance"),
  wsgi("glance", {
    name: "glance-api",
    does: "Glance: images.",
    module: "glance.common.wsgi_app:init_app()",
    port: 9292,
    publicName: "image",
    connections: [...backends("glance"), identity],
    after: ["glance-db-sync", "glance-register"],
    scratch: ["/var/lib/glance"],
  }),
];

/** Placement's API. */
export const placement: readonly Component[] = [
  ...databaseJobs("placement", ["placement-manage", "--config-dir", "/etc/placement/placement.conf.d", "db", "sync"]),
  registration("placement"),
  wsgi("placement", {
    name: "placement-api",
    does: "Placement: inventories and allocations.",
    module: "placement.wsgi.api:application",
    factory: "placement.wsgi:init_application",
    port: 8778,
    publicName: "placement",
    connections: [...backends("placement"), identity],
    after: ["placement-db-sync", "placement-register"],
    probe: { ask: "http", path: "/", port: "api" },
  }),
];

/** Barbican's API, with its simple crypto plugin: secrets are in its database, encrypted by a key of ours. */
export const barbican: readonly Component[] = [
  ...databaseJobs("barbican", ["barbican-manage", "db", "upgrade"]),
  registration("barbican"),
  wsgi("barbican", {
    name: "barbican-api",
    does: "Barbican: secrets and keys.",
    module: "barbican.wsgi.api:application",
    factory: "barbican.api.app:get_api_wsgi_script",
    port: 9311,
    publicName: "key-manager",
    connections: [...backends("barbican"), identity],
    after: ["barbican-db-sync", "barbican-register"],
  }),
];

/**
 * The dashboard. It has no database: sessions are in memcached. Its image has styles and scripts, compressed, where
 * programs/local_settings.py says.
 */
export const horizon: readonly Component[] = [
  wsgi("horizon", {
    name: "horizon",
    does: "Horizon: the dashboard.",
    module: "dashboard_wsgi:application",
    port: 8080,
    publicName: "dashboard",
    connections: [
      identity,
      uses("nova-api", "api"),
      uses("neutron-server", "api"),
      uses("glance-api", "api"),
      uses("cinder-api", "api"),
      uses("memcached", "memcache"),
    ],
    secrets: ["horizon.secret"],
    configuration: [],
    programs: ["uwsgi.ini", "dashboard.json", "dashboard_wsgi.py", "local_settings.py"],
    environment: { PYTHONPATH: "/programs" },
    files: { path: "/static", folder: "/usr/share/openstack-dashboard/static" },
    probe: { ask: "http", path: "/auth/login/", port: "api", host: "localhost" },
  }),
];
