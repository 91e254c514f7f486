import { CausewayError } from "@causeway/foundation";
import { text } from "../json.ts";
import { structOf } from "../wire/tables.ts";
import { goText } from "./go-text.ts";
import type { BuiltInTypes } from "./built-in-types.ts";
import { isList, isObject, type Json, jsonEqual, type JsonObject, own } from "./json.ts";

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList/";
const ELEMENT_ORDER = "$setElementOrder/";

/**
 * Applies a strategic merge patch to an object of a built-in kind and returns the new one; the given one is not changed. Objects merge,
 * null deletes, and lists with a merge key merge item by item. Source: sig-api-machinery, "Strategic Merge Patch".
 * Throws PATCH_MALFORMED when the patch is no such patch.
 */
export function applyStrategicMergePatch(document: unknown, patch: unknown, types: BuiltInTypes): unknown {
  if (!isObject(patch)) throw malformed("a strategic merge patch is an object");
  const original = isObject(document) ? document : {};
  const struct = structOf(text(own(original, "apiVersion")), text(own(original, "kind")));
  return mergeObject(original, patch, { types, struct });
}

/** The struct that a value is; undefined for data without one. */
interface Shape {
  readonly types: BuiltInTypes;
  readonly struct: string | undefined;
}

/** The key by which items of a list are found, "" for values that are found by themselves, undefined for a list that is replaced. */
function mergeKeyOf({ types, struct }: Shape, name: string): string | undefined {
  return struct === undefined ? undefined : types.marks(struct).get(name)?.mergeKey;
}

function fieldShape({ types, struct }: Shape, name: string): Shape {
  const type = struct === undefined ? undefined : types.fields(struct)?.find((f) => f.name === name)?.type;
  return { types, struct: type?.includes(".") ? type : undefined };
}

function mergeObject(original: JsonObject, patch: JsonObject, shape: Shape): JsonObject {
  const directive = own(patch, DIRECTIVE);
  if (directive === "replace") return withoutDirectives(patch);
  if (directive === "delete") return {};
  if (directive !== undefined) throw unknownDirective(patch, directive);
  const result = new Map(Object.entries(retained(original, patch)));
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith("$")) continue;
    if (value === null) result.delete(name);
    else result.set(name, mergeField(result.get(name), value, { name, patch, within: shape }));
  }
  for (const name of listsOnlyDirected(patch)) {
    const before = result.get(name);
    if (before !== undefined) result.set(name, mergeField(before, [], { name, patch, within: shape }));
  }
  return Object.fromEntries(result);
}

function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keep = own(patch, RETAIN_KEYS);
  if (keep === undefined) return original;
  if (!isList(keep)) throw malformed(`${RETAIN_KEYS} must be a list`);
  return Object.fromEntries(Object.entries(original).filter(([name]) => keep.includes(name)));
}

/** Lists that the patch orders or takes from without giving items. */
function listsOnlyDirected(patch: JsonObject): string[] {
  return Object.keys(patch)
    .filter((name) => name.startsWith(DELETE_FROM) || name.startsWith(ELEMENT_ORDER))
    .map((name) => name.slice(name.indexOf("/") + 1))
    .filter((name) => !Object.hasOwn(patch, name));
}

interface Field {
  readonly name: string;
  /** The object that the field's patch stands in, with the directives for it. */
  readonly patch: JsonObject;
  readonly within: Shape;
}

function mergeField(original: Json | undefined, patch: Json, field: Field): Json {
  if (isObject(patch)) {
    // What is new is taken as it is: directives in it have nothing to act on.
    return isObject(original) ? mergeObject(original, patch, fieldShape(field.within, field.name)) : stripped(patch);
  }
  if (!isList(patch)) return patch;
  const before = isList(original) ? original : [];
  const key = mergeKeyOf(field.within, field.name);
  if (key === "") return mergeSet(before, patch, field);
  if (key !== undefined) return mergeItems(before, patch, { ...field, key });
  return Object.hasOwn(field.patch, field.name) ? patch.map(stripped) : before;
}

