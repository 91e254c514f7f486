import { narrowed } from "../listing.ts";
import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import type { Table } from "../../kernel/interface.ts";
import { ownedBy } from "../../kernel/rest/owned.ts";
import { mountKeyValues } from "../../kernel/rest/key-values.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import type { Volumes } from "../rules/lifecycle.ts";
import { cinder, cinderLater, instantOf, type StorageApp, type StorageEnv, type StorageParts } from "../model.ts";
import { requireStorageAdmin } from "./types.ts";
import type { StorageContext } from "../views.ts";
import { labels } from "./volumes.ts";

interface GroupType {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly is_public: boolean;
  readonly group_specs: Readonly<Record<string, string>>;
}

/** A group of volumes that are snapshotted together. Its volumes refer to it. */
export interface VolumeGroup {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly project_id: string;
  readonly status: string;
  readonly availability_zone: string;
  readonly group_type: string;
  readonly volume_types: readonly string[];
  readonly group_snapshot_id: string | null;
  readonly source_group_id: string | null;
  readonly created_at: string;
}

/** Groups and their types. */
export interface GroupTables {
  readonly groups: Table<VolumeGroup>;
  readonly types: Table<GroupType>;
}

/** Group types (3.11), groups (3.13) and their snapshots (3.14). Before those versions there are no such resources. */
export function mountGroups(app: StorageApp, parts: StorageParts, volumes: Volumes): GroupTables {
  const tables: GroupTables = {
    groups: parts.kernel.table("volume_group", ["project_id"]),
    types: parts.kernel.table("_volume_group_type", ["name"]),
  };
  seed(parts, tables);
  for (const [path, minor] of [
    ["group_types", 11],
    ["groups", 13],
    ["group_snapshots", 14],
  ] as const) {
    for (const below of ["", "/*"]) {
      app.use(`/v3/:project/${path}${below}`, async (c, next) => {
        if (c.get("minor") < minor) throw computeError(404, "The resource could not be found.");
        await next();
      });
    }
  }
  mountGroupTypes(app, parts, tables);
  addGroups(app, { parts, tables, volumes });
  return tables;
}

function seed({ kernel }: StorageParts, { types }: GroupTables): void {
  if (types.all().length > 0) return;
  const description = "Default group type for migrating cgsnapshot";
  const group_specs = { consistent_group_snapshot_enabled: "<is> True" };
  types.insert({ id: kernel.newId(), name: "default_cgsnapshot_type", description, is_public: true, group_specs });
}

function mountGroupTypes(app: StorageApp, { kernel }: StorageParts, { groups, types }: GroupTables): void {
  const base = "/v3/:project/group_types";
  const found = (c: StorageContext): GroupType => {
    const id = c.req.param("id") ?? "";
    const type = types.get(id);
    if (!type) throw computeError(404, `Group type ${id} could not be found.`);
    return type;
  };
  mountResource<StorageEnv, GroupType>(app, kernel, {
    ...cinderLater("group_type"),
    path: base,
    many: "group_types",
    permit(c, verb) {
      if (verb !== "list" && verb !== "show") requireStorageAdmin(c, `group:group_types:${verb}`);
    },
    find: found,
    list(c) {
      const asked = c.req.query("is_public");
      const kept = types
        .all()
        .filter((t) => asked === undefined || /^none$/i.test(asked) || t.is_public === /^(true|1)$/i.test(asked));
      const [key = "created_at", direction = "desc"] = (c.req.query("sort") ?? "").split(":");
      const newest = kept.toReversed();
      const sorted = key === "name" ? newest.toSorted((a, b) => (a.name < b.name ? 1 : -1)) : newest;
      return { rows: direction === "asc" ? sorted.toReversed() : sorted };
    },
    /** Only the operator may read what a type requires of the backend. */
    view: (c, { group_specs, ...type }) => (c.get("caller").isAdmin ? { ...type, group_specs } : type),
    create(_c, given) {
      const name = textAt(given, "name") ?? "";
      if (name === "") throw computeError(400, "'name' is a required property");
      if (types.by("name", name).length > 0) throw computeError(409, `Group Type ${name} already exists.`);
      return types.insert({
        id: kernel.newId(),
        name,
        description: textAt(given, "description") ?? null,
        is_public: given["is_public"] !== false,
        group_specs: labels(given["group_specs"] ?? {}),
      });
    },
    update: (_c, { id, name, description }, given) =>
      types.update(id, {
        name: textAt(given, "name") ?? name,
        description: textAt(given, "description") ?? description,
      }),
    remove(_c, { id }) {
      if (groups.all().some((group) => group.group_type === id)) {
        const why = `Group Type ${id} deletion is not allowed with groups present with the type.`;
        throw computeError(400, `Target group type is still in use. ${why}`);
      }
      types.remove(id);
    },
  });
  mountKeyValues<StorageEnv, GroupType>(app, {
    path: `${base}/:id/group_specs`,
    many: "group_specs",
    writes: ["add", "set"],
    addShows: "given",
    statuses: { add: 202, remove: 202 },
    given(c, body, verb) {
      found(c);
      return labels(verb === "set" ? body : at(body, "group_specs"));
    },
    find: (c) => found(c),
    pairsOf: ({ group_specs }) => group_specs,
    keep: (_c, { id }, group_specs) => void types.update(id, { group_specs }),
    unknownKey(c, { id }, verb) {
      if (verb === "remove") return undefined;
      return computeError(404, `Group Type ${id} has no specs with key ${c.req.param("key") ?? ""}.`);
    },
  });
}

