import { computeError } from "../../compute/model.ts";
import type { Table } from "../../kernel/interface.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { mountKeyValues } from "../../kernel/rest/key-values.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { isTrue, notThere, requireAdmin } from "../model.ts";
import type { ShareApp, ShareContext, ShareEnv, ShareParts } from "../model.ts";

/** What groups of shares may be made of. No backend here makes groups, so that there are types, and never a group. */
interface GroupType {
  readonly id: string;
  readonly name: string;
  readonly is_public: boolean;
  readonly group_specs: Readonly<Record<string, string>>;
  readonly share_types: readonly string[];
  readonly projects: readonly string[];
}

const base = "/v2/share-group-types";
const sees = (c: ShareContext, { is_public, projects }: GroupType): boolean =>
  is_public || c.get("caller").isAdmin || projects.includes(c.get("caller").projectId);

/** Types of share groups: https://docs.openstack.org/api-ref/shared-file-system/#share-group-types-since-api-v2-55 . */
export function mountGroupTypes(app: ShareApp, parts: ShareParts): void {
  const types: Table<GroupType> = parts.kernel.table("_share_group_type");
  const found = (c: ShareContext): GroupType => {
    const id = c.req.param("id") ?? "";
    if (id === "default") throw computeError(404, "Default share group type not found.");
    const type = types.get(id);
    if (type && sees(c, type)) return type;
    throw computeError(404, `Share group type with id ${id} not found.`);
  };
  mountResource<ShareEnv, GroupType>(app, parts.kernel, {
    path: base,
    one: "share_group_type",
    many: "share_group_types",
    statuses: { create: 200 },
    bodyMissing: () =>
      computeError(
        400,
        "The server could not comply with the request since it is either malformed or otherwise incorrect.",
      ),
    permit: (c, verb) => (verb === "list" || verb === "show" ? undefined : requireAdmin(c)),
    find(c, verb) {
      if (verb !== "delete") return found(c);
      const type = types.get(c.req.param("id") ?? "");
      if (!type) throw notThere();
      return type;
    },
    list(c) {
      const asked = c.req.query("is_public");
      const visible = types
        .all()
        .filter((type) => sees(c, type))
        .filter((type) => asked === undefined || asked === "all" || type.is_public === isTrue(asked));
      return { rows: visible };
    },
    view: (_c, { projects: _projects, ...type }) => ({ ...type, is_default: false }),
    create(_c, given) {
      const asked = askedType(parts, given);
      if (types.all().some(({ name }) => name === asked.name)) {
        // The real service forgets to fill its words in.
        throw computeError(409, "Share group type %(type_id)s already exists.");
      }
      return types.insert({ id: parts.kernel.newId(), ...asked });
    },
    remove: (_c, { id }) => types.remove(id),
  });
  mountSpecs(app, types, found);
  mountAccess(app, types, found);
}

/** The type for a body. Throws what Manila responds. */
function askedType({ types }: ShareParts, given: JsonObject): Omit<GroupType, "id"> {
  const name = textAt(given, "name") ?? "";
  if (name === "" || name.length > 255) throw computeError(400, "Share group type name is not valid.");
  const asked = Array.isArray(given["share_types"]) ? (given["share_types"] as unknown[]).map(String) : [];
  if (asked.length === 0) throw computeError(400, "Supported share types must be provided.");
  const share_types = asked.map((one) => {
    const type = types.get(one) ?? types.by("name", one)[0];
    // The real service forgets to fill its words in.
    if (!type) throw computeError(404, "Share Type %(share_type)s does not exist.");
    return type.id;
  });
  const specs = given["group_specs"];
  return {
    name,
    is_public: given["is_public"] !== false,
    group_specs: isObject(specs) ? textsOf(specs) : {},
    share_types,
    projects: [],
  };
}

const textsOf = (given: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));

type Found = (c: ShareContext) => GroupType;

function mountSpecs(app: ShareApp, types: Table<GroupType>, found: Found): void {
  mountKeyValues<ShareEnv, GroupType>(app, {
    path: `${base}/:id/group-specs`,
    many: "group_specs",
    writes: ["add", "set"],
    addShows: "given",
    given(c, body, verb) {
      const key = c.req.param("key") ?? "";
      const specs = verb === "set" ? { [key]: at(body, key) } : at(body, "group_specs");
      if (verb === "set" && at(body, key) === undefined) throw computeError(400, "Request body and URI mismatch.");
      return isObject(specs) ? textsOf(specs) : {};
    },
    find(c) {
      requireAdmin(c);
      return found(c);
    },
    pairsOf: ({ group_specs }) => group_specs,
    keep: (_c, { id }, group_specs) => void types.update(id, { group_specs }),
    unknownKey: notThere,
  });
}

function mountAccess(app: ShareApp, types: Table<GroupType>, found: Found): void {
  app.get(`${base}/:id/access`, (c) => {
    requireAdmin(c);
    const { id, is_public, projects } = found(c);
    if (is_public) throw computeError(404, "Access list not available for public share group types.");
    return c.json({
      share_group_type_access: projects.map((project_id) => ({ share_group_type_id: id, project_id })),
    });
  });
  app.post(`${base}/:id/action`, async (c) => {
    requireAdmin(c);
    const body = await bodyOf(c.req);
    const type = found(c);
    const [add, remove] = [textAt(body, "addProjectAccess", "project"), textAt(body, "removeProjectAccess", "project")];
    const project = add ?? remove ?? "";
    if (!/^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(project)) {
      throw computeError(400, `Project value (${project}) must be in uuid format.`);
    }
    if (type.is_public) {
      throw computeError(409, "Type access modification is not applicable to public share group type.");
    }
    const others = type.projects.filter((one) => one !== project);
    types.update(type.id, { projects: add === undefined ? others : [...others, project] });
    return c.body(null, 202);
  });
}

/** Groups, their snapshots, replicas and share servers: none, as no backend here makes them. */
export function mountAbsentGroups(app: ShareApp, parts: ShareParts): void {
  for (const [path, name] of [
    ["/v2/share-groups", "share_groups"],
    ["/v2/share-group-snapshots", "share_group_snapshots"],
    ["/v2/share-replicas", "share_replicas"],
  ] as const) {
    app.get(path, (c) => c.json({ [name]: [] }));
    app.get(`${path}/detail`, (c) => c.json({ [name]: [] }));
  }
  app.get("/v2/share-groups/:id", (c) => {
    throw computeError(404, `Share group ${c.req.param("id")} not found.`);
  });
  app.get("/v2/share-replicas/:id", (c) => {
    throw computeError(404, `Replica ${c.req.param("id")} not found.`);
  });
  app.post("/v2/share-replicas", async (c) => {
    const id = textAt(await bodyOf(c.req), "share_replica", "share_id");
    if (id === undefined) throw computeError(400, "Must provide Share ID to add replica.");
    const share = parts.shares.get(id);
    const { projectId, isAdmin } = c.get("caller");
    if (!share || (share.project_id !== projectId && !isAdmin)) {
      throw computeError(404, `No share exists with ID ${id}.`);
    }
    throw computeError(400, `Replication not supported for share ${id}.`);
  });
  app.get("/v2/share-servers", (c) => {
    requireAdmin(c);
    return c.json({ share_servers: [] });
  });
  app.get("/v2/share-servers/:id", (c) => {
    requireAdmin(c);
    throw computeError(404, `Share server ${c.req.param("id")} could not be found.`);
  });
}
