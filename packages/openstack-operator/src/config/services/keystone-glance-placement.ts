import {
  cacheServers,
  commonOpen,
  databaseOpen,
  databaseUrl,
  publicUrl,
  secretOf,
  tokenCheck,
  type Configure,
} from "../facts.ts";
import { merged } from "../sections.ts";
import { keysKept, tokenTimes } from "../../credentials/keys-kept.ts";

/** keystone.conf. Keys of tokens and credentials are files of their own. */
export const keystone: Configure = (facts) => {
  const times = tokenTimes(facts.spec);
  return {
    open: merged(commonOpen(), databaseOpen(), {
      DEFAULT: { public_endpoint: publicUrl(facts, "identity") },
      token: { provider: "fernet", expiration: String(times.lifetimeHours * 3600) },
      fernet_tokens: {
        key_repository: "/etc/keystone/fernet-keys",
        max_active_keys: String(keysKept(times)),
      },
      credential: { key_repository: "/etc/keystone/credential-keys" },
      cache: { enabled: "true", backend: "oslo_cache.memcache_pool", memcache_servers: cacheServers(facts) },
    }),
    secret: { database: { connection: databaseUrl(facts, "keystone", "keystone") } },
  };
};

/** glance-api.conf: images are in Ceph, or in files. */
export const glance: Configure = (facts) => {
  const check = tokenCheck(facts, "glance");
  const { ceph, imageClaim } = facts.spec.storage ?? {};
  const store: Readonly<Record<string, string>> = ceph
    ? {
        rbd_store_pool: ceph.imagePool ?? "images",
        rbd_store_user: "glance",
        rbd_store_ceph_conf: "/etc/ceph/ceph.conf",
      }
    : { filesystem_store_datadir: "/var/lib/glance/images" };
  return {
    open: merged(commonOpen(), databaseOpen(), check.open, {
      DEFAULT: {
        enabled_backends: ceph ? "ceph:rbd" : "files:file",
        // Without its brackets Glance stores an image and responds with 500.
        enabled_import_methods: imageClaim || ceph ? "[glance-direct,web-download,copy-image]" : "[web-download]",
      },
      glance_store: { default_backend: ceph ? "ceph" : "files" },
      [ceph ? "ceph" : "files"]: store,
      os_glance_staging_store: { filesystem_store_datadir: "/var/lib/glance/staging" },
      os_glance_tasks_store: { filesystem_store_datadir: "/var/lib/glance/tasks" },
      paste_deploy: { flavor: "keystone" },
    }),
    secret: merged(check.secret, { database: { connection: databaseUrl(facts, "glance", "glance") } }),
  };
};

/** placement.conf. */
export const placement: Configure = (facts) => {
  const check = tokenCheck(facts, "placement");
  return {
    open: merged(commonOpen(), databaseOpen("placement_database"), check.open, { api: { auth_strategy: "keystone" } }),
    secret: merged(check.secret, { placement_database: { connection: databaseUrl(facts, "placement", "placement") } }),
  };
};

/** barbican.conf. */
export const barbican: Configure = (facts) => {
  const check = tokenCheck(facts, "barbican");
  const connection = databaseUrl(facts, "barbican", "barbican");
  // Until 2023.1 the connection is an option of DEFAULT.
  const database =
    facts.spec.release < "2023.1" ? { DEFAULT: { sql_connection: connection } } : { database: { connection } };
  return {
    open: merged(commonOpen(), check.open, {
      DEFAULT: { host_href: publicUrl(facts, "key-manager") },
      secretstore: { enabled_secretstore_plugins: "store_crypto" },
      crypto: { enabled_crypto_plugins: "simple_crypto" },
    }),
    secret: merged(check.secret, database, {
      simple_crypto_plugin: { kek: secretOf(facts, "barbican.kek") },
    }),
  };
};
