import { isRecord } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { cutJson } from "../bounds.ts";

export { copyJson as copied, isRecord } from "@causeway/foundation";

/** A JSON object whose fields are not validated yet. */
export type Json = Record<string, unknown>;

/** The value if it is a JSON object, else an empty one. */
export function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** The value if it is an array, else an empty one. */
export function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The JSON objects in an array. */
export function records(value: unknown): readonly Json[] {
  return array(value).filter(isRecord);
}

/** The value if it is a string, else "". */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A string, number or boolean as text, else "". */
export function scalar(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** The strings in an array. */
export function texts(value: unknown): readonly string[] {
  return array(value).filter((v) => typeof v === "string");
}

/** The fields of an object beyond those every object has. */
export function fields(object: KubeObject): Json {
  return object as unknown as Json;
}

/** What is at a path of field names, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const name of path) here = isRecord(here) ? here[name] : undefined;
  return here;
}

/** True if two JSON values are the same; the order of fields does not count. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((v, i) => same(v, (b as unknown[])[i]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a).filter((k) => a[k] !== undefined);
  return keys.length === Object.keys(b).filter((k) => b[k] !== undefined).length && keys.every((k) => same(a[k], b[k]));
}

/** RFC 3339 in whole seconds, as metav1.Time is written. */
export function timestamp(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
}

const IN_HTML: Readonly<Record<string, string>> = { "&": "\\u0026", "<": "\\u003c", ">": "\\u003e" };

/**
 * JSON as Go's messages show it, cut after so many characters: within lists and objects, what HTML could take for its
 * own is escaped.
 */
export function goJson(value: unknown, limit = Infinity): string {
  const text = cutJson(value ?? null, limit);
  return typeof value === "object" ? text.replaceAll(/[&<>]/g, (c) => IN_HTML[c] ?? c) : text;
}
