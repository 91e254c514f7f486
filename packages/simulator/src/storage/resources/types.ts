import { pairsFit } from "../../kernel/pairs.ts";
import { computeError, denied } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import type { Table } from "../../kernel/interface.ts";
import { mountKeyValues } from "../../kernel/rest/key-values.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { cinder, defaultType } from "../model.ts";
import type { StorageApp, StorageEnv, StorageParts, VolumeType } from "../model.ts";
import type { StorageContext } from "../views.ts";
import { labels } from "./volumes.ts";

const base = "/v3/:project/types";

interface Encryption {
  /** The type's. */
  readonly id: string;
  readonly fields: JsonObject;
}

/** Throws Cinder's 403, which names the rule, unless the caller is an administrator. */
export function requireStorageAdmin(c: StorageContext, rule: string): void {
  if (!c.get("caller").isAdmin) throw denied(rule);
}

/** A type by its id, or 404. */
function typeFor({ tables }: StorageParts, id: string): VolumeType {
  const type = id === "default" ? tables.types.by("name", defaultType)[0] : tables.types.get(id);
  if (!type) throw computeError(404, `Volume type ${id} could not be found.`);
  return type;
}

function typeView(c: StorageContext, type: VolumeType, more: JsonObject = {}): JsonObject {
  const isPublic = type.is_public ?? true;
  return {
    id: type.id,
    name: type.name,
    is_public: isPublic,
    description: type.description,
    extra_specs: c.get("caller").isAdmin ? (type.extra_specs ?? {}) : seenByAll(type.extra_specs ?? {}),
    ...(c.get("caller").isAdmin ? { qos_specs_id: type.qos_specs_id ?? null } : {}),
    "os-volume-type-access:is_public": isPublic,
    ...more,
  };
}

/** Extra specs that show users what they can do with a volume; the others are the operator's own. */
const seenByAll = (specs: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(specs).filter(([key]) =>
      ["multiattach", "replication_enabled", "RESKEY:availability_zones"].includes(key),
    ),
  );

/** The filters of type lists that plain users may use. */
const ways = ["is_public", "extra_specs", "limit", "marker", "offset", "sort", "sort_key", "sort_dir"];

/** The filters of a list of types; from 3.31 users are refused for any other filter. */
function refuseFilters(c: StorageContext): void {
  if (c.get("caller").isAdmin || c.get("minor") < 31) return;
  const strange = Object.keys(c.req.query()).filter((key) => !ways.includes(key));
  if (strange.length > 0) {
    throw computeError(400, `Invalid filters ${strange.join(", ")} are found in query options.`);
  }
}

/** Volume types, who may use them, their extra specs and their encryption. */
export function mountTypes(app: StorageApp, parts: StorageParts): void {
  const { kernel, tables } = parts;
  const found = (c: StorageContext): VolumeType => typeFor(parts, c.req.param("id") ?? "");
  mountResource<StorageEnv, VolumeType>(app, kernel, {
    ...cinder("volume_type"),
    path: base,
    many: "volume_types",
    permit(c, verb) {
      if (verb !== "list" && verb !== "show") requireStorageAdmin(c, `volume_extension:type_${verb}`);
    },
    find: found,
    list(c) {
      refuseFilters(c);
      return { rows: listed(c, tables.types.all()).toReversed() };
    },
    view(c, type, verb) {
      const { qos_specs_id, "os-volume-type-access:is_public": isPublic, ...view } = typeView(c, type);
      const isDefault = c.req.param("id") === "default";
      return {
        ...view,
        ...(qos_specs_id === undefined || verb === "create" || verb === "update" ? {} : { qos_specs_id }),
        ...(isDefault || verb === "update" ? {} : { "os-volume-type-access:is_public": isPublic }),
      };
    },
    create(_c, given) {
      const name = named(given);
      refuseTaken(parts, name);
      return tables.types.insert({
        id: kernel.newId(),
        name,
        description: textAt(given, "description") ?? null,
        extra_specs: labels(given["extra_specs"] ?? {}),
        is_public: given["os-volume-type-access:is_public"] !== false,
      });
    },
    update(_c, type, given) {
      const [name, description, isPublic] = [textAt(given, "name"), textAt(given, "description"), given["is_public"]];
      if (name !== undefined && name !== type.name) refuseTaken(parts, name);
      return tables.types.update(type.id, {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(typeof isPublic === "boolean" ? { is_public: isPublic } : {}),
      });
    },
    remove(_c, { id, name }) {
      if (tables.volumes.all().some((volume) => volume.volume_type === name)) {
        throw computeError(400, `Target volume type is still in use.`);
      }
      tables.types.remove(id);
    },
  });
  mountAccess(app, parts);
  mountSpecs(app, parts);
  mountEncryptions(app, parts);
}

