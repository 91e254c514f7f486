import { htmlPage } from "../../kernel/html-page.ts";
import type { Caller, Kernel, Table } from "../../kernel/interface.ts";
import type { JsonObject } from "../../kernel/json.ts";

/** What is in a namespace: an object, a property, a tag, or a resource type that it is for. */
export interface MetadefPart {
  readonly name: string;
  /** What the caller gave, without the name. */
  readonly fields: JsonObject;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The kinds of parts of a namespace, by the last element of their paths. */
export type MetadefKind = "objects" | "properties" | "tags" | "resource_type_associations";

/** A namespace of metadata definitions; its id is its name. */
export interface Namespace extends Readonly<Record<MetadefKind, readonly MetadefPart[]>> {
  readonly id: string;
  readonly owner: string;
  readonly visibility: string;
  readonly protected: boolean;
  readonly display_name?: string;
  readonly description?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A kind of resource that metadata can be for: known since a namespace named it. */
interface ResourceType {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** All state of Glance's metadata definitions. */
export interface Metadefs {
  readonly kernel: Kernel;
  readonly namespaces: Table<Namespace>;
  readonly resourceTypes: Table<ResourceType>;
}

/** The path of namespaces. */
export const namespacesPath = "/v2/metadefs/namespaces";

/** The namespace in a route's path; "" where the route has none. */
export const nameIn = (request: { param(name: string): string | undefined }): string =>
  request.param("namespace") ?? "";

/** Throws Glance's 403 unless the caller is an administrator. */
export function requireAdmin(caller: Caller): void {
  if (!caller.isAdmin) throw htmlPage(403, { explanation: "You are not authorized to complete this action." });
}

/** The namespace, if the caller may see it. Throws Glance's 404. */
export function namespaceFor({ namespaces }: Metadefs, caller: Caller, name: string, to = "read"): Namespace {
  const found = namespaces.get(name);
  if (found && (caller.isAdmin || found.visibility === "public" || found.owner === caller.projectId)) return found;
  const explanation =
    to === "delete" ? `Namespace ${name} not found` : `Metadata definition namespace=${name} was not found.`;
  throw htmlPage(404, { explanation });
}

/** A resource type is known from the first namespace that is for it on. */
export function learnResourceType({ kernel, resourceTypes }: Metadefs, name: string): void {
  if (resourceTypes.get(name)) return;
  resourceTypes.insert({ id: name, created_at: kernel.timestamp(), updated_at: kernel.timestamp() });
}

/**
 * A namespace as Glance writes it; what is in it only where there is something, its resource types' instants only when
 * it is read.
 */
export function namespaceView(namespace: Namespace, reading: boolean): object {
  const { id, objects, properties, tags, resource_type_associations: types, ...own } = namespace;
  return {
    namespace: id,
    ...own,
    ...(types.length > 0
      ? { resource_type_associations: types.map((t) => (reading ? datedView(t) : plainView(t))) }
      : {}),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties.map((p) => [p.name, plainView(p)])) } : {}),
    ...(objects.length > 0 ? { objects: objects.map((o) => objectView(id, o)) } : {}),
    ...(tags.length > 0 ? { tags: tags.map(({ name }) => ({ name })) } : {}),
    self: `${namespacesPath}/${id}`,
    schema: "/v2/schemas/metadefs/namespace",
  };
}

/** A part without its times, as namespaces and properties show it. */
export const plainView = ({ name, fields }: MetadefPart): object => ({ name, ...fields });

/** A part with its times. */
export const datedView = ({ name, fields, created_at, updated_at }: MetadefPart): object => ({
  name,
  ...fields,
  created_at,
  updated_at,
});

/** An object of a namespace, with its own path and its schema's. */
export const objectView = (namespace: string, part: MetadefPart): object => ({
  ...datedView(part),
  self: `${namespacesPath}/${namespace}/objects/${part.name}`,
  schema: "/v2/schemas/metadefs/object",
});
