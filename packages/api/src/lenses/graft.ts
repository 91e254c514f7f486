import { equal, isJson, own, type Json } from "./json.ts";

/**
 * `current`, with what `rich` says beyond `base`, wherever `current` and `base` still speak of the same thing. `rich`
 * was once reduced to `base`, because a version of the kind cannot say all of it; `current` is what became of `base`
 * since.
 */
export function graft(rich: unknown, base: unknown, current: unknown): unknown {
  if (equal(base, current)) return structuredClone(rich);
  if (Array.isArray(rich) && Array.isArray(base) && Array.isArray(current)) return graftList(rich, base, current);
  if (isJson(rich) && isJson(base) && isJson(current)) return graftObject(rich, base, current);
  return current;
}

function graftObject(rich: Json, base: Json, current: Json): Json {
  const result: Json = { ...current };
  // A reference to another object has nothing in common with the earlier one.
  if (identity(base) !== identity(current)) return result;
  for (const key of new Set([...Object.keys(rich), ...Object.keys(base)])) {
    const [r, b, c] = [own(rich, key), own(base, key), own(current, key)];
    if (b === undefined && c === undefined) result[key] = structuredClone(r);
    else if (r === undefined && equal(b, c)) delete result[key];
    else if (r !== undefined && b !== undefined && c !== undefined) result[key] = graft(r, b, c);
    else if (isJson(r) && b === undefined && isJson(c)) result[key] = graft(r, {}, c);
  }
  return result;
}

/** Items are the same item if they have the same name, or the same place in a list of the same length. */
function graftList(rich: readonly unknown[], base: readonly unknown[], current: readonly unknown[]): unknown[] {
  if (rich.length !== base.length) return [...current];
  const places = new Map(base.map((item, index) => [isJson(item) ? identity(item) : undefined, index]));
  places.delete(undefined);
  const named = places.size === base.length;
  return current.map((item, index) => {
    const place = named ? places.get(isJson(item) ? identity(item) : undefined) : index;
    if (place === undefined || (!named && current.length !== base.length)) return item;
    return graft(rich[place], base[place], item);
  });
}

const names = [
  "apiVersion",
  "apiGroup",
  "kind",
  "name",
  "type",
  "key",
  "class",
  "path",
  "token",
  "conditionType",
  "device",
];

/** The fields that name an object, as one text; undefined if it has none. */
function identity(json: Json): string | undefined {
  const values = names.map((name) => own(json, name)).filter((value) => typeof value === "string");
  return values.length === 0 ? undefined : JSON.stringify(values);
}
