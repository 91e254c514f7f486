import { canonicalJson } from "@causeway/foundation";
import { isList, isObject, type Json, type JsonObject, own } from "../json/values.ts";
import { duplicate, type FieldError, invalid, item, member } from "./field-error.ts";
import type { SchemaNode } from "./node.ts";

/**
 * Where lists of type set have a value twice, and lists of type map a key, at every depth; each such value is reported
 * once.
 */
export function listProblems(node: SchemaNode, value: Json, path: string): FieldError[] {
  if (isList(value)) {
    const { items } = node;
    const below = items ? value.flatMap((child, i) => listProblems(items, child, item(path, i))) : [];
    return [...repeated(node, value, path), ...below];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const schema = node.properties.get(name);
    if (schema) return listProblems(schema, child, member(path, name));
    return typeof node.additional === "object" ? listProblems(node.additional, child, item(path, name)) : [];
  });
}

function repeated({ listType, listKeys }: SchemaNode, items: readonly Json[], path: string): FieldError[] {
  if (listType === "set") return twice(items, path);
  if (listType !== "map") return [];
  const wrongAt = items.findIndex((one) => one !== null && !isObject(one));
  if (wrongAt >= 0)
    return [invalid(item(path, wrongAt), items[wrongAt], "must be an object for an array of list-type map")];
  return twice(
    items.map((one) => keysOf(one, listKeys)),
    path,
  );
}

function twice(values: readonly Json[], path: string): FieldError[] {
  const times = new Map<string, number>();
  return values.flatMap((value, i) => {
    const text = canonicalJson(value);
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    return before === 1 ? [duplicate(item(path, i), value)] : [];
  });
}

/** The keys of an item that it has. */
function keysOf(value: Json, names: readonly string[]): JsonObject {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const key = own(value, name);
      return key === undefined ? [] : [[name, key]];
    }),
  );
}
