import { pairsFit } from "../../kernel/pairs.ts";
import { computeError } from "../../compute/model.ts";
import type { Table } from "../../kernel/interface.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { mountKeyValues } from "../../kernel/rest/key-values.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { instantOf, isTrue, manila, notThere, requireAdmin, typeId } from "../model.ts";
import type { ShareApp, ShareContext, ShareEnv, ShareParts, ShareType } from "../model.ts";

const servers = "driver_handles_share_servers";
const malformed = () =>
  computeError(
    400,
    "The server could not comply with the request since it is either malformed or otherwise incorrect.",
  );

/** Makes "default", whose id is the same in every cloud of ours, where there is no type. */
export function seedTypes({ kernel, types }: ShareParts): void {
  if (types.all().length > 0) return;
  types.insert({
    id: typeId,
    name: "default",
    description: null,
    is_public: true,
    extra_specs: { snapshot_support: "True", [servers]: "False", create_share_from_snapshot_support: "True" },
    projects: [],
    created_at: instantOf(kernel),
  });
}

/** The type that a share requests, if its maker may use it; 404 otherwise. */
export function usableType({ types }: ShareParts, c: ShareContext, asked: string | undefined): ShareType {
  const type = types.get(asked ?? typeId) ?? types.by("name", asked ?? "")[0];
  if (type && sees(c, type)) return type;
  throw computeError(404, "Share type not found.");
}

const sees = (c: ShareContext, { is_public, projects }: ShareType): boolean =>
  is_public || c.get("caller").isAdmin || projects.includes(c.get("caller").projectId);

/**
 * Share types, their requirements and who may use them:
 * https://docs.openstack.org/api-ref/shared-file-system/#share-types .
 */
export function mountTypes(app: ShareApp, parts: ShareParts): void {
  const { kernel, types } = parts;
  const base = "/v2/types";
  const found = (c: ShareContext): ShareType => {
    const id = c.req.param("id") ?? "";
    const type = types.get(id === "default" ? typeId : id);
    if (!type || !sees(c, type)) throw computeError(404, "Share type not found.");
    return type;
  };
  mountResource<ShareEnv, ShareType>(app, kernel, {
    ...manila,
    bodyMissing: malformed,
    path: base,
    one: "share_type",
    many: "share_types",
    permit: (c, verb) => (verb === "list" || verb === "show" ? undefined : requireAdmin(c)),
    find(c, verb) {
      if (verb !== "delete") return found(c);
      const type = types.get(c.req.param("id") ?? "");
      if (!type) throw notThere();
      return type;
    },
    list(c) {
      const rows = listed(c, types.all());
      return { rows, more: { volume_types: rows.map((type) => typeView(c, type)) } };
    },
    givenOf: (body, verb) => at(body, "share_type") ?? (verb === "create" ? at(body, "volume_type") : undefined),
    // A create returns the required spec as it was given.
    view: (c, type, verb, given) =>
      typeView(c, type, verb === "create" ? at(given, "extra_specs", servers) : undefined),
    around(c, type, verb, given) {
      return { volume_type: this.view(c, type, verb, given) };
    },
    create: (_c, given) => makeType(parts, given),
    update(_c, type, given) {
      const name = textAt(given, "name") ?? type.name;
      if (name !== type.name && types.by("name", name).length > 0)
        throw computeError(409, `Share Type ${name} already exists.`);
      const isPublic = given["share_type_access:is_public"];
      return types.update(type.id, {
        name,
        description: textAt(given, "description") ?? type.description,
        is_public: typeof isPublic === "boolean" ? isPublic : type.is_public,
      });
    },
    remove(_c, { id }) {
      if (parts.shares.all().some((share) => (share.type?.id ?? typeId) === id)) {
        throw computeError(400, "Target share type is still in use.");
      }
      types.remove(id);
    },
  });
  mountSpecs(app, types, found);
  mountAccess(app, types, found);
}

/** The types that the caller may use and that the query requests. */
function listed(c: ShareContext, types: readonly ShareType[]): readonly ShareType[] {
  const asked = c.req.query("is_public");
  const all = asked === "all" && c.get("caller").isAdmin;
  return types
    .filter((type) => all || type.is_public || type.projects.includes(c.get("caller").projectId))
    .filter((type) => asked === undefined || asked === "all" || type.is_public === isTrue(asked))
    .filter((type) => pairsFit(type.extra_specs, c.req.query("extra_specs") ?? ""));
}

function makeType({ kernel, types }: ShareParts, given: JsonObject): ShareType {
  const name = textAt(given, "name") ?? "";
  if (name === "" || name.length > 255) throw computeError(400, "Type name or description is not valid.");
  const extra_specs = specsOf(at(given, "extra_specs"), true);
  if (types.by("name", name).length > 0) throw computeError(409, "Share Type %(id)s already exists.");
  const isPublic = given["share_type_access:is_public"] ?? given["os-share-type-access:is_public"] ?? true;
  return types.insert({
    id: kernel.newId(),
    name,
    description: textAt(given, "description") ?? null,
    is_public: isPublic === true || /^true$/i.test(String(isPublic as string)),
    extra_specs,
    projects: [],
    created_at: instantOf(kernel),
  });
}

