import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { InputError } from "@causeway/foundation";
import { raiseRevision, STATE_FILE } from "../store/index.ts";
import { openArchive, type Archive } from "./archive.ts";
import type { Backup } from "./backup.ts";

/**
 * Makes a state folder from a backup, for `startApiServer({ dir })`. Objects keep their uids and resource versions; new
 * revisions begin far ahead of the backup's, and watches from before it get 410 Expired. `dir` must be empty or not
 * there. Throws APISERVER_BACKUP_UNREADABLE, APISERVER_BACKUP_TOO_NEW, APISERVER_BACKUP_DAMAGED,
 * APISERVER_BACKUP_TARGET_TAKEN; then `dir` is as it was.
 */
export async function restoreApiServer(file: string, { dir }: { readonly dir: string }): Promise<Backup> {
  if (existsSync(dir) && readdirSync(dir).length > 0) {
    throw new InputError("APISERVER_BACKUP_TARGET_TAKEN", `${dir} is not empty`, {
      hint: "Restore into a folder that is empty or not there; move the old one away.",
    });
  }
  const archive = await openArchive(file);
  const fresh = `${dir}.restoring`;
  try {
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true, mode: 0o700 });
    const bytes = await unpack(archive, fresh);
    const revision = raiseRevision(join(fresh, STATE_FILE));
    const others = archive.entries.filter(({ name }) => basename(name) === STATE_FILE && name !== STATE_FILE);
    for (const { name } of others) raiseRevision(join(fresh, name));
    rmSync(dir, { recursive: true, force: true });
    renameSync(fresh, dir);
    return { revision, bytes };
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  } finally {
    archive.close();
  }
}

async function unpack(archive: Archive, dir: string): Promise<number> {
  let bytes = 0;
  for (const entry of archive.entries) {
    const path = join(dir, entry.name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await archive.extract(entry, path);
    bytes += entry.size;
  }
  return bytes;
}
