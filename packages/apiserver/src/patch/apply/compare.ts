import type { ListType, MergeType } from "../../schema/merge-type.ts";
import { isList, isObject, type Json, type JsonObject, jsonEqual } from "../../json/values.ts";
import { elementsOf } from "./elements.ts";
import { EMPTY, type FieldSet, fieldSet, LEAF, union } from "./field-set.ts";
import { chosen, memberType, narrowed } from "./narrow.ts";

/** What differs between two values, by field. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const SAME: Comparison = { added: EMPTY, modified: EMPTY, removed: EMPTY };

/** What an apply or update changes, by the parts of a value that can have owners of their own. */
export function compare(before: Json | undefined, after: Json | undefined, type: MergeType): Comparison {
  if (before === undefined && after === undefined) return SAME;
  const [was, is] = [narrowed(type, before), narrowed(type, after)];
  if (after === undefined) return compareAs(was, before, after);
  if (before === undefined || sameForm(was, is)) return compareAs(is, before, after);
  return joined(compareAs(was, before, after), compareAs(is, before, after));
}

function sameForm(a: MergeType, b: MergeType): boolean {
  return a.map === b.map && a.scalar === b.scalar && a.list === b.list;
}

function compareAs(type: MergeType, before: Json | undefined, after: Json | undefined): Comparison {
  switch (chosen(type)) {
    case "scalar":
      return leaf(before, after);
    case "map": {
      const [was, is] = [asObject(before), asObject(after)];
      if (type.map?.atomic === true || (size(was) === 0 && size(is) === 0)) return leaf(before, after);
      return whole(before, after, members(type, was ?? {}, is ?? {}));
    }
    case "list": {
      const [was, is] = [asList(before), asList(after)];
      const { list } = type;
      if (list === undefined || list.relation === "atomic") return leaf(before, after);
      if ((was?.length ?? 0) === 0 && (is?.length ?? 0) === 0) return leaf(before, after);
      return whole(before, after, items(list, was ?? [], is ?? []));
    }
  }
}

function leaf(before: Json | undefined, after: Json | undefined): Comparison {
  if (before === undefined) return { ...SAME, added: LEAF };
  if (after === undefined) return { ...SAME, removed: LEAF };
  return jsonEqual(before, after) ? SAME : { ...SAME, modified: LEAF };
}

/** A container that is new or gone is so itself, with all that is in it. */
function whole(before: Json | undefined, after: Json | undefined, parts: Comparison): Comparison {
  if (before === undefined) return { ...parts, added: { ...parts.added, member: true } };
  if (after === undefined) return { ...parts, removed: { ...parts.removed, member: true } };
  return parts;
}

function members(type: MergeType, before: JsonObject, after: JsonObject): Comparison {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const compared = [...names].map((name): Entry => {
    const [was, is] = [before, after].map((o) => (Object.hasOwn(o, name) ? o[name] : undefined));
    return [`f:${name}`, compare(was, is, memberType(type, name))];
  });
  return gathered(compared);
}

type Entry = readonly [string, Comparison];

/** Items by their elements. One that is there twice is owned as one thing, with no parts. */
function items(list: ListType, before: readonly Json[], after: readonly Json[]): Comparison {
  const [was, is] = [grouped(before, list), grouped(after, list)];
  const elements = new Set([...was.keys(), ...is.keys()]);
  return gathered(
    [...elements].map((element): Entry => [element, group(list.item, was.get(element) ?? [], is.get(element) ?? [])]),
  );
}

function group(type: MergeType, before: readonly Json[], after: readonly Json[]): Comparison {
  if (before.length <= 1 && after.length <= 1) return compare(before[0], after[0], type);
  if (before.length > 1 && after.length > 1) return jsonEqual(before, after) ? SAME : { ...SAME, modified: LEAF };
  if (before.length > 1) return joined(compare(undefined, after[0], type), { ...SAME, removed: LEAF });
  return joined(compare(before[0], undefined, type), { ...SAME, added: LEAF });
}

function grouped(list: readonly Json[], type: ListType): Map<string, Json[]> {
  const groups = new Map<string, Json[]>();
  for (const [element, item] of elementsOf(list, type)) {
    const same = groups.get(element);
    if (same) same.push(item);
    else groups.set(element, [item]);
  }
  return groups;
}

function gathered(entries: readonly Entry[]): Comparison {
  const of = (kind: keyof Comparison): FieldSet =>
    fieldSet(
      false,
      entries.map(([element, compared]) => [element, compared[kind]] as const),
    );
  return { added: of("added"), modified: of("modified"), removed: of("removed") };
}

function joined(a: Comparison, b: Comparison): Comparison {
  return {
    added: union(a.added, b.added),
    modified: union(a.modified, b.modified),
    removed: union(a.removed, b.removed),
  };
}

function asObject(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function asList(value: Json | undefined): readonly Json[] | undefined {
  return isList(value) ? value : undefined;
}

function size(object: JsonObject | undefined): number {
  return object === undefined ? 0 : Object.keys(object).length;
}