/** What of a type's specs members see, whether it has them or not. */
const seen: Readonly<Record<string, boolean>> = {
  snapshot_support: false,
  create_share_from_snapshot_support: false,
  revert_to_snapshot_support: false,
  mount_snapshot_support: false,
};

function specsFor(c: ShareContext, specs: ShareType["extra_specs"]): JsonObject {
  if (c.get("caller").isAdmin) return specs;
  const visible = Object.entries(specs).filter(([name]) => name === servers || Object.hasOwn(seen, name));
  return { ...seen, ...Object.fromEntries(visible) };
}

function typeView(c: ShareContext, type: ShareType, required?: unknown): JsonObject {
  const { id, name, description, is_public, extra_specs } = type;
  return {
    id,
    name,
    extra_specs: specsFor(c, extra_specs),
    required_extra_specs: { [servers]: required ?? extra_specs[servers] ?? "False" },
    [c.get("minor") < 7 ? "os-share-type-access:is_public" : "share_type_access:is_public"]: is_public,
    description,
    is_default: id === typeId,
  };
}

/**
 * Extra specs as texts; a new type must say whether its driver handles share servers. Throws Manila's 400, which leaves
 * out why.
 */
function specsOf(given: unknown, whole: boolean): Readonly<Record<string, string>> {
  const specs = isObject(given) ? given : {};
  const handles = specs[servers];
  const isBoolean = (value: unknown) =>
    typeof value === "boolean" || /^(true|false|1|0|yes|no)$/i.test(String(value as string));
  if (whole && (handles === undefined || !isBoolean(handles))) {
    throw computeError(400, "Invalid extra_spec: %(reason)s.");
  }
  for (const name of [servers, "snapshot_support"]) {
    if (specs[name] !== undefined && !isBoolean(specs[name])) throw malformed();
  }
  const text = (value: unknown) => (typeof value === "boolean" ? (value ? "True" : "False") : String(value as string));
  return Object.fromEntries(Object.entries(specs).map(([key, value]) => [key, text(value)]));
}

type Found = (c: ShareContext) => ShareType;

function mountSpecs(app: ShareApp, types: Table<ShareType>, found: Found): void {
  mountKeyValues<ShareEnv, ShareType>(app, {
    path: "/v2/types/:id/extra_specs",
    many: "extra_specs",
    writes: ["add", "set"],
    addShows: "given",
    statuses: { remove: 202 },
    permit(c, verb) {
      if (verb === "list" || verb === "remove") requireAdmin(c);
    },
    given(c, body, verb) {
      const key = c.req.param("key") ?? "";
      if (verb === "set" && at(body, key) === undefined) throw computeError(400, "Request body and URI mismatch.");
      requireAdmin(c);
      found(c);
      return specsOf(verb === "set" ? { [key]: at(body, key) } : at(body, "extra_specs"), false);
    },
    find: found,
    pairsOf: ({ extra_specs }) => extra_specs,
    keep(c, { id }, extra_specs, verb) {
      if (verb === "remove" && c.req.param("key") === servers) {
        throw computeError(403, `Extra spec '${servers}' can't be deleted.`);
      }
      types.update(id, { extra_specs });
    },
    unknownKey: (c, { id }) =>
      computeError(404, `Share Type ${id} has no extra specs with key ${c.req.param("key") ?? ""}.`),
  });
}

function mountAccess(app: ShareApp, types: Table<ShareType>, found: Found): void {
  for (const word of ["share_type_access", "os-share-type-access"]) {
    app.get(`/v2/types/:id/${word}`, (c) => {
      requireAdmin(c);
      const { id, is_public, projects } = found(c);
      if (is_public) throw computeError(404, "Access list not available for public share types.");
      return c.json({ share_type_access: projects.map((project_id) => ({ share_type_id: id, project_id })) });
    });
  }
  app.post("/v2/types/:id/action", async (c) => {
    requireAdmin(c);
    const body = await bodyOf(c.req);
    const type = found(c);
    const [add, remove] = [textAt(body, "addProjectAccess", "project"), textAt(body, "removeProjectAccess", "project")];
    const project = add ?? remove;
    if (project === undefined) throw malformed();
    if (!/^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(project)) {
      throw computeError(400, `Bad project format: project is not in proper format (${project})`);
    }
    const has = type.projects.includes(project);
    const which = `${type.id} / ${project} combination`;
    if (type.is_public) throw computeError(409, "Project access cannot be changed for a public share type.");
    if (add !== undefined && has) throw computeError(409, `Share type access for ${which} already exists.`);
    if (add === undefined && !has) throw computeError(404, `Share type access not found for ${which}.`);
    const others = type.projects.filter((one) => one !== project);
    types.update(type.id, { projects: add === undefined ? others : [...others, project] });
    return c.body(null, 202);
  });
}
