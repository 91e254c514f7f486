import { Hono } from "hono";
import { htmlPage } from "../../kernel/html-page.ts";
import type { Caller, Kernel, Service } from "../../kernel/interface.ts";
import { bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import {
  learnResourceType,
  nameIn,
  namespaceFor,
  namespacesPath,
  namespaceView,
  requireAdmin,
  type MetadefKind,
  type MetadefPart,
  type Metadefs,
  type Namespace,
} from "../rules/metadef-model.ts";
import { mountMetadefParts } from "./metadef-parts.ts";
import { checkBySchema } from "../rules/schema-check.ts";
import { metadefSchemas } from "../rules/schemas.ts";

const path = namespacesPath;

/**
 * Glance's metadata definitions: https://docs.openstack.org/api-ref/image/v2/metadefs-index.html . Only administrators
 * write.
 */
export function mountMetadefs(app: Service["app"], kernel: Kernel): void {
  const metadefs: Metadefs = {
    kernel,
    namespaces: kernel.table("_metadef_namespace"),
    resourceTypes: kernel.table("_metadef_resource_type"),
  };
  app.get("/v2/metadefs/resource_types", (c) => {
    const types = metadefs.resourceTypes.all().map(({ id, ...rest }) => ({ name: id, ...rest }));
    return c.json({ resource_types: types });
  });
  app.get(path, (c) => c.json(listed(metadefs, c.get("caller"), new URL(c.req.url).searchParams)));
  app.post(path, async (c) => {
    requireAdmin(c.get("caller"));
    const made = create(metadefs, c.get("caller"), await bodyOf(c.req));
    const location = `${new URL(c.req.url).origin}/image${path}/${made.id}`;
    return c.json(namespaceView(made, false), 201, { location });
  });
  const one = new Hono() as Service["app"];
  one.get("/", (c) => c.json(namespaceView(namespaceFor(metadefs, c.get("caller"), nameIn(c.req)), true)));
  one.put("/", async (c) => {
    requireAdmin(c.get("caller"));
    const old = namespaceFor(metadefs, c.get("caller"), nameIn(c.req));
    return c.json(namespaceView(replace(metadefs, old, await bodyOf(c.req)), false));
  });
  one.delete("/", (c) => {
    requireAdmin(c.get("caller"));
    const { id, protected: isProtected } = namespaceFor(metadefs, c.get("caller"), nameIn(c.req), "delete");
    if (isProtected) {
      throw htmlPage(403, { explanation: `Metadata definition namespace ${id} is protected and cannot be deleted.` });
    }
    metadefs.namespaces.remove(id);
    return c.body(null, 204);
  });
  app.route(`${path}/:namespace`, one);
  mountMetadefParts(app, metadefs);
}

function create(metadefs: Metadefs, caller: Caller, given: unknown): Namespace {
  checkBySchema(given, metadefSchemas.namespace);
  const { kernel, namespaces } = metadefs;
  const id = textAt(given, "namespace") ?? "";
  if (namespaces.get(id)) {
    throw htmlPage(409, { explanation: `The metadata definition namespace=${id} already exists.` });
  }
  const now = kernel.timestamp();
  const part = (fields: unknown, name?: string): MetadefPart => {
    const { name: own, ...rest } = isObject(fields) ? fields : {};
    return { name: name ?? String(own), fields: rest, created_at: now, updated_at: now };
  };
  const list = (field: MetadefKind) => {
    const value = given[field];
    if (Array.isArray(value)) return value.map((each) => part(each));
    return isObject(value) ? Object.entries(value).map(([name, each]) => part(each, name)) : [];
  };
  const made = namespaces.insert({
    id,
    ...described(given),
    owner: textAt(given, "owner") ?? caller.projectId,
    created_at: now,
    updated_at: now,
    objects: list("objects"),
    properties: list("properties"),
    tags: list("tags"),
    resource_type_associations: list("resource_type_associations"),
  });
  for (const { name } of made.resource_type_associations) learnResourceType(metadefs, name);
  return made;
}

/** What a namespace says of itself: a PUT that leaves something out takes it away. */
function described(given: JsonObject): Pick<Namespace, "visibility" | "protected" | "display_name" | "description"> {
  const [display_name, description] = [textAt(given, "display_name"), textAt(given, "description")];
  return {
    visibility: textAt(given, "visibility") ?? "private",
    protected: given["protected"] === true,
    ...(display_name === undefined ? {} : { display_name }),
    ...(description === undefined ? {} : { description }),
  };
}

function replace({ kernel, namespaces }: Metadefs, old: Namespace, given: unknown): Namespace {
  checkBySchema(given, metadefSchemas.namespace);
  const id = textAt(given, "namespace") ?? old.id;
  if (id !== old.id && namespaces.get(id)) {
    throw htmlPage(409, { explanation: `The metadata definition namespace=${id} already exists.` });
  }
  const { display_name: _name, description: _description, ...kept } = old;
  namespaces.remove(old.id);
  const owner = textAt(given, "owner") ?? old.owner;
  return namespaces.insert({ ...kept, ...described(given), id, owner, updated_at: kernel.timestamp() });
}

function listed(metadefs: Metadefs, caller: Caller, query: URLSearchParams): object {
  const visibility = query.get("visibility");
  const types = query.get("resource_types")?.split(",");
  const seen = metadefs.namespaces
    .all()
    .toReversed()
    .filter((n) => caller.isAdmin || n.visibility === "public" || n.owner === caller.projectId)
    .filter((n) => visibility === null || n.visibility === visibility)
    .filter((n) => !types || n.resource_type_associations.some(({ name }) => types.includes(name)));
  const sorted = query.get("sort_key") === "namespace" ? seen.toSorted((a, b) => (a.id < b.id ? 1 : -1)) : seen;
  const ordered = query.get("sort_dir") === "asc" ? sorted.toReversed() : sorted;
  const start = ordered.findIndex((n) => n.id === query.get("marker")) + 1;
  const limit = Number(query.get("limit") ?? 25);
  const page = ordered.slice(start, start + limit);
  const url = (marker?: string) => {
    const parameters = new URLSearchParams(query);
    parameters.delete("marker");
    if (marker !== undefined) parameters.append("marker", marker);
    return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
  };
  const last = page.length === limit ? page.at(-1) : undefined;
  return {
    namespaces: page.map((n) => namespaceView({ ...n, objects: [], properties: [], tags: [] }, true)),
    ...(last ? { next: url(last.id) } : {}),
    schema: "/v2/schemas/metadefs/namespaces",
    first: url(),
  };
}
