import type { MergeType } from "../../schema/merge-type.ts";
import type { Json } from "../../json/values.ts";
import { compare, type Comparison } from "./compare.ts";
import { difference, type FieldSet, intersection, isEmpty, union, without } from "./field-set.ts";
import type { Manager, Managers } from "./managers.ts";

/** An object as one served version has it. */
export interface Form {
  readonly type: MergeType;
  /** Fields in this version that writers at this endpoint cannot set. */
  readonly reset: FieldSet;
  of(object: Json): Json;
}

/** What tracking owners needs to know of a kind. */
export interface Typed {
  /** The version that objects are in. */
  readonly apiVersion: string;
  readonly type: MergeType;
  /** Other served versions; undefined for those that are served no more. */
  form(apiVersion: string): Form | undefined;
  /** Fields that writers at this endpoint cannot set. */
  readonly reset: FieldSet;
}

/** An object before and after a write, both in the version of the write. */
export interface Change {
  readonly before: Json;
  readonly after: Json;
}

/** Who owns what after a change. */
export interface Settled {
  /**
   * The others with what is left to them; those that own nothing now, or in a version that is served no more, are gone.
   */
  readonly others: Managers;
  readonly contested: readonly (readonly [Manager, FieldSet])[];
  readonly comparison: Comparison;
}

/** What a change takes from all managers but the one that makes it. */
export function settle(managers: Managers, self: string, { before, after }: Change, typed: Typed): Settled {
  const comparison = compared({ before, after }, typed.type, typed.reset);
  const known = new Map([[typed.apiVersion, comparison]]);
  const comparisonIn = (apiVersion: string): Comparison | undefined => {
    const form = known.has(apiVersion) ? undefined : typed.form(apiVersion);
    if (form)
      known.set(apiVersion, compared({ before: form.of(before), after: form.of(after) }, form.type, form.reset));
    return known.get(apiVersion);
  };
  const taking = new Map<Comparison, FieldSet>();
  const others = new Map<string, Manager>();
  const contested: [Manager, FieldSet][] = [];
  for (const [key, manager] of managers) {
    const seen = key === self ? undefined : comparisonIn(manager.apiVersion);
    if (!seen) continue;
    const changed = taking.get(seen) ?? union(seen.modified, seen.added);
    taking.set(seen, changed);
    const taken = intersection(manager.fields, changed);
    if (!isEmpty(taken)) contested.push([manager, taken]);
    const fields = difference(difference(manager.fields, taken), seen.removed);
    if (!isEmpty(fields)) others.set(key, fields === manager.fields ? manager : { ...manager, fields });
  }
  return { others, contested, comparison };
}

function compared({ before, after }: Change, type: MergeType, reset: FieldSet): Comparison {
  const { added, modified, removed } = compare(before, after, type);
  const own = (set: FieldSet): FieldSet => ({ ...without(set, reset), member: false });
  return { added: own(added), modified: own(modified), removed: own(removed) };
}
