import type { Context } from "hono";
import { htmlPage } from "../../kernel/html-page.ts";
import type { Service } from "../../kernel/interface.ts";
import { bodyOf, isObject, type JsonObject } from "../../kernel/json.ts";
import {
  datedView,
  learnResourceType,
  nameIn,
  namespaceFor,
  objectView,
  plainView,
  requireAdmin,
  type MetadefKind,
  type MetadefPart,
  type Metadefs,
  type Namespace,
} from "../rules/metadef-model.ts";
import { checkBySchema } from "../rules/schema-check.ts";
import { metadefSchemas, type Schema } from "../rules/schemas.ts";

interface PartKind {
  readonly kind: MetadefKind;
  readonly schema: Schema;
  readonly view: (part: MetadefPart, namespace: string) => object;
  /** What is said when there is none of this name. */
  readonly missing: (name: string) => string;
  /** What is said when there is one already. */
  readonly taken: (name: string, namespace: string) => string;
  readonly listed: (parts: readonly MetadefPart[], namespace: string) => object;
}

const objects: PartKind = {
  kind: "objects",
  schema: metadefSchemas.object,
  view: (part, namespace) => objectView(namespace, part),
  missing: (name) => `Could not find metadata object ${name}`,
  taken: (name, namespace) =>
    `A metadata definition object with name=${name} already exists in namespace=${namespace}.`,
  listed: (parts, namespace) => ({
    objects: parts.map((part) => objectView(namespace, part)),
    schema: "v2/schemas/metadefs/objects",
  }),
};

const properties: PartKind = {
  kind: "properties",
  schema: metadefSchemas.property,
  view: plainView,
  missing: (name) => `Could not find property ${name}`,
  taken: (name, namespace) =>
    `A metadata definition property with name=${name} already exists in namespace=${namespace}.`,
  listed: (parts) => ({ properties: Object.fromEntries(parts.map((part) => [part.name, plainView(part)])) }),
};

const tags: PartKind = {
  kind: "tags",
  schema: metadefSchemas.tag,
  view: datedView,
  missing: (name) => `Could not find metadata tag ${name}`,
  taken: (name, namespace) =>
    `A metadata tag with name=${name} already exists in namespace=${namespace}. (Please note that metadata tag names are case insensitive).`,
  listed: (parts) => ({ tags: parts.map(({ name }) => ({ name })) }),
};

const resourceTypes: PartKind = {
  kind: "resource_type_associations",
  schema: metadefSchemas.resource_type,
  view: datedView,
  missing: (name) => `Failed to find resource type ${name} to delete`,
  taken: (name, namespace) =>
    `The metadata definition resource-type association of resource-type=${name} to namespace=${namespace} already exists.`,
  listed: (parts) => ({ resource_type_associations: parts.map(datedView) }),
};

/** What is in namespaces: objects, properties, tags, and the resource types that they are for. */
export function mountMetadefParts(app: Service["app"], metadefs: Metadefs): void {
  for (const kind of [objects, properties, tags]) addWhole(app, metadefs, kind);
  addResourceTypes(app, metadefs);
  addTags(app, metadefs);
}

type Requested = Context<{ Variables: { caller: Parameters<typeof requireAdmin>[0] } }>;

/** The namespace of a request that reads. */
const read = (metadefs: Metadefs, c: Requested): Namespace => namespaceFor(metadefs, c.get("caller"), nameIn(c.req));

/** The namespace of a request that writes; only administrators do. */
function written(metadefs: Metadefs, c: Requested): Namespace {
  requireAdmin(c.get("caller"));
  return read(metadefs, c);
}

function addWhole(app: Service["app"], metadefs: Metadefs, of: PartKind): void {
  const all = `/v2/metadefs/namespaces/:namespace/${of.kind}`;
  const { kind, schema, view } = of;
  app.get(all, (c) => {
    const namespace = read(metadefs, c);
    const query = new URL(c.req.url).searchParams;
    const newest = kind === "properties" ? namespace[kind] : namespace[kind].toReversed();
    const start = newest.findIndex(({ name }) => name === query.get("marker")) + 1;
    return c.json(of.listed(newest.slice(start, start + Number(query.get("limit") ?? 1000)), namespace.id));
  });
  if (kind !== "tags") {
    app.post(all, async (c) => {
      const namespace = written(metadefs, c);
      const given: unknown = await bodyOf(c.req);
      checkBySchema(given, schema);
      return c.json(view(add(metadefs, { namespace, of, given }), namespace.id), 201);
    });
  }
  app.delete(all, (c) => {
    metadefs.namespaces.update(written(metadefs, c).id, { [kind]: [] });
    return c.body(null, 204);
  });
  const one = `${all}/:name`;
  app.get(one, (c) => {
    const namespace = read(metadefs, c);
    return c.json(view(found(namespace, of, c.req.param("name") ?? ""), namespace.id));
  });
  app.put(one, async (c) => {
    const namespace = written(metadefs, c);
    const old = found(namespace, of, c.req.param("name") ?? "");
    const given: unknown = await bodyOf(c.req);
    checkBySchema(given, schema);
    const { name, ...fields } = given;
    const now = metadefs.kernel.timestamp();
    const part: MetadefPart = {
      name: String(name),
      fields: withoutTold(fields),
      created_at: old.created_at,
      updated_at: now,
    };
    const parts = namespace[kind].map((each) => (each === old ? part : each));
    metadefs.namespaces.update(namespace.id, { [kind]: parts });
    return c.json(view(part, namespace.id));
  });
  app.delete(one, (c) => {
    drop(metadefs, { namespace: written(metadefs, c), of, name: c.req.param("name") ?? "" });
    return c.body(null, 204);
  });
}

