import type { ListType, MergeType } from "../../schema/merge-type.ts";
import { isList, isObject, type Json, type JsonObject } from "../../json/values.ts";
import { elementsOf, itemElement } from "./elements.ts";
import { EMPTY, type FieldSet, fieldSet, isEmpty, LEAF } from "./field-set.ts";
import { chosen, memberType, narrowed } from "./narrow.ts";

/** Every field that a value sets: what its applier will own. */
export function fieldsOf(value: Json, type: MergeType): FieldSet {
  const one = narrowed(type, value);
  switch (chosen(one)) {
    case "scalar":
      return LEAF;
    case "map":
      if (one.map?.atomic === true) return LEAF;
      return isObject(value) ? memberFields(value, one) : EMPTY;
    case "list":
      if (one.list === undefined || one.list.relation === "atomic") return LEAF;
      return isList(value) ? itemFields(value, one.list) : EMPTY;
  }
}

function memberFields(value: JsonObject, type: MergeType): FieldSet {
  const entries = Object.entries(value).map(([name, child]) => {
    const below = fieldsOf(child, memberType(type, name));
    const isEmptyMap = isObject(child) && Object.keys(child).length === 0;
    const whole = child === null || isEmptyMap || type.map?.field(name) === undefined;
    return [`f:${name}`, whole ? { ...below, member: true } : below] as const;
  });
  return fieldSet(false, entries);
}

/** Items that are there twice are owned as one thing, with no parts. */
function itemFields(items: readonly Json[], list: ListType): FieldSet {
  const found = new Map<string, FieldSet>();
  for (const [element, item] of elementsOf(items, list)) {
    found.set(element, found.has(element) ? LEAF : { ...fieldsOf(item, list.item), member: true });
  }
  return fieldSet(false, found);
}

/** The value without the paths of a set, and all below them. What loses everything that way becomes null. */
export function removePaths(value: Json, paths: FieldSet, type: MergeType): Json {
  const one = narrowed(type, value);
  switch (chosen(one)) {
    case "scalar":
      return value;
    case "map":
      if (one.map?.atomic === true || !isObject(value)) return null;
      return withoutMembers(value, paths, one);
    case "list":
      if (one.list === undefined || one.list.relation === "atomic" || !isList(value)) return null;
      return withoutItems(value, paths, one.list);
  }
}

function withoutMembers(value: JsonObject, paths: FieldSet, type: MergeType): Json {
  const kept = Object.entries(value).flatMap(([name, child]): [string, Json][] => {
    const below = paths.children.get(`f:${name}`) ?? EMPTY;
    if (below.member) return [];
    return [[name, below.children.size === 0 ? child : removePaths(child, below, memberType(type, name))]];
  });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

function withoutItems(items: readonly Json[], paths: FieldSet, list: ListType): Json {
  const kept = items.flatMap((item) => {
    const found = itemElement(item, list);
    const below = ("element" in found ? paths.children.get(found.element) : undefined) ?? EMPTY;
    if (below.member) return [];
    return [below.children.size === 0 ? item : removePaths(item, below, list.item)];
  });
  return kept.length === 0 ? null : kept;
}

/**
 * With every field of a schema that something is owned in. Items of lists and keys of maps are owned only for
 * themselves.
 */
export function withNamedFields(set: FieldSet, type: MergeType): FieldSet {
  if (isEmpty(set)) return set;
  const children = [...set.children].map(([element, child]) => {
    const name = element.startsWith("f:") ? element.slice(2) : undefined;
    const declared = name === undefined ? undefined : type.map?.field(name);
    const below = name === undefined ? (type.list?.item ?? {}) : memberType(type, name);
    const filled = withNamedFields(child, below);
    const isParent = declared !== undefined && child.children.size > 0;
    return [element, isParent ? { ...filled, member: true } : filled] as const;
  });
  return fieldSet(set.member, children);
}
