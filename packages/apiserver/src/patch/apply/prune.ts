import type { MergeType } from "../../schema/merge-type.ts";
import { at } from "../../json/json.ts";
import type { Json } from "../../json/values.ts";
import { difference, type FieldSet, intersection, isEmpty, union, unionOf } from "./field-set.ts";
import { type Manager, type Managers, ownable } from "./managers.ts";
import type { Form, Typed } from "./ownership.ts";
import { fieldsOf, removePaths, withNamedFields } from "./values.ts";

/** Objects as one version has them, whatever version they are in. */
type View = Pick<Form, "type" | "of">;

/**
 * Removes what a manager applied before and applies no more, unless it has another owner: items of lists and keys of
 * maps go with all that others have put into them, fields of a schema remain while anything in them is owned. `last` is
 * its entry, which may be in another version than the object; nothing goes when that is served no more.
 */
export function pruned(merged: Json, last: Manager, managers: Managers, typed: Typed): Json {
  const view = viewIn(last.apiVersion, typed);
  if (!view) return merged;
  const named = withNamedFields(last.fields, view.type);
  // For a conversion, what only the server sets remains, though no manager of that version may own it: it needs the
  // name and the version. Without one the name goes with metadata, and the object is refused for it.
  const going = last.apiVersion === typed.apiVersion ? named : ownable(named);
  if (isEmpty(going)) return merged;
  const all = view.of(merged);
  const without = removePaths(all, going, view.type);
  const kept = withOwned({ all, without, apiVersion: last.apiVersion }, managers, typed);
  return own(typed).of(withDangling(all, view.of(kept), { going, type: view.type }));
}

interface Removal {
  readonly all: Json;
  readonly without: Json;
  /** The version that both are in. */
  readonly apiVersion: string;
}

/** Puts back what others own, or the manager itself owns now, version by version: that of the removal comes first. */
function withOwned({ all, without, apiVersion }: Removal, managers: Managers, typed: Typed): Json {
  const owned = new Map<string, FieldSet[]>([[apiVersion, []]]);
  for (const manager of managers.values()) {
    const known = owned.get(manager.apiVersion);
    if (known) known.push(manager.fields);
    else owned.set(manager.apiVersion, [manager.fields]);
  }
  let kept = without;
  for (const [version, sets] of owned) {
    const view = viewIn(version, typed);
    if (!view) continue;
    const [whole, left] = [view.of(all), view.of(kept)];
    const named = (fields: FieldSet): FieldSet => withNamedFields(fields, view.type);
    const staying = union(named(fieldsOf(left, view.type)), named(unionOf(sets)));
    kept = removePaths(whole, difference(named(fieldsOf(whole, view.type)), staying), view.type);
  }
  return kept;
}

/** Puts back what the manager never owned. */
function withDangling(merged: Json, kept: Json, { going, type }: { going: FieldSet; type: MergeType }): Json {
  const named = (fields: FieldSet): FieldSet => withNamedFields(fields, type);
  const gone = difference(named(fieldsOf(merged, type)), named(fieldsOf(kept, type)));
  return removePaths(merged, intersection(gone, going), type);
}

function viewIn(apiVersion: string, typed: Typed): View | undefined {
  return apiVersion === typed.apiVersion ? own(typed) : typed.form(apiVersion);
}

function own(typed: Typed): View {
  const { apiVersion, type } = typed;
  // Without a version it is what a removal left of one in this version.
  const isOwn = (object: Json): boolean => (at(object, "apiVersion") ?? apiVersion) === apiVersion;
  return { type, of: (object) => (isOwn(object) ? object : (typed.form(apiVersion)?.of(object) ?? object)) };
}
