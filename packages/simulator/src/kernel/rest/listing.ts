import type { Identified } from "../interface.ts";
import type { JsonObject } from "../json.ts";

/** How each filter by tags compares the tags of a resource with those of the query. */
export const tagTests: Readonly<Record<string, (has: readonly unknown[], asked: readonly string[]) => boolean>> = {
  tags: (has, asked) => asked.every((tag) => has.includes(tag)),
  "tags-any": (has, asked) => asked.some((tag) => has.includes(tag)),
  "not-tags": (has, asked) => !asked.every((tag) => has.includes(tag)),
  "not-tags-any": (has, asked) => !asked.some((tag) => has.includes(tag)),
};

/** The requested fields of a view; all of them when none is requested. */
export function picked(view: JsonObject, fields: readonly string[]): JsonObject {
  if (fields.length === 0) return view;
  const out: Record<string, unknown> = {};
  for (const field of fields) if (Object.hasOwn(view, field)) out[field] = view[field];
  return out;
}

/** One key that a list is sorted by. */
export interface Order {
  readonly key: string;
  readonly descending?: boolean;
}

/** Sorted by the first order in which two rows differ, in place. Numbers are compared as such, all else as text. */
export function sortBy<T>(rows: T[], orders: readonly Order[], valueOf: (row: T, key: string) => unknown): T[] {
  return rows.sort((a, b) => {
    for (const { key, descending = false } of orders) {
      const order = compare(valueOf(a, key), valueOf(b, key));
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  });
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [String(a as string), String(b as string)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Where a page of a sorted list begins and ends. */
export interface PageBounds {
  /** The id of the last row before the page; null: the page is the first. */
  readonly marker?: string | null;
  /** Default: no limit. */
  readonly limit?: number | undefined;
  readonly offset?: number;
  /** The service's refusal of a marker that the list does not have. */
  readonly unknownMarker: (id: string) => Error;
}

/** The rows of a page; `isLast` if no row follows them. */
export function pageAfter<T extends Identified>(
  rows: readonly T[],
  { marker = null, limit = rows.length, offset = 0, unknownMarker }: PageBounds,
): { readonly rows: readonly T[]; readonly isLast: boolean } {
  const place = marker === null ? -1 : rows.findIndex(({ id }) => id === marker);
  if (marker !== null && place < 0) throw unknownMarker(marker);
  const start = place + 1 + offset;
  return { rows: rows.slice(start, start + limit), isLast: start + limit >= rows.length };
}
