import { HostedControlPlane } from "@causeway/api";
import { silentLog, systemClock } from "@causeway/foundation";
import { pointsByFolder } from "@causeway/hosted-control-plane";
import { openStore } from "../../backups/store.ts";
import { withManagement, type Management } from "../../clusters/place.ts";
import { columns } from "../../terminal/columns.ts";
import type { ListBackupsOptions } from "./command.ts";
import { findControlPlane } from "../../clusters/find-control-plane.ts";
import { backupsOfObjects, backupsOfStore, storedPoints, type BackupRow } from "./rows.ts";
import { objectKeyOf } from "../../options/object-key.ts";
import { documentOf } from "../../terminal/documents.ts";

/**
 * Lists backups: what control planes say of theirs, or what is in a store.
 * @throws CONTROL_PLANE_NOT_FOUND, and what `openStore` throws
 */
export async function listBackups(
  given: string | undefined,
  options: ListBackupsOptions,
  signal: AbortSignal,
): Promise<void> {
  const hasStore = options.backupCloud !== undefined || options.backupS3Endpoint !== undefined;
  const usesCluster = !hasStore || options.backupS3Secret !== undefined || given?.includes("/") !== true;
  if (!usesCluster) return write(await fromStore(given, options, { namespace: "" }, signal), options);
  await withManagement(options, async (management) => {
    const rows = hasStore
      ? await fromStore(given, options, management, signal)
      : await fromObjects(given, options, management, signal);
    write(rows, options);
  });
}

async function fromObjects(
  given: string | undefined,
  { allNamespaces }: ListBackupsOptions,
  { client, namespace }: Management,
  signal: AbortSignal,
): Promise<BackupRow[]> {
  if (given !== undefined)
    return backupsOfObjects([await findControlPlane(client, objectKeyOf(given, namespace), signal)]);
  const scope = allNamespaces ? { signal } : { namespace, signal };
  return backupsOfObjects((await client.list(HostedControlPlane, scope)).items);
}

async function fromStore(
  given: string | undefined,
  options: ListBackupsOptions,
  { client, namespace }: Partial<Management> & { readonly namespace: string },
  signal: AbortSignal,
): Promise<BackupRow[]> {
  const key = given === undefined ? undefined : objectKeyOf(given, namespace);
  const opened = await openStore(options, { client, clock: systemClock, log: silentLog });
  if (opened === undefined) return [];
  try {
    const all = options.allNamespaces ? "" : `${namespace}/`;
    const prefix = key === undefined ? all : `${key.namespace}/${key.name}/`;
    const folders = pointsByFolder(await opened.store.list(prefix, signal));
    return key === undefined ? backupsOfStore(folders) : storedPoints(folders);
  } finally {
    await opened.close();
  }
}

function write(rows: readonly BackupRow[], { output }: ListBackupsOptions): void {
  const document = documentOf(rows, output);
  if (document !== undefined) return void process.stdout.write(document);
  const [first] = rows;
  if (first === undefined) return void process.stdout.write("There is no backup.\n");
  const header = Object.keys(first);
  const cells = rows.map((row) => header.map((name) => String(row[name] ?? "<none>")));
  const titles = header.map((name) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter}`).toUpperCase());
  process.stdout.write(columns(titles, cells));
}