interface GroupParts {
  readonly parts: StorageParts;
  readonly tables: GroupTables;
  readonly volumes: Volumes;
}

/** The group, if the caller may see it; else 404. */
export const groupFor = ({ groups }: GroupTables, c: StorageContext, id: string): VolumeGroup =>
  ownedBy(c.get("caller"), groups.get(id), () => computeError(404, `Group ${id} could not be found.`));

function addGroups(app: StorageApp, { parts, tables, volumes }: GroupParts): void {
  const { kernel } = parts;
  const base = "/v3/:project/groups";
  const found = (c: StorageContext) => groupFor(tables, c, c.req.param("id") ?? "");
  const members = (group: VolumeGroup) =>
    parts.tables.volumes.by("project_id", group.project_id).filter((v) => v.group_id === group.id);
  const view = (c: StorageContext, group: VolumeGroup) => {
    const { project_id, group_snapshot_id, source_group_id, ...rest } = group;
    return {
      ...rest,
      ...(c.get("minor") >= 14 ? { group_snapshot_id, source_group_id } : {}),
      ...(c.get("minor") >= 25 && c.req.query("list_volume") !== undefined
        ? { volumes: members(group).map((v) => v.id) }
        : {}),
      ...(c.get("minor") >= 38 ? { replication_status: "disabled" } : {}),
      ...(c.get("minor") >= 58 ? { project_id } : {}),
    };
  };
  mountResource<StorageEnv, VolumeGroup>(app, kernel, {
    ...cinderLater("group"),
    path: base,
    many: "groups",
    lists: ["list", "detail"],
    find: found,
    list: (c) => ({
      rows: narrowed(c, "group", tables.groups.by("project_id", c.get("caller").projectId)).toReversed(),
    }),
    view: (c, group, verb) =>
      verb === "list" || verb === "create" ? { id: group.id, name: group.name } : view(c, group),
    create(c, given) {
      const asked = textAt(given, "group_type") ?? "";
      const type = tables.types.get(asked) ?? tables.types.by("name", asked)[0];
      if (!type) throw computeError(404, `Group type ${asked} could not be found.`);
      const names = Array.isArray(given["volume_types"]) ? given["volume_types"].map(String) : [];
      return tables.groups.insert({
        id: kernel.newId(),
        name: textAt(given, "name") ?? null,
        description: textAt(given, "description") ?? null,
        project_id: c.get("caller").projectId,
        status: "available",
        availability_zone: textAt(given, "availability_zone") ?? "nova",
        group_type: type.id,
        volume_types: names.map((name) => typeIdOf(parts, name)),
        group_snapshot_id: null,
        source_group_id: null,
        created_at: instantOf(kernel),
      });
    },
  });
  app.put(`${base}/:id`, async (c) => {
    const given = at(await bodyOf(c.req), "group");
    if (!isObject(given)) throw cinder("group").bodyMissing();
    const { id, name, description } = found(c);
    tables.groups.update(id, {
      name: textAt(given, "name") ?? name,
      description: textAt(given, "description") ?? description,
    });
    for (const [field, group_id] of [
      ["add_volumes", id],
      ["remove_volumes", null],
    ] as const) {
      for (const volume of (textAt(given, field) ?? "").split(",")) {
        if (parts.tables.volumes.get(volume)) parts.tables.volumes.update(volume, { group_id });
      }
    }
    return c.body(null, 202);
  });
  app.post(`${base}/:id/action`, async (c) => {
    const body = await bodyOf(c.req);
    const group = found(c);
    if (isObject(body) && "reset_status" in body) {
      requireStorageAdmin(c, "group:reset_status");
      tables.groups.update(group.id, { status: textAt(body, "reset_status", "status") ?? group.status });
      return c.body(null, 202);
    }
    if (at(body, "delete") === undefined) throw computeError(400, "There is no such action.");
    const inside = members(group);
    if (inside.length > 0 && at(body, "delete", "delete-volumes") !== true) {
      throw computeError(
        400,
        `Invalid group: Group ${group.id} is not empty. delete-volumes flag is required to delete non-empty groups.`,
      );
    }
    for (const volume of inside) volumes.deleteVolume(volume.id);
    tables.groups.remove(group.id);
    return c.body(null, 202);
  });
}

function typeIdOf({ tables }: StorageParts, asked: string): string {
  const type = tables.types.get(asked) ?? tables.types.by("name", asked)[0];
  if (!type) throw computeError(404, `Volume type ${asked} could not be found.`);
  return type.id;
}
