import { isList, isObject, type Json, type JsonObject } from "../json/values.ts";
import { item, member } from "./field-error.ts";
import type { SchemaNode } from "./node.ts";

/** An object within an object (x-kubernetes-embedded-resource). */
export interface Embedded {
  readonly path: string;
  readonly object: JsonObject;
}

/** The objects within a value, at every depth. */
export function embeddedIn(node: SchemaNode, value: Json, path: string): Embedded[] {
  const { items } = node;
  if (isList(value)) return items ? value.flatMap((child, i) => embeddedIn(items, child, item(path, i))) : [];
  if (!isObject(value)) return [];
  const inside = Object.entries(value).flatMap(([name, child]) => {
    const schema = node.properties.get(name);
    if (schema) return embeddedIn(schema, child, member(path, name));
    return typeof node.additional === "object" ? embeddedIn(node.additional, child, item(path, name)) : [];
  });
  return node.embedded ? [{ path, object: value }, ...inside] : inside;
}