/** The types that the caller may use and that the query requests. */
function listed(c: StorageContext, types: readonly VolumeType[]): readonly VolumeType[] {
  const { isAdmin, projectId } = c.get("caller");
  const asked = c.req.query("is_public");
  const own = Object.entries(c.req.query()).filter(([name]) => name === "extra_specs" || !ways.includes(name));
  const sees = (type: VolumeType) => (type.is_public ?? true) || isAdmin || type.projects?.includes(projectId) === true;
  const isMeant = (type: VolumeType) =>
    own.every(([name, value]) =>
      name === "extra_specs"
        ? pairsFit(type.extra_specs ?? {}, value)
        : String((type as unknown as Readonly<Record<string, unknown>>)[name]) === value,
    );
  return types
    .filter((type) => sees(type) && isMeant(type))
    .filter(
      (type) => asked === undefined || /^none$/i.test(asked) || (type.is_public ?? true) === /^(true|1)$/i.test(asked),
    );
}

function named(given: JsonObject): string {
  const name = given["name"];
  if (typeof name === "string" && name.trim() !== "") return name;
  throw computeError(400, "Invalid input for field/attribute name. Value: . '' is too short");
}

function refuseTaken({ tables }: StorageParts, name: string): void {
  if (tables.types.by("name", name).length > 0) throw computeError(409, `Volume Type ${name} already exists.`);
}

function mountAccess(app: StorageApp, parts: StorageParts): void {
  const { tables } = parts;
  app.get(`${base}/:id/os-volume-type-access`, (c) => {
    requireStorageAdmin(c, "volume_extension:volume_type_access:get_all_for_type");
    const type = typeFor(parts, c.req.param("id"));
    if (type.is_public ?? true) throw computeError(404, "Access list not available for public volume types.");
    const volume_type_access = (type.projects ?? []).map((project_id) => ({ volume_type_id: type.id, project_id }));
    return c.json({ volume_type_access });
  });
  app.post(`${base}/:id/action`, async (c) => {
    requireStorageAdmin(c, "volume_extension:volume_type_access:addProjectAccess");
    const body = await bodyOf(c.req);
    const type = typeFor(parts, c.req.param("id"));
    const [add, remove] = [textAt(body, "addProjectAccess", "project"), textAt(body, "removeProjectAccess", "project")];
    const { projects = [] } = type;
    const project = add ?? remove ?? "";
    if ((add !== undefined || remove !== undefined) && (type.is_public ?? true)) {
      const why = "Type access modification is not applicable to public volume type.";
      throw computeError(400, `Invalid volume type: ${why}`);
    }
    if (add !== undefined && projects.includes(project)) {
      throw computeError(409, `Volume type access for ${type.id} / ${project} combination already exists.`);
    }
    if (remove !== undefined && !projects.includes(project)) {
      throw computeError(404, `Volume type access not found for ${type.id} / ${project} combination.`);
    }
    if (add === undefined && remove === undefined) throw computeError(400, "There is no such action.");
    tables.types.update(type.id, {
      projects: add === undefined ? projects.filter((p) => p !== project) : [...projects, project],
    });
    return c.body(null, 202);
  });
}

