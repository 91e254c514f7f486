import type { MergeType } from "../../schema/merge-type.ts";
import type { Json } from "../../json/values.ts";
import { difference, type FieldSet, intersection, isEmpty, union, unionOf } from "./field-set.ts";
import type { Managers } from "./managers.ts";
import type { Typed } from "./ownership.ts";
import { fieldsOf, removePaths, withNamedFields } from "./values.ts";

/**
 * Removes what a manager applied before and applies no more, unless it has another owner: items of lists and keys of
 * maps go with all that others have put into them, fields of a schema remain while anything in them is owned.
 */
export function pruned(merged: Json, last: FieldSet, managers: Managers, typed: Typed): Json {
  if (isEmpty(last)) return merged;
  const { type } = typed;
  const without = removePaths(merged, withNamedFields(last, type), type);
  const kept = withOwned(merged, without, managers, typed);
  return withDangling(merged, kept, { last, type });
}

/** Puts back what others own, or the manager itself owns now. */
function withOwned(merged: Json, without: Json, managers: Managers, typed: Typed): Json {
  const owned = new Map<string, FieldSet[]>([[typed.apiVersion, []]]);
  for (const { apiVersion, fields } of managers.values()) {
    const known = owned.get(apiVersion);
    if (known) known.push(fields);
    else owned.set(apiVersion, [fields]);
  }
  let kept = without;
  for (const [apiVersion, sets] of owned) {
    const set = unionOf(sets);
    const form = apiVersion === typed.apiVersion ? { type: typed.type, of: same } : typed.form(apiVersion);
    if (!form) continue;
    const [all, left] = [form.of(merged), form.of(kept)];
    const named = (fields: FieldSet): FieldSet => withNamedFields(fields, form.type);
    const staying = union(named(fieldsOf(left, form.type)), named(set));
    const going = difference(named(fieldsOf(all, form.type)), staying);
    const result = removePaths(all, going, form.type);
    kept = form.of === same ? result : typedBack(result, typed);
  }
  return kept;
}

/** Puts back what the manager never owned. */
function withDangling(merged: Json, kept: Json, { last, type }: { last: FieldSet; type: MergeType }): Json {
  const named = (fields: FieldSet): FieldSet => withNamedFields(fields, type);
  const gone = difference(named(fieldsOf(merged, type)), named(fieldsOf(kept, type)));
  return removePaths(merged, intersection(gone, named(last)), type);
}

function same(object: Json): Json {
  return object;
}

function typedBack(object: Json, typed: Typed): Json {
  return typed.form(typed.apiVersion)?.of(object) ?? object;
}
