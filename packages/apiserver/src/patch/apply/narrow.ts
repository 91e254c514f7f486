import { isList, isObject, type Json } from "../../json/values.ts";
import type { MergeType } from "../../schema/merge-type.ts";

/** What a value is read as, of what its type lets it be. Null and nothing may be anything. */
export function narrowed(type: MergeType, value: Json | undefined): MergeType {
  if (value === undefined || value === null) return type;
  if (isList(value)) return type.list ? { list: type.list } : type;
  if (isObject(value)) return type.map ? { map: type.map } : type;
  return type.scalar ? { scalar: type.scalar } : type;
}

/** The part of a type that counts: of several the map goes first, then the scalar. */
export function chosen(type: MergeType): "map" | "scalar" | "list" {
  return type.map ? "map" : type.scalar ? "scalar" : "list";
}

/** The type of a member of a map. */
export function memberType(type: MergeType, name: string): MergeType {
  return type.map?.field(name) ?? type.map?.rest ?? {};
}
