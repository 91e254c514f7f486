import type { Json } from "../json.ts";
import { structOf, type Field, type Tables } from "./tables.ts";

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

/** The OpenAPI name of a struct: "io.k8s.api.core.v1.PodSpec". */
export function modelName(struct: string): string {
  const [group = "", name = ""] = struct.split(".");
  return group === "meta" ? `io.k8s.apimachinery.pkg.apis.meta.v1.${name}` : `io.k8s.api.${group}.v1.${name}`;
}

/**
 * OpenAPI v3 schemas of a built-in kind and of all it refers to, added to `schemas`.
 * False when the kind has no table.
 */
export function addModels(tables: Tables, type: { apiVersion: string; kind: string }, schemas: Json): boolean {
  const root = structOf(type.apiVersion, type.kind);
  if (root === undefined || !tables.flat(root)) return false;
  const waiting = [root];
  for (const struct of waiting) {
    const name = modelName(struct);
    if (schemas[name] !== undefined) continue;
    const fields = tables.flat(struct) ?? [];
    const properties = Object.fromEntries(fields.map((f) => [f.name, property(f)]));
    const identity = struct === root ? { apiVersion: { type: "string" }, kind: { type: "string" } } : {};
    schemas[name] = {
      type: "object",
      description: `${struct.split(".")[1]}.`,
      properties: { ...identity, ...properties },
    };
    for (const f of fields) if (!(f.type in SCALARS)) waiting.push(f.type);
  }
  return true;
}

function property({ shape, type }: Field): Json {
  const scalar = SCALARS[type];
  const item = scalar ?? { allOf: [{ $ref: `#/components/schemas/${modelName(type)}` }] };
  if (shape === "list") return { type: "array", items: item };
  return shape === "map" ? { type: "object", additionalProperties: item } : item;
}
