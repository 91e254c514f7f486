import { isList, isObject, type Json, jsonEqual, type JsonObject, own } from "../json/values.ts";
import type { SchemaNode } from "./node.ts";

/** Finds the old item that is the same one as a new item: only items of lists of type map have an identity. */
export function oldItems(node: SchemaNode, old: Json | undefined): (item: Json) => Json | undefined {
  if (node.listType !== "map" || !isList(old)) return () => undefined;
  const places = new Map<string, Json>();
  for (const item of old) {
    const identity = isObject(item) ? identityOf(node, item) : undefined;
    if (identity !== undefined && !places.has(identity)) places.set(identity, item);
  }
  return (item) => {
    const identity = isObject(item) ? identityOf(node, item) : undefined;
    return identity === undefined ? undefined : places.get(identity);
  };
}

/** The keys of an item; undefined for keys that are no scalars, which equal none. */
function identityOf({ listKeys }: SchemaNode, item: JsonObject): string | undefined {
  const keys = listKeys.map((key) => own(item, key));
  return keys.some((key) => isList(key) || isObject(key)) ? undefined : JSON.stringify(keys.map((key) => key ?? [key]));
}

/** The old member of that name. */
export function oldMember(name: string, old: Json | undefined): Json | undefined {
  return isObject(old) ? own(old, name) : undefined;
}

/** What was found about parts of a value, so that no part is compared again at each level. */
export type Memory = Map<SchemaNode, WeakMap<object, { readonly old: Json; readonly isSame: boolean }>>;

/**
 * Whether a value is as it was, so that what is wrong with it may remain (KEP-4008). Members that the schema does not
 * name cannot be followed: an object that has any counts as another. Items that have keys may have changed places.
 */
export function isUnchanged(node: SchemaNode, { value, old }: { value: Json; old: Json }, memory: Memory): boolean {
  if (typeof value !== "object" || value === null) return value === old;
  const known = memory.get(node)?.get(value);
  if (known?.old === old) return known.isSame;
  const isSame = isList(value)
    ? isList(old) && value.length === old.length && sameItems(node, [value, old], memory)
    : isObject(value) && isObject(old) && sameMembers(node, [value, old], memory);
  let found = memory.get(node);
  if (!found) memory.set(node, (found = new WeakMap()));
  found.set(value, { old, isSame });
  return isSame;
}

function sameItems(
  node: SchemaNode,
  [value, old]: readonly [readonly Json[], readonly Json[]],
  memory: Memory,
): boolean {
  const { items } = node;
  if (items === undefined || node.listType !== "map") return jsonEqual(value, old);
  const oldOf = oldItems(node, old);
  return value.every((item) => {
    const was = oldOf(item);
    return was !== undefined && isUnchanged(items, { value: item, old: was }, memory);
  });
}

function sameMembers(node: SchemaNode, [value, old]: readonly [JsonObject, JsonObject], memory: Memory): boolean {
  if (Object.keys(value).length !== Object.keys(old).length) return false;
  return Object.entries(value).every(([name, child]) => {
    const was = own(old, name);
    const schema = node.properties.get(name) ?? node.additional;
    return was !== undefined && typeof schema === "object" && isUnchanged(schema, { value: child, old: was }, memory);
  });
}