function mountSpecs(app: StorageApp, parts: StorageParts): void {
  const { tables } = parts;
  const typeOf = (c: StorageContext) => typeFor(parts, c.req.param("id") ?? "");
  const rules = { add: "create", replace: "update", set: "update", remove: "delete" } as const;
  mountKeyValues<StorageEnv, VolumeType>(app, {
    path: `${base}/:id/extra_specs`,
    many: "extra_specs",
    writes: ["add", "set"],
    addShows: "given",
    statuses: { remove: 202 },
    permit(c, verb) {
      if (verb === "list" || verb === "show") return;
      requireStorageAdmin(c, `volume_extension:types_extra_specs:${rules[verb]}`);
      const { name } = typeOf(c);
      if (tables.volumes.all().some((volume) => volume.volume_type === name)) {
        throw computeError(400, "Volume Type is currently in use.");
      }
    },
    given(c, body, verb) {
      if (verb !== "set") {
        const specs = at(body, "extra_specs");
        if (!isObject(specs)) throw computeError(400, "'extra_specs' is a required property");
        return labels(specs);
      }
      const key = c.req.param("key") ?? "";
      const value = textAt(body, key);
      if (value === undefined) throw computeError(400, "Request body and URI mismatch");
      if (isObject(body) && Object.keys(body).length > 1) {
        throw computeError(400, "Request body contains too many items");
      }
      return { [key]: value };
    },
    find: typeOf,
    pairsOf: ({ extra_specs = {} }) => extra_specs,
    keep: (_c, { id }, extra_specs) => void tables.types.update(id, { extra_specs }),
    unknownKey: (c) =>
      computeError(
        404,
        `Volume Type ${c.req.param("id") ?? ""} has no extra specs with key ${c.req.param("key") ?? ""}.`,
      ),
  });
}

function mountEncryptions(app: StorageApp, parts: StorageParts): void {
  const table: Table<Encryption> = parts.kernel.table("_volume_type_encryption");
  const path = `${base}/:id/encryption`;
  const view = ({ id, fields }: Encryption) => ({ ...fields, volume_type_id: id, encryption_id: id, deleted: false });
  app.get(path, (c) => {
    requireStorageAdmin(c, "volume_extension:volume_type_encryption:get");
    const kept = table.get(typeFor(parts, c.req.param("id")).id);
    return c.json(kept ? view(kept) : {});
  });
  app.post(path, async (c) => {
    requireStorageAdmin(c, "volume_extension:volume_type_encryption:create");
    const given = at(await bodyOf(c.req), "encryption");
    if (!isObject(given)) throw computeError(400, "'encryption' is a required property");
    const { id } = typeFor(parts, c.req.param("id"));
    if (table.get(id)) throw computeError(400, `Volume type encryption for type ${id} already exists.`);
    const { fields } = table.insert({ id, fields: { provider: null, cipher: null, key_size: null, ...given } });
    return c.json({ encryption: { ...fields, volume_type_id: id, encryption_id: id } });
  });
  app.get(`${path}/:item`, (c) => {
    const fields = table.get(c.req.param("id"))?.fields ?? {};
    return c.json({ [c.req.param("item")]: fields[c.req.param("item")] ?? null });
  });
  app.put(`${path}/:item`, async (c) => {
    requireStorageAdmin(c, "volume_extension:volume_type_encryption:update");
    const given = at(await bodyOf(c.req), "encryption");
    const kept = table.get(c.req.param("id"));
    if (!kept || !isObject(given))
      throw computeError(404, `Volume type encryption for type ${c.req.param("id")} does not exist.`);
    table.update(kept.id, { fields: { ...kept.fields, ...given } });
    return c.json({ encryption: given });
  });
  app.delete(`${path}/:item`, (c) => {
    requireStorageAdmin(c, "volume_extension:volume_type_encryption:delete");
    const kept = table.get(c.req.param("id"));
    if (!kept) throw computeError(404, `Volume type encryption for type ${c.req.param("id")} does not exist.`);
    table.remove(kept.id);
    return c.body(null, 202);
  });
}
