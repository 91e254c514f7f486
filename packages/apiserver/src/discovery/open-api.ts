import { createHash } from "node:crypto";
import { isRecord, type Json } from "../json/json.ts";
import { addModels } from "./models.ts";
import type { Catalog } from "../contract/catalog.ts";
import { apiVersionOf, type Resource, type ResourceVersion } from "../contract/resource.ts";

const PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"];
const STRATEGIC = "application/strategic-merge-patch+json";
const PATCHES = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const META: Json = {
  type: "object",
  description: "ObjectMeta is metadata that all persisted resources must have.",
  properties: {
    name: { type: "string", description: "Name, unique within a namespace." },
    generateName: { type: "string", description: "Prefix of a name that the server completes." },
    namespace: { type: "string", description: "Namespace the object is in." },
    labels: { type: "object", additionalProperties: { type: "string" }, description: "Keys and values to select by." },
    annotations: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Keys and values for tools.",
    },
    finalizers: {
      type: "array",
      items: { type: "string" },
      description: "What must be done before the object goes.",
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    ownerReferences: {
      type: "array",
      items: { type: "object" },
      description: "Objects this one goes with.",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "uid",
      "x-kubernetes-patch-strategy": "merge",
    },
    uid: { type: "string", description: "Identity over time." },
    resourceVersion: { type: "string", description: "Revision of the last write." },
    generation: { type: "integer", format: "int64", description: "Counts changes of the desired state." },
    creationTimestamp: {
      type: "string",
      format: "date-time",
      description: "CreationTimestamp is a timestamp of its making.",
    },
    deletionTimestamp: { type: "string", format: "date-time", description: "When deletion was requested." },
    deletionGracePeriodSeconds: { type: "integer", format: "int64", description: "Time to end before removal." },
    managedFields: { type: "array", items: { type: "object" }, description: "Who manages which fields." },
    selfLink: { type: "string", description: "No longer set." },
  },
};
const META_NAME = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const LOGIC = new Set(["allOf", "anyOf", "oneOf", "not"]);

function groupVersionPath(group: string, version: string): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function pathsOf(catalog: Catalog): Map<string, [Resource, ResourceVersion][]> {
  const found = new Map<string, [Resource, ResourceVersion][]>();
  for (const resource of catalog.all()) {
    for (const version of resource.versions) {
      const path = groupVersionPath(resource.group, version.name);
      found.set(path, [...(found.get(path) ?? []), [resource, version]]);
    }
  }
  return found;
}

/** GET /openapi/v3. */
export function openApiV3Index(catalog: Catalog): Json {
  const paths: Json = {};
  for (const [path, entries] of pathsOf(catalog)) {
    const facts = entries.map(([r, v]) => [r.kind, r.custom ? v.openAPI : catalog.isBuiltInGroup(r.group)]);
    const hash = createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32).toUpperCase();
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  return { paths };
}

/** GET /openapi/v3/PATH: one group's version, or undefined. */
export function openApiV3(catalog: Catalog, path: string): Json | undefined {
  const entries = pathsOf(catalog).get(path);
  if (!entries) return undefined;
  const schemas: Json = { [META_NAME]: META };
  const paths: Json = {};
  for (const [resource, version] of entries) {
    const name = modelName(resource, version);
    const apiVersion = apiVersionOf(resource.group, version.name);
    const models = { tables: catalog.tables, schemas, prefix: "#/components/schemas/" };
    const known = !resource.custom && addModels(models, { apiVersion, kind: resource.kind });
    schemas[name] = known
      ? { ...(schemas[name] as Json), "x-kubernetes-group-version-kind": [gvk(resource, version)] }
      : model(resource, version, "#/components/schemas/");
    Object.assign(paths, operations(resource, version, v3Operation));
  }
  return { openapi: "3.0.0", info: { title: "Kubernetes", version: "unversioned" }, paths, components: { schemas } };
}

/** GET /openapi/v2: all kinds in one document. */
export function openApiV2(catalog: Catalog, version: string): Json {
  const definitions: Json = { [META_NAME]: META };
  const models = { tables: catalog.tables, schemas: definitions, prefix: "#/definitions/" };
  const paths: Json = {};
  for (const entries of pathsOf(catalog).values()) {
    for (const [resource, v] of entries) {
      const name = modelName(resource, v);
      const type = { apiVersion: apiVersionOf(resource.group, v.name), kind: resource.kind };
      const known = !resource.custom && addModels(models, type);
      definitions[name] = known
        ? { ...(definitions[name] as Json), "x-kubernetes-group-version-kind": [gvk(resource, v)] }
        : modelV2(resource, v);
      Object.assign(paths, operations(resource, v, v2Operation));
    }
  }
  return { swagger: "2.0", info: { title: "Kubernetes", version }, paths, definitions };
}

function modelName(resource: Resource, version: ResourceVersion): string {
  if (resource.custom) return `${resource.group.split(".").reverse().join(".")}.${version.name}.${resource.kind}`;
  return `io.k8s.api.${resource.group.split(".")[0] || "core"}.${version.name}.${resource.kind}`;
}

