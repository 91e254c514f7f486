import { isDeepStrictEqual } from "node:util";
import { shortened } from "@causeway/foundation";

/** The refusal of a changed field, where the two values differ. */
export function immutable(path: string, before: unknown, after: unknown, why = "field is immutable"): string[] {
  return isDeepStrictEqual(meaning(before), meaning(after)) ? [] : [`${path}: Forbidden: ${why}`];
}

/** An empty object or list says the same as none. */
function meaning(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(meaning);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .map(([key, inner]): [string, unknown] => [key, meaning(inner)])
    .filter(([, inner]) => inner !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** A value without some of its fields. */
export function without<T extends object>(value: T | undefined, ...fields: readonly (keyof T)[]): Partial<T> {
  const entries = Object.entries(value ?? {}).filter(([key]) => !fields.includes(key as keyof T));
  return Object.fromEntries(entries) as Partial<T>;
}

const LONGEST = 64;

/** A value as a message shows it: its first 64 characters. */
export function quoted(value: string): string {
  return value.length > LONGEST ? `${JSON.stringify(value.slice(0, LONGEST))}…` : JSON.stringify(value);
}

const MESSAGES = 10;

/** The first ten problems, and how many more there are. */
export function firstProblems(problems: readonly string[]): string[] {
  return shortened(problems, MESSAGES);
}
