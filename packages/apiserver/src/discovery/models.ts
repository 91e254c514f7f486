import type { Json } from "../json/json.ts";
import { BuiltInTypes, type Mark } from "../patch/built-in-types.ts";
import { structOf, type Field, type Tables } from "../wire/tables.ts";

const SCALARS: Readonly<Record<string, Json>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
  Time: { type: "string", format: "date-time" },
  MicroTime: { type: "string", format: "date-time" },
  Duration: { type: "string" },
  Quantity: { type: "string" },
  IntOrString: { type: "string", format: "int-or-string" },
  Raw: { type: "object" },
  Fields: { type: "object" },
};

/** The OpenAPI name of a struct: "io.k8s.api.core.v1.PodSpec"; one of "autoscaling2" is of its group's v2. */
export function modelName(struct: string): string {
  const [room = "", name = ""] = struct.split(".");
  if (room === "meta") return `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`;
  const [, group = room, version] = /^([a-z]+)(\d+)$/.exec(room) ?? [];
  return `io.k8s.api.${group}.v${version ?? "1"}.${name}`;
}

/** A document that is being written. */
export interface Models {
  readonly tables: Tables;
  /** Its schemas by name. */
  readonly schemas: Json;
  /** What refers to a schema: "#/components/schemas/" in v3, "#/definitions/" in v2. */
  readonly prefix: string;
}

/** Adds the schemas of a built-in kind and of all it refers to. False when the kind has no table. */
export function addModels({ tables, schemas, prefix }: Models, type: { apiVersion: string; kind: string }): boolean {
  const root = structOf(type.apiVersion, type.kind);
  if (root === undefined || !tables.flat(root)) return false;
  const types = new BuiltInTypes(tables);
  const waiting = [root];
  for (const struct of waiting) {
    const name = modelName(struct);
    if (schemas[name] !== undefined) continue;
    const fields = tables.flat(struct) ?? [];
    const marks = types.marks(struct);
    const properties = fields.map((f) => [f.name, { ...property(f, prefix), ...extensions(f, marks.get(f.name)) }]);
    const identity = struct === root ? { apiVersion: { type: "string" }, kind: { type: "string" } } : {};
    schemas[name] = {
      type: "object",
      description: `${struct.split(".")[1]}.`,
      properties: { ...identity, ...Object.fromEntries(properties) },
      ...(marks.get("~")?.atomic ? { "x-kubernetes-map-type": "atomic" } : {}),
    };
    for (const f of fields) if (!(f.type in SCALARS)) waiting.push(f.type);
  }
  return true;
}

function property({ shape, type }: Field, prefix: string): Json {
  const ref = { $ref: `${prefix}${modelName(type)}` };
  const item = SCALARS[type] ?? (prefix === "#/definitions/" ? ref : { allOf: [ref] });
  if (shape === "list") return { type: "array", items: item };
  return shape === "map" ? { type: "object", additionalProperties: item } : item;
}

/** How the field merges, in server-side apply and in strategic patches. */
function extensions({ shape }: Field, mark: Mark | undefined): Json {
  if (mark === undefined) return {};
  const { relation, keys, mergeKey, retainKeys } = mark;
  const strategies = [...(mergeKey === undefined ? [] : ["merge"]), ...(retainKeys ? ["retainKeys"] : [])];
  return {
    ...(relation === "atomic" && !mark.atomic ? {} : shape === "list" ? { "x-kubernetes-list-type": relation } : {}),
    ...(mark.atomic && shape !== "list" ? { "x-kubernetes-map-type": "atomic" } : {}),
    ...(keys.length > 0 ? { "x-kubernetes-list-map-keys": keys } : {}),
    ...(mergeKey ? { "x-kubernetes-patch-merge-key": mergeKey } : {}),
    ...(strategies.length > 0 ? { "x-kubernetes-patch-strategy": strategies.join(",") } : {}),
  };
}
