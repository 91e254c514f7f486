/** Readers of data from outside: what has another shape is as if it were absent. */

import { isRecord } from "@causeway/foundation";

/** An object of JSON whose fields are not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

/** The object, or an empty one. */
export function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** The string, or "". */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The strings of an array; what is no string is left out. */
export function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
