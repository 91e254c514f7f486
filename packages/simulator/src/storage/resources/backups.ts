import { computeError } from "../../compute/model.ts";
import { at, bodyOf, textAt, type JsonObject } from "../../kernel/json.ts";
import { ownedBy } from "../../kernel/rest/owned.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { contentOf, type Volumes } from "../rules/lifecycle.ts";
import { linkedPage } from "../listing.ts";
import { cinderLater, instantOf, volumeFor } from "../model.ts";
import type { Backup, StorageApp, StorageEnv, StorageParts } from "../model.ts";
import { refuseBackupsOver } from "../rules/quota.ts";
import { storageRoot, type StorageContext } from "../views.ts";
import { describing, labels, mine } from "./volumes.ts";

const base = "/v3/:project/backups";

/** Backups: made of volumes in time, restored into them, deleted. */
export function mountBackups(app: StorageApp, parts: StorageParts, volumes: Volumes): void {
  const { kernel, tables } = parts;
  const { backups } = tables;
  settleBackups(parts);
  const found = (c: StorageContext, id = c.req.param("id") ?? ""): Backup => {
    const missing = () => computeError(404, `Backup ${id} could not be found.`);
    return ownedBy(c.get("caller"), backups.get(id), missing);
  };
  mountResource<StorageEnv, Backup>(app, kernel, {
    ...cinderLater("backup"),
    path: base,
    many: "backups",
    lists: ["list", "detail"],
    find: (c) => found(c),
    list(c) {
      const all = mine(c) ? backups.by("project_id", c.get("caller").projectId) : backups.all();
      return linkedPage(c, "backups", all, { find: (id) => found(c, id) });
    },
    view: (c, backup, verb) => (verb === "list" || verb === "create" ? briefView(c, backup) : fullView(c, backup)),
    create(c, given) {
      const volume = volumeFor(tables, c.get("caller"), textAt(given, "volume_id") ?? "");
      const isReady = volume.status === "available" || (volume.status === "in-use" && given["force"] === true);
      if (!isReady && given["snapshot_id"] === undefined) {
        const why = `Volume to be backed up must be available or in-use, but the current status is "${volume.status}".`;
        throw computeError(400, `Invalid volume: ${why}`);
      }
      refuseBackupsOver(parts, volume.project_id, volume.size);
      const backup = backups.insert({
        id: kernel.newId(),
        name: textAt(given, "name") ?? null,
        description: textAt(given, "description") ?? null,
        project_id: volume.project_id,
        volume_id: volume.id,
        snapshot_id: textAt(given, "snapshot_id") ?? null,
        container: textAt(given, "container") ?? null,
        status: "creating",
        size: volume.size,
        is_incremental: given["incremental"] === true,
        metadata: labels(given["metadata"] ?? {}),
        ...contentOf(tables.snapshots.get(textAt(given, "snapshot_id") ?? "") ?? volume),
        volume_metadata: volume.metadata,
        created_at: instantOf(kernel),
        updated_at: null,
      });
      kernel.timers.after(kernel.delay("backup.create"), "backup.settle", `${backup.id} creating available`);
      return backup;
    },
    update: (_c, { id }, given) => backups.update(id, { ...describing(given), updated_at: instantOf(kernel) }),
    remove(_c, { id, status }) {
      if (status !== "available" && status !== "error") {
        throw computeError(400, "Invalid backup: Backup status must be available or error");
      }
      backups.update(id, { status: "deleting" });
      kernel.timers.after(kernel.delay("backup.delete"), "backup.settle", `${id} deleting gone`);
    },
  });
  app.post(`${base}/:id/restore`, async (c) => {
    const given = at(await bodyOf(c.req), "restore");
    const backup = found(c);
    if (backup.status !== "available") throw computeError(400, "Invalid backup: Backup status must be available");
    const target = targetOf(c, parts, { backup, volumes, given });
    if (target.size < backup.size) {
      const why = `volume size ${target.size} is too small to restore backup of size ${backup.size}.`;
      throw computeError(400, `Invalid volume: ${why}`);
    }
    backups.update(backup.id, { status: "restoring" });
    tables.volumes.update(target.id, contentOf(backup));
    kernel.timers.after(kernel.delay("backup.restore"), "backup.settle", `${backup.id} restoring available`);
    kernel.timers.after(kernel.delay("backup.restore"), "volume.restored", `${target.id} ${backup.id}`);
    const restore = { backup_id: backup.id, volume_id: target.id, volume_name: target.name ?? "" };
    return c.json({ restore }, 202);
  });
}

function settleBackups({ kernel, tables }: StorageParts): void {
  kernel.timers.handler("backup.settle", (argument) => {
    const [id = "", from, to = ""] = argument.split(" ");
    if (tables.backups.get(id)?.status !== from) return;
    if (to === "gone") tables.backups.remove(id);
    else tables.backups.update(id, { status: to, updated_at: instantOf(kernel) });
  });
}

interface RestoreRequest {
  readonly backup: Backup;
  readonly volumes: Volumes;
  readonly given: unknown;
}

/** The requested volume, or a new one of the backup's size. */
function targetOf(c: StorageContext, { tables }: StorageParts, { backup, volumes, given }: RestoreRequest) {
  const { projectId, userId } = c.get("caller");
  const volume_id = textAt(given, "volume_id");
  if (volume_id !== undefined) return volumeFor(tables, c.get("caller"), volume_id);
  const name = textAt(given, "name") ?? `restore_backup_${backup.id}`;
  const { id } = volumes.createVolume(projectId, { user_id: userId, size: backup.size, name });
  return volumeFor(tables, c.get("caller"), id);
}

const briefView = (c: StorageContext, b: Backup): JsonObject => {
  const root = storageRoot(c);
  const project = c.get("caller").projectId;
  return {
    id: b.id,
    name: b.name,
    links: [
      { rel: "self", href: `${root}/v3/${project}/backups/${b.id}` },
      { rel: "bookmark", href: `${root}/${project}/backups/${b.id}` },
    ],
  };
};

const fullView = (c: StorageContext, b: Backup): JsonObject => ({
  ...briefView(c, b),
  status: b.status,
  size: b.size,
  object_count: 0,
  availability_zone: "nova",
  container: b.container ?? "volumebackups",
  created_at: b.created_at,
  updated_at: b.updated_at,
  description: b.description,
  fail_reason: null,
  volume_id: b.volume_id,
  is_incremental: b.is_incremental,
  has_dependent_backups: false,
  snapshot_id: b.snapshot_id,
  data_timestamp: b.created_at,
  ...(c.get("minor") >= 43 ? { metadata: b.metadata } : {}),
});
