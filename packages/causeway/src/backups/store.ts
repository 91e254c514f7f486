import { InputError, messageOf, readTextFile, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { createBackups, type Backups, type ObjectStore } from "@causeway/hosted-control-plane";
import type { KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, deletionsHeld, loadCloudsYaml, type Cloud, type CloudConfig } from "@causeway/openstack";
import { openS3 } from "./s3-store.ts";

const PAGE = 1_000;

/** A container of a project's Swift. */
function swiftStore({ objectStore, name: cloud }: Cloud, container: string): ObjectStore {
  return {
    description: `container ${container} of cloud ${cloud}`,
    put: (name, data, signal) => objectStore.put(container, name, data, { signal }),
    get: (name, signal) => objectStore.get(container, name, { signal }),
    delete: (name, signal) => objectStore.delete(container, name, { signal }),
    async list(prefix, signal) {
      const names: string[] = [];
      for (;;) {
        const marker = names.at(-1);
        const listing = { prefix, limit: PAGE, ...(marker === undefined ? {} : { marker }) };
        const page = await objectStore.objects(container, listing, { signal });
        names.push(...page.map(({ name }) => name));
        if (page.length < PAGE) return names;
      }
    },
  };
}

/** Where backups are, by the options that `backupStoreOptions` has. */
export interface StoreFlags {
  readonly backupCloud?: string | undefined;
  readonly backupContainer: string;
  readonly backupS3Endpoint?: string | undefined;
  readonly backupS3Region: string;
  /** NAMESPACE/NAME of a Secret of the management cluster. */
  readonly backupS3Secret?: string | undefined;
  /** In place of the Secret: a folder with its keys as files. */
  readonly backupS3Keys?: string | undefined;
}

/** The store of the options, and the key that everything in it is encrypted with. */
export interface BackupFlags extends StoreFlags {
  readonly backupKeyFile?: string | undefined;
}

interface OpenedStore {
  readonly store: ObjectStore;
  /** Creates the container or bucket if it does not exist. */
  create(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface OpenedBackups {
  readonly backups: Backups;
  close(): Promise<void>;
}

/** What a store is opened with. */
export interface OpenWith {
  /** Of the management cluster, for a Secret of it. */
  readonly client?: Pick<KubernetesClient, "find"> | undefined;
  /** Entries that are in no clouds.yaml, by their names: the simulated cloud of this process. */
  readonly clouds?: Readonly<Record<string, CloudConfig>>;
  /** While true, no object is deleted: CLOUD_DELETIONS_HELD. Default: never. */
  readonly holdDeletions?: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/**
 * The object store of the options; undefined: they name none.
 * @throws FLAG_INVALID, BACKUP_CREDENTIALS_MISSING, CLOUD_…
 */
export async function openStore(flags: StoreFlags, using: OpenWith): Promise<OpenedStore | undefined> {
  const { backupCloud, backupS3Endpoint, backupContainer } = flags;
  if (backupCloud !== undefined && backupS3Endpoint !== undefined)
    throw new InputError("FLAG_INVALID", "--backup-cloud and --backup-s3-endpoint name two stores: give one of them");
  if (backupCloud !== undefined) return openSwift(backupCloud, backupContainer, using);
  if (backupS3Endpoint === undefined) return undefined;
  const store = await openS3({ ...flags, backupS3Endpoint }, using);
  return { store, create: (signal) => store.createBucket(signal), close: async () => {} };
}

/**
 * The backups in the object store of the options, whose container or bucket is created if it does not exist; undefined:
 * they name none.
 * @throws BACKUP_KEY_INVALID, BACKUP_STORE_FAILED, OPENSTACK_…, and as `openStore`
 */
export async function openBackups(
  flags: BackupFlags,
  using: OpenWith,
  signal: AbortSignal,
): Promise<OpenedBackups | undefined> {
  const key = backupKeyOf(flags);
  if (key === undefined) return undefined;
  const opened = await openStore(flags, using);
  if (opened === undefined) return undefined;
  try {
    const backups = createBackups({ store: heldStore(opened.store, using), key, clock: using.clock });
    await opened.create(signal);
    return { backups, close: () => opened.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Deletes nothing while deletions are held: an older state may keep backups for a shorter time. */
export function heldStore(store: ObjectStore, { holdDeletions = () => false }: Pick<OpenWith, "holdDeletions">) {
  const held: ObjectStore = {
    description: store.description,
    put: (name, data, signal) => store.put(name, data, signal),
    get: (name, signal) => store.get(name, signal),
    list: (prefix, signal) => store.list(prefix, signal),
    async delete(name, signal) {
      if (holdDeletions()) throw deletionsHeld({ service: "object-store", method: "DELETE", route: "/{id}/{id}" });
      await store.delete(name, signal);
    },
  };
  return held;
}

function openSwift(name: string, container: string, { clouds = {}, clock, log, metrics }: OpenWith): OpenedStore {
  const reload = () => (Object.hasOwn(clouds, name) ? clouds[name] : undefined) ?? loadCloudsYaml({ cloud: name });
  const tools = { clock, log, userAgent: "causeway-hosted-control-plane", ...(metrics ? { metrics } : {}) };
  const cloud = connectCloud(reload(), { ...tools, reload });
  return {
    store: swiftStore(cloud, container),
    create: (signal) => cloud.objectStore.createContainer(container, { signal }),
    close: () => cloud.close(),
  };
}

/**
 * The key of the flags of the store; undefined without a store. Read before anything is started.
 * @throws FLAG_INVALID, BACKUP_KEY_INVALID
 */
export function backupKeyOf({ backupCloud, backupS3Endpoint, backupKeyFile }: BackupFlags): Buffer | undefined {
  if (backupCloud === undefined && backupS3Endpoint === undefined && backupKeyFile === undefined) return undefined;
  if (backupKeyFile === undefined || (backupCloud === undefined && backupS3Endpoint === undefined))
    throw new InputError(
      "FLAG_INVALID",
      "--backup-key-file is given together with --backup-cloud or --backup-s3-endpoint",
      { hint: "The key encrypts every object; create one: openssl rand -base64 32 > backup.key" },
    );
  return Buffer.from(keyText(backupKeyFile).trim(), "base64");
}

function keyText(file: string): string {
  try {
    return readTextFile(file);
  } catch (cause) {
    throw new InputError("BACKUP_KEY_INVALID", `--backup-key-file ${file}: ${messageOf(cause)}`, {
      hint: "Create one: openssl rand -base64 32 > backup.key",
      cause,
    });
  }
}
