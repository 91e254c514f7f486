import { isList, isObject, type Json, type JsonObject, own } from "../json/values.ts";

/**
 * Applies a JSON Merge Patch (RFC 7386) and returns the new document; the given one is not changed. As kube-apiserver
 * does it, nulls in objects within lists say that there is nothing, too, but where a list takes the place of an object.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  return merge(document as Json | undefined, patch as Json);
}

function merge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return isObject(target) ? patch : withoutNulls(patch);
  const base: JsonObject = isObject(target) ? target : {};
  const kept = Object.entries(base).flatMap(([key, value]): [string, Json][] => {
    const change = own(patch, key);
    if (change === undefined) return [[key, value]];
    return change === null ? [] : [[key, merge(value, change)]];
  });
  const added = Object.entries(patch).flatMap(([key, value]): [string, Json][] =>
    value === null || Object.hasOwn(base, key) ? [] : [[key, merge(undefined, value)]],
  );
  // As kube-apiserver shows what it cannot read: where both have members, in the order of their names.
  return Object.fromEntries([...kept, ...added].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, child]) => child !== null);
  return Object.fromEntries(kept.map(([name, child]): [string, Json] => [name, withoutNulls(child)]));
}
