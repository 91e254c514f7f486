import { isList, isObject, type Json, type JsonObject } from "../patch/json.ts";
import type { SchemaNode } from "./node.ts";
import { mapList, mapMembers } from "./prune.ts";

/** What becomes of nulls that are neither allowed nor replaced by a default. */
type Strays = "dropped" | "kept";

/**
 * The value with the schema's defaults filled in, at every depth that exists. A null where the schema is not nullable but has a default
 * counts as absent, and one without a default is dropped. The same value comes back when nothing was to fill.
 */
export function defaultValue(node: SchemaNode, value: Json, strays: Strays = "dropped"): Json {
  if (isList(value)) {
    const { items } = node;
    return items === undefined ? value : mapList(value, (item) => orDefault(items, item, strays));
  }
  if (!isObject(value)) return value;
  const filled = withMissing(node, value);
  return mapMembers(filled, (name, child) => {
    const schema = node.properties.get(name) ?? node.additional;
    if (schema === undefined || schema === true) return child;
    return strays === "dropped" && isStray(schema, child) ? undefined : orDefault(schema, child, strays);
  });
}

function isStray(node: SchemaNode, value: Json): boolean {
  return value === null && !node.nullable && node.default === undefined;
}

function orDefault(node: SchemaNode, value: Json, strays: Strays): Json {
  const isFilled = value === null && !node.nullable && node.default !== undefined;
  return defaultValue(node, isFilled ? (node.default ?? null) : value, strays);
}

function withMissing(node: SchemaNode, object: JsonObject): JsonObject {
  const missing = [...node.properties].flatMap(([name, property]): [string, Json][] =>
    property.default === undefined || Object.hasOwn(object, name) ? [] : [[name, property.default]],
  );
  return missing.length === 0 ? object : Object.fromEntries([...Object.entries(object), ...missing]);
}
