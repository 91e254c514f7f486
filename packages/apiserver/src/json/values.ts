import { isRecord } from "@causeway/foundation";

/** Any value that JSON can carry. Patches treat all of them as immutable and share what they do not change. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object that is not changed. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a value is a JSON object; arrays and null are not. */
export function isObject(value: unknown): value is JsonObject {
  return isRecord(value);
}

/** Whether a value is a JSON array. */
export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** A JSON value that is changed in place. */
export type Node = null | boolean | number | string | Node[] | Members;
/** A JSON object that is changed in place. */
export interface Members {
  [key: string]: Node;
}

/** Whether a node is an object. */
export function isMembers(node: Node | undefined): node is Members {
  return isObject(node);
}

/** Sets a member, in its old place when it had one; right for "__proto__" too. */
export function put(members: Members, key: string, value: Node): void {
  if (key === "__proto__") {
    Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
  } else members[key] = value;
}

/** The value of an own key; inherited names such as "constructor" are absent. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Equality of JSON values; the order of keys does not count. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, i) => jsonEqual(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], b[key]))
  );
}