/** What is to go goes last, also when the same patch brings it. */
function mergeSet(original: readonly Json[], patch: readonly Json[], field: Field): Json {
  const removed = listOf(field.patch, DELETE_FROM + field.name);
  const merged = [...new Set([...original, ...patch])].filter((item) => !removed.includes(item));
  return ordered(merged, original, { field, identity: (item) => item });
}

function mergeItems(original: readonly Json[], patch: readonly Json[], field: Field & { readonly key: string }): Json {
  const { key } = field;
  const itemShape = fieldShape(field.within, field.name);
  if (patch.some((item) => isObject(item) && own(item, DIRECTIVE) === "replace")) {
    return patch.filter((item) => !isObject(item) || own(item, DIRECTIVE) === undefined).map(stripped);
  }
  const identity = (item: Json): Json => (isObject(item) ? (own(item, key) ?? null) : null);
  let merged = [...original];
  for (const item of patch) {
    if (!isObject(item) || own(item, key) === undefined) {
      throw keyless(item, key);
    }
    const same = (other: Json): boolean => jsonEqual(identity(other), own(item, key));
    const index = merged.findIndex(same);
    const before = merged[index];
    if (own(item, DIRECTIVE) === "delete") merged = merged.filter((other) => !same(other));
    else if (isObject(before)) merged = merged.with(index, mergeObject(before, item, itemShape));
    else merged.push(mergeObject({}, item, itemShape));
  }
  return ordered(merged, original, { field, identity });
}

/** Puts items in the order that the patch asks for, or has itself; those it does not name stay where they stood among the others. */
function ordered(
  merged: readonly Json[],
  original: readonly Json[],
  by: { readonly field: Field; readonly identity: (item: Json) => Json },
): readonly Json[] {
  const { field, identity } = by;
  const wanted = listOf(field.patch, ELEMENT_ORDER + field.name);
  const order = (wanted.length > 0 ? wanted : listOf(field.patch, field.name)).map((item) =>
    isObject(item) ? identity(item) : item,
  );
  if (order.length === 0) return merged;
  const place = (item: Json): number => order.findIndex((other) => jsonEqual(other, identity(item)));
  const before = (item: Json): number => original.findIndex((other) => jsonEqual(identity(other), identity(item)));
  const named = merged.filter((item) => place(item) >= 0).toSorted((a, b) => place(a) - place(b));
  const others = merged.filter((item) => place(item) < 0);
  const result: Json[] = [];
  for (const item of named) {
    const position = before(item);
    while (position >= 0 && others[0] !== undefined && before(others[0]) < position)
      result.push(...others.splice(0, 1));
    result.push(item);
  }
  return [...result, ...others];
}

function listOf(patch: JsonObject, name: string): readonly Json[] {
  const value = own(patch, name);
  if (value === undefined) return [];
  if (!isList(value)) throw malformed(`${name} must be a list`);
  return value;
}

function withoutDirectives(patch: JsonObject): JsonObject {
  const entries = Object.entries(patch).filter(([name, value]) => !name.startsWith("$") && value !== null);
  return Object.fromEntries(entries.map(([name, value]) => [name, stripped(value)]));
}

/** A value that is new as a whole: directives and nulls in it have nothing to act on. */
function stripped(value: Json): Json {
  if (isList(value)) return value.map(stripped);
  return isObject(value) ? withoutDirectives(value) : value;
}

function unknownDirective(patch: JsonObject, directive: Json): CausewayError {
  const message = `unknown patch type: ${goText(directive)} in map: ${goText(patch)}`;
  return new CausewayError("PATCH_DIRECTIVE", message, { hint: "Use replace or delete." });
}

function keyless(item: Json, key: string): CausewayError {
  const message = `map: ${goText(item)} does not contain declared merge key: ${key}`;
  return new CausewayError("PATCH_DIRECTIVE", message, { hint: "Give every item of the list its key." });
}

function malformed(message: string): CausewayError {
  return new CausewayError("PATCH_MALFORMED", message, { details: { index: -1 } });
}
