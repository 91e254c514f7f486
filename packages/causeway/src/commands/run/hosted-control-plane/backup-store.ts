import { InputError, messageOf, readTextFile, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { createBackups, type Backups, type ObjectStore } from "@causeway/hosted-control-plane";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import type { HostedControlPlaneFlags } from "./command.ts";

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

type BackupFlags = Pick<HostedControlPlaneFlags, "backupCloud" | "backupContainer" | "backupKeyFile">;

/**
 * The object store of the flags, whose container is created if it does not exist; undefined: the flags name none.
 * @throws FLAG_INVALID, BACKUP_KEY_INVALID, CLOUD_…, OPENSTACK_…
 */
export async function openBackups(
  { backupCloud, backupContainer, backupKeyFile }: BackupFlags,
  { clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics },
  signal: AbortSignal,
): Promise<{ backups: Backups; close(): Promise<void> } | undefined> {
  if (backupCloud === undefined && backupKeyFile === undefined) return undefined;
  if (backupCloud === undefined || backupKeyFile === undefined)
    throw new InputError("FLAG_INVALID", "--backup-cloud and --backup-key-file are given together", {
      hint: "The key encrypts every object; create one: openssl rand -base64 32 > backup.key",
    });
  const key = Buffer.from(keyText(backupKeyFile).trim(), "base64");
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