function addResourceTypes(app: Service["app"], metadefs: Metadefs): void {
  const all = "/v2/metadefs/namespaces/:namespace/resource_types";
  const of = resourceTypes;
  app.get(all, (c) => c.json(of.listed(read(metadefs, c)[of.kind], "")));
  app.post(all, async (c) => {
    const namespace = written(metadefs, c);
    const given: unknown = await bodyOf(c.req);
    checkBySchema(given, of.schema);
    const part = add(metadefs, { namespace, of, given });
    learnResourceType(metadefs, part.name);
    return c.json(datedView(part), 201);
  });
  app.delete(`${all}/:name`, (c) => {
    drop(metadefs, { namespace: written(metadefs, c), of, name: c.req.param("name") ?? "" });
    return c.body(null, 204);
  });
}

/** Tags are made by their name alone, or many at once in the place of all that there were. */
function addTags(app: Service["app"], metadefs: Metadefs): void {
  const all = "/v2/metadefs/namespaces/:namespace/tags";
  app.post(all, async (c) => {
    const namespace = written(metadefs, c);
    const given: unknown = await bodyOf(c.req);
    checkBySchema(given, { name: "tags", properties: { tags: { type: "array", items: tags.schema } } });
    const now = metadefs.kernel.timestamp();
    const names = (Array.isArray(given["tags"]) ? (given["tags"] as readonly unknown[]) : []).map((tag) =>
      isObject(tag) ? String(tag["name"]) : "",
    );
    const made = names.map((name): MetadefPart => ({ name, fields: {}, created_at: now, updated_at: now }));
    const kept = c.req.header("x-openstack-append") === "True" ? namespace.tags : [];
    metadefs.namespaces.update(namespace.id, { tags: [...kept, ...made] });
    return c.json({ tags: names.map((name) => ({ name })) }, 201);
  });
  app.post(`${all}/:name`, (c) => {
    const namespace = written(metadefs, c);
    return c.json(datedView(add(metadefs, { namespace, of: tags, given: { name: c.req.param("name") ?? "" } })), 201);
  });
}

function found(namespace: Namespace, { kind, missing }: PartKind, name: string): MetadefPart {
  const part = namespace[kind].find((each) => each.name === name);
  if (!part) throw htmlPage(404, { explanation: missing(name) });
  return part;
}

interface Addition {
  readonly namespace: Namespace;
  readonly of: PartKind;
  readonly given: JsonObject;
}

function add({ kernel, namespaces }: Metadefs, { namespace, of, given }: Addition): MetadefPart {
  const { name: own, ...fields } = given;
  const name = String(own);
  const same = (each: MetadefPart) =>
    of.kind === "tags" ? each.name.toLowerCase() === name.toLowerCase() : each.name === name;
  if (namespace[of.kind].some(same)) throw htmlPage(409, { explanation: of.taken(name, namespace.id) });
  const now = kernel.timestamp();
  const part = { name, fields: withoutTold(fields), created_at: now, updated_at: now };
  namespaces.update(namespace.id, { [of.kind]: [...namespace[of.kind], part] });
  return part;
}

interface Removal {
  readonly namespace: Namespace;
  readonly of: PartKind;
  readonly name: string;
}

function drop({ namespaces }: Metadefs, { namespace, of, name }: Removal): void {
  const part = found(namespace, of, name);
  namespaces.update(namespace.id, { [of.kind]: namespace[of.kind].filter((each) => each !== part) });
}

/** The fields that a caller sets, without those that only the service sets. */
function withoutTold(fields: JsonObject): JsonObject {
  const readOnly = ["created_at", "updated_at", "self", "schema"];
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !readOnly.includes(name)));
}
