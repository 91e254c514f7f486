import { narrowed } from "../listing.ts";
import { computeError } from "../../compute/model.ts";
import { at, bodyOf, textAt } from "../../kernel/json.ts";
import type { Table } from "../../kernel/interface.ts";
import { ownedBy } from "../../kernel/rest/owned.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { groupFor, type GroupTables, type VolumeGroup } from "./groups.ts";
import type { Volumes } from "../rules/lifecycle.ts";
import { cinderLater, instantOf, type StorageApp, type StorageEnv, type StorageParts } from "../model.ts";
import { requireStorageAdmin } from "./types.ts";
import type { StorageContext } from "../views.ts";

interface GroupSnapshot {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly project_id: string;
  readonly group_id: string;
  readonly group_type_id: string;
  readonly status: string;
  readonly created_at: string;
}

type Tables = GroupTables & { readonly volumes: Volumes };

/** Snapshots of all volumes of a group at once, and groups made of them or of other groups. */
export function mountGroupSnapshots(app: StorageApp, parts: StorageParts, tables: Tables): void {
  const { kernel } = parts;
  const table: Table<GroupSnapshot> = kernel.table("volume_group_snapshot", ["project_id", "group_id"]);
  kernel.timers.handler("group-snapshot.ready", (id) => {
    if (table.get(id)?.status === "creating") table.update(id, { status: "available" });
  });
  kernel.timers.handler("group-snapshot.gone", (id) => table.remove(id));
  const base = "/v3/:project/group_snapshots";
  const found = (c: StorageContext, id = c.req.param("id") ?? ""): GroupSnapshot => {
    const missing = () => computeError(404, `GroupSnapshot ${id} could not be found.`);
    return ownedBy(c.get("caller"), table.get(id), missing);
  };
  const view = (c: StorageContext, { project_id, ...rest }: GroupSnapshot) => ({
    ...rest,
    ...(c.get("minor") >= 58 ? { project_id } : {}),
  });
  mountResource<StorageEnv, GroupSnapshot>(app, kernel, {
    ...cinderLater("group_snapshot"),
    path: base,
    many: "group_snapshots",
    lists: ["list", "detail"],
    find: (c) => found(c),
    list: (c) => ({
      rows: narrowed(c, "group_snapshot", table.by("project_id", c.get("caller").projectId).toReversed()),
    }),
    view(c, snapshot, verb) {
      const { id, name, group_type_id } = snapshot;
      if (verb === "list") return { id, name };
      return verb === "create" ? { id, name, group_type_id } : view(c, snapshot);
    },
    create(c, given) {
      const group = groupFor(tables, c, textAt(given, "group_id") ?? "");
      if (membersOf(parts, group).length === 0) {
        const why =
          "Source group cannot be empty or in 'creating' or 'updating' state. No group snapshot will be created.";
        throw computeError(400, `Invalid Group: ${why}`);
      }
      const snapshot = table.insert({
        id: kernel.newId(),
        name: textAt(given, "name") ?? null,
        description: textAt(given, "description") ?? null,
        project_id: group.project_id,
        group_id: group.id,
        group_type_id: group.group_type,
        status: "creating",
        created_at: instantOf(kernel),
      });
      kernel.timers.after(kernel.delay("snapshot.create"), "group-snapshot.ready", snapshot.id);
      for (const volume of membersOf(parts, group)) {
        const asked = { name: snapshot.name, description: null, metadata: {} };
        const { id } = tables.volumes.createSnapshot(c.get("caller"), volume, asked);
        parts.tables.snapshots.update(id, { group_snapshot_id: snapshot.id });
      }
      return snapshot;
    },
    remove(_c, { id, group_id, status }) {
      if (!/^(available|error)$/.test(status)) {
        const why = `GroupSnapshot status must be available or error, and no Group can be currently using it as source for its creation.`;
        throw computeError(400, `Invalid GroupSnapshot: ${why}`);
      }
      const group = tables.groups.get(group_id);
      for (const volume of group ? membersOf(parts, group) : []) {
        for (const snapshot of parts.tables.snapshots.by("volume_id", volume.id)) {
          if (snapshot.group_snapshot_id === id) tables.volumes.deleteSnapshot(snapshot);
        }
      }
      table.update(id, { status: "deleting" });
      kernel.timers.after(kernel.delay("snapshot.delete"), "group-snapshot.gone", id);
    },
  });
  app.post(`${base}/:id/action`, async (c) => {
    const status = textAt(await bodyOf(c.req), "reset_status", "status");
    const { id } = found(c);
    requireStorageAdmin(c, "group:reset_group_snapshot_status");
    if (status === undefined) throw computeError(400, "There is no such action.");
    table.update(id, { status });
    return c.body(null, 202);
  });
  app.post("/v3/:project/groups/action", async (c) => {
    const given = at(await bodyOf(c.req), "create-from-src");
    const [fromSnapshot, fromGroup] = [textAt(given, "group_snapshot_id"), textAt(given, "source_group_id")];
    const source = groupFor(tables, c, fromGroup ?? found(c, fromSnapshot ?? "").group_id);
    const group = tables.groups.insert({
      ...source,
      id: kernel.newId(),
      name: textAt(given, "name") ?? null,
      description: textAt(given, "description") ?? null,
      group_snapshot_id: fromSnapshot ?? null,
      source_group_id: fromGroup ?? null,
      created_at: instantOf(kernel),
    });
    for (const volume of membersOf(parts, source)) copy(c, parts, { tables, volume, group });
    return c.json({ group: { id: group.id, name: group.name } }, 202);
  });
}

const membersOf = ({ tables }: StorageParts, group: VolumeGroup) =>
  tables.volumes.by("project_id", group.project_id).filter((v) => v.group_id === group.id);

interface CopySource {
  readonly tables: Tables;
  readonly volume: ReturnType<typeof membersOf>[number];
  readonly group: VolumeGroup;
}

function copy(c: StorageContext, parts: StorageParts, { tables, volume, group }: CopySource): void {
  const { projectId, userId } = c.get("caller");
  const made = tables.volumes.createVolume(projectId, {
    user_id: userId,
    size: volume.size,
    type: volume.volume_type,
    name: volume.name,
  });
  parts.tables.volumes.update(made.id, { group_id: group.id });
}
