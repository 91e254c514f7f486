import { isList, isObject, type Json, jsonEqual, type JsonObject, own } from "../patch/json.ts";
import type { SchemaNode } from "./node.ts";

/** The old item that is the same one: only items of lists of type map have an identity. */
export function oldItem(node: SchemaNode, item: Json, old: Json | undefined): Json | undefined {
  if (node.listType !== "map" || !isList(old) || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && node.listKeys.every((key) => own(other, key) === own(item, key)));
}

/** The old member of that name. */
export function oldMember(name: string, old: Json | undefined): Json | undefined {
  return isObject(old) ? own(old, name) : undefined;
}

/**
 * Whether a value is as it was, so that what is wrong with it may stay (KEP-4008). Members that the schema does not name cannot be
 * followed: an object that has any counts as another. Items that have keys may have changed places.
 */
export function isUnchanged(node: SchemaNode, value: Json, old: Json): boolean {
  if (isList(value)) return isList(old) && value.length === old.length && sameItems(node, value, old);
  if (isObject(value)) return isObject(old) && sameMembers(node, value, old);
  return jsonEqual(value, old);
}

function sameItems(node: SchemaNode, value: readonly Json[], old: readonly Json[]): boolean {
  const { items } = node;
  if (items === undefined || node.listType !== "map") return jsonEqual(value, old);
  return value.every((item) => {
    const was = oldItem(node, item, old);
    return was !== undefined && isUnchanged(items, item, was);
  });
}

function sameMembers(node: SchemaNode, value: JsonObject, old: JsonObject): boolean {
  if (Object.keys(value).length !== Object.keys(old).length) return false;
  return Object.entries(value).every(([name, child]) => {
    const was = own(old, name);
    const schema = node.properties.get(name) ?? node.additional;
    return was !== undefined && typeof schema === "object" && isUnchanged(schema, child, was);
  });
}
