import { InputError, messageOf, readTextFile, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { createBackups, type Backups, type ObjectStore } from "@causeway/hosted-control-plane";
import type { KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import type { HostedControlPlaneFlags } from "./options.ts";
import { openS3 } from "./s3-store.ts";

const PAGE = 1_000;

/** A container of a project's Swift. */
export function swiftStore({ objectStore, name: cloud }: Cloud, container: string): ObjectStore {
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

type BackupFlags = Pick<
  HostedControlPlaneFlags,
  "backupCloud" | "backupContainer" | "backupKeyFile" | "backupS3Endpoint" | "backupS3Region" | "backupS3Secret"
>;

interface OpenedBackups {
  readonly backups: Backups;
  close(): Promise<void>;
}

interface OpenWith {
  /** Of the management cluster. */
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * The object store of the flags, whose container or bucket is created if it does not exist; undefined: the flags name
 * none.
 * @throws FLAG_INVALID, BACKUP_KEY_INVALID, BACKUP_STORE_FAILED, BACKUP_CREDENTIALS_MISSING, CLOUD_…, OPENSTACK_…
 */
export async function openBackups(
  flags: BackupFlags,
  using: OpenWith,
  signal: AbortSignal,
): Promise<OpenedBackups | undefined> {
  const { backupCloud, backupS3Endpoint, backupKeyFile, backupContainer } = flags;
  if (backupCloud === undefined && backupS3Endpoint === undefined && backupKeyFile === undefined) return undefined;
  if (backupCloud !== undefined && backupS3Endpoint !== undefined)
    throw new InputError("FLAG_INVALID", "--backup-cloud and --backup-s3-endpoint name two stores: give one of them");
  if (backupKeyFile === undefined || (backupCloud === undefined && backupS3Endpoint === undefined))
    throw new InputError(
      "FLAG_INVALID",
      "--backup-key-file is given together with --backup-cloud or --backup-s3-endpoint",
      { hint: "The key encrypts every object; create one: openssl rand -base64 32 > backup.key" },
    );
  const key = Buffer.from(keyText(backupKeyFile).trim(), "base64");
  if (backupCloud !== undefined) return openSwift({ backupCloud, backupContainer, key }, using, signal);
  const store = await openS3(flags, using);
  const backups = createBackups({ store, key, clock: using.clock });
  await store.createBucket(signal);
  return { backups, close: async () => {} };
}

async function openSwift(
  { backupCloud, backupContainer, key }: { backupCloud: string; backupContainer: string; key: Uint8Array },
  { clock, log, metrics }: OpenWith,
  signal: AbortSignal,
): Promise<OpenedBackups> {
  const reload = () => loadCloudsYaml({ cloud: backupCloud });
  const cloud = connectCloud(reload(), { clock, log, metrics, userAgent: "causeway-hosted-control-plane", reload });
  try {
    const backups = createBackups({ store: swiftStore(cloud, backupContainer), key, clock });
    await cloud.objectStore.createContainer(backupContainer, { signal });
    return { backups, close: () => cloud.close() };
  } catch (error) {
    await cloud.close();
    throw error;
  }
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
