import { isList, isObject, type Json, own } from "../patch/json.ts";
import type { SchemaNode } from "./node.ts";

/** The old item that is the same one: only items of lists of type map have an identity. */
export function oldItem(node: SchemaNode, item: Json, old: Json | undefined): Json | undefined {
  if (node.listType !== "map" || !isList(old) || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && node.listKeys.every((key) => own(other, key) === own(item, key)));
}

/** The old member of that name; of atomic maps nobody can tell. */
export function oldMember(node: SchemaNode, name: string, old: Json | undefined): Json | undefined {
  return isObject(old) && !node.mapAtomic ? own(old, name) : undefined;
}