function gvk(resource: Resource, version: ResourceVersion): Json {
  return { group: resource.group, version: version.name, kind: resource.kind };
}

function model(resource: Resource, version: ResourceVersion, prefix: string): Json {
  const schema = version.openAPI ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const { properties, ...rest } = published(schema) as Json;
  const description = "Standard object's metadata.";
  const metadata = prefix.startsWith("#/components")
    ? { description, allOf: [{ $ref: `${prefix}${META_NAME}` }] }
    : { description, $ref: `${prefix}${META_NAME}` };
  const own = resource.custom
    ? {}
    : { description: `${resource.kind} of ${apiVersionOf(resource.group, version.name)}.` };
  return {
    ...own,
    ...rest,
    type: "object",
    properties: {
      ...(isRecord(properties) ? properties : {}),
      apiVersion: {
        type: "string",
        description: "APIVersion defines in which version of its kind this object is written.",
      },
      kind: { type: "string", description: "Kind says which kind of object this is." },
      metadata,
    },
    "x-kubernetes-group-version-kind": [gvk(resource, version)],
  };
}

/** OpenAPI v2 cannot say that unknown fields remain: a kind that keeps them is any object there. */
function modelV2(resource: Resource, version: ResourceVersion): Json {
  const schema = version.openAPI;
  if (schema === undefined || schema["x-kubernetes-preserve-unknown-fields"] === true)
    return { type: "object", "x-kubernetes-group-version-kind": [gvk(resource, version)] };
  return v2Form(model(resource, version, "#/definitions/")) as Json;
}

/** Constraints beyond one type, which clients of v2 would read wrongly, are left out, and the type with them. */
function v2Form(schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const { nullable, properties, items, additionalProperties, type, ...rest } = schema;
  const loose = [nullable, rest["x-kubernetes-preserve-unknown-fields"], rest["x-kubernetes-int-or-string"]];
  const out = Object.fromEntries(Object.entries(rest).filter(([name]) => !LOGIC.has(name)));
  if (loose.includes(true)) return out;
  const named = isRecord(properties) ? Object.entries(properties).map(([name, one]) => [name, v2Form(one)]) : undefined;
  return {
    ...out,
    ...(type === undefined ? {} : { type }),
    ...(named ? { properties: Object.fromEntries(named) as Json } : {}),
    ...(items === undefined ? {} : { items: v2Form(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: v2Form(additionalProperties) }),
  };
}

/** A schema without the keywords that documents do not carry. */
function published(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(published);
  if (!isRecord(schema)) return schema;
  const out: Json = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === "x-kubernetes-validations") continue;
    out[name] = typeof value === "object" ? published(value) : value;
  }
  return out;
}

/** The patches a kind takes: kubectl computes one of them from these documents. */
function patchesOf(resource: Resource): readonly string[] {
  return resource.custom ? PATCHES : [STRATEGIC, ...PATCHES];
}

type Operation = (action: string, resource: Resource, version: ResourceVersion) => Json;

function operations(resource: Resource, version: ResourceVersion, operation: Operation): Json {
  const base = `/${groupVersionPath(resource.group, version.name)}/`;
  const collection = `${base}${resource.namespaced ? "namespaces/{namespace}/" : ""}${resource.plural}`;
  const item = `${collection}/{name}`;
  const has = (verb: string): boolean => resource.verbs.includes(verb);
  return {
    [collection]: {
      ...(has("list") ? { get: operation("list", resource, version) } : {}),
      ...(has("create") ? { post: operation("post", resource, version) } : {}),
    },
    ...(has("get")
      ? {
          [item]: {
            get: operation("get", resource, version),
            ...(has("update") ? { put: operation("put", resource, version) } : {}),
            ...(has("patch") ? { patch: operation("patch", resource, version) } : {}),
            ...(has("delete") ? { delete: operation("delete", resource, version) } : {}),
          },
        }
      : {}),
  };
}

function v3Operation(action: string, resource: Resource, version: ResourceVersion): Json {
  const query = (name: string): Json => ({ name, in: "query", schema: { type: "string", uniqueItems: true } });
  const content = Object.fromEntries(patchesOf(resource).map((type) => [type, { schema: { type: "object" } }]));
  return {
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk(resource, version),
    // Who reads the document and writes it again leaves out empty lists.
    ...(["get", "list"].includes(action) ? {} : { parameters: PARAMETERS.map(query) }),
    ...(action === "patch" ? { requestBody: { content, required: true } } : {}),
    responses: { "200": { description: "OK" } },
  };
}

function v2Operation(action: string, resource: Resource, version: ResourceVersion): Json {
  const query = (name: string): Json => ({ name, in: "query", type: "string", uniqueItems: true });
  return {
    ...(action === "patch" ? { consumes: patchesOf(resource) } : {}),
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk(resource, version),
    parameters: ["get", "list"].includes(action) ? [] : PARAMETERS.map(query),
    responses: { "200": { description: "OK" } },
  };
}
