import { invalid, notFound } from "../wire/error.ts";
import { isUuid, readUuid } from "../wire/fields.ts";

/** Which part of a list is wanted, and in which order. */
export interface Page {
  readonly limit: number;
  readonly marker: string | undefined;
  readonly sortKey: string;
  readonly sortDir: "asc" | "desc";
  /** Parameters of the resource's own, such as a filter: the next page has them, too. */
  readonly others?: Readonly<Record<string, string>>;
}

const LARGEST = 1_000;

const wrong = (name: string, value: string, why: string) =>
  invalid(`Invalid input for field/attribute ${name}. Value: '${value.slice(0, 200)}'. ${why}`);

/** @throws MagnumError 400 for a parameter that the resource does not have */
export function onlyParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys())
    if (!known.includes(name)) throw invalid(`Unknown argument: "${name.slice(0, 100)}"`);
}

/** Reads `limit`, `marker`, `sort_key` and `sort_dir`; other parameters have to be named. @throws MagnumError 400 */
export function readPage(
  query: URLSearchParams,
  others: readonly string[] = [],
  marker: "uuid" | "number" = "uuid",
): Page {
  onlyParameters(query, ["limit", "marker", "sort_key", "sort_dir", ...others]);
  const limit = query.get("limit");
  const after = query.get("marker");
  if (after !== null && marker === "uuid" && !isUuid(after))
    throw wrong(
      "marker",
      after,
      `unable to convert to uuid. Error: Expected a uuid but received ${after.slice(0, 200)}.`,
    );
  if (after !== null && marker === "number" && !/^\d{1,15}$/.test(after))
    throw wrong(
      "marker",
      after,
      `unable to convert to int. Error: invalid literal for int() with base 10: '${after.slice(0, 200)}'`,
    );
  if (limit !== null && !/^\s*[+-]?\d{1,15}\s*$/.test(limit))
    throw wrong(
      "limit",
      limit,
      `unable to convert to int. Error: invalid literal for int() with base 10: '${limit.slice(0, 200)}'`,
    );
  if (limit !== null && Number(limit) <= 0) throw invalid("Limit must be positive");
  const sortDir = query.get("sort_dir") ?? "asc";
  if (sortDir !== "asc" && sortDir !== "desc")
    throw invalid(`Invalid sort direction: ${sortDir.slice(0, 100)}. Acceptable values are 'asc' or 'desc'`);
  return {
    limit: Math.min(LARGEST, limit === null ? LARGEST : Number(limit)),
    // As ids are kept: a client may send it in upper case, or without dashes.
    marker: after === null ? undefined : (readUuid(after) ?? after),
    sortKey: query.get("sort_key") ?? "id",
    sortDir,
    others: Object.fromEntries(others.flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? ""]] : []))),
  };
}

/** How `pageOf` sorts a type of resource and names it in errors. */
export interface Listed<T> {
  /** Its id, in the order of creation. */
  readonly id: (item: T) => string | number;
  /** What it can be sorted by. */
  readonly keys: Readonly<Record<string, (item: T) => string | number | boolean | null | undefined>>;
  /** For the error of a marker that is not there. */
  readonly what: string;
}

/**
 * The items of one page. A marker that was deleted meanwhile still has its place in the order of ids. @throws
 * MagnumError 400, 404
 */
export function pageOf<T>(items: readonly T[], page: Page, listed: Listed<T>): readonly T[] {
  const { marker, sortKey, sortDir, limit } = page;
  const value = sortKey === "id" ? listed.id : Object.hasOwn(listed.keys, sortKey) ? listed.keys[sortKey] : undefined;
  if (value === undefined)
    throw invalid(`The sort_key value "${sortKey.slice(0, 100)}" is an invalid field for sorting`);
  const sign = sortDir === "asc" ? 1 : -1;
  const compare = (a: T, b: T): number => sign * (order(value(a), value(b)) || order(listed.id(a), listed.id(b)));
  const sorted = items.toSorted(compare);
  if (marker === undefined) return sorted.slice(0, limit);
  const at = sorted.findIndex((item) => String(listed.id(item)) === marker);
  if (at >= 0) return sorted.slice(at + 1, at + 1 + limit);
  if (sortKey !== "id") throw notFound(listed.what, marker);
  return sorted
    .filter((item) => sign * order(listed.id(item), typeof listed.id(item) === "number" ? Number(marker) : marker) > 0)
    .slice(0, limit);
}

type Sortable = string | number | boolean | null | undefined;

function order(a: Sortable, b: Sortable): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : 1;
}

/** The link to the page after a full one. */
export function nextLink(
  origin: string,
  path: string,
  page: Page,
  ids: readonly (string | number)[],
): { readonly next?: string } {
  const last = ids.at(-1);
  if (last === undefined || ids.length !== page.limit) return {};
  const { sortKey, sortDir, limit, others = {} } = page;
  const more = Object.entries(others).map(([name, value]) => `${name}=${encodeURIComponent(value)}&`);
  return {
    next: `${origin}/v1/${path}?${more.join("")}sort_key=${sortKey}&sort_dir=${sortDir}&limit=${limit}&marker=${last}`,
  };
}
