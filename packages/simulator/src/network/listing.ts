import { sortBy, tagTests } from "../kernel/rest/listing.ts";
import { badRequest, invalidInput, neutronError } from "./errors.ts";
import type { JsonObject } from "../kernel/json.ts";

type Row = { readonly id: string };

/** How a list is narrowed, ordered and cut. */
export interface ListSpec<T extends Row> {
  readonly plural: string;
  /** Fields that filter by equality with what the resource shows. */
  readonly filterable: ReadonlySet<string>;
  /** How values of filters are read, where not as they are. They throw 400 for what is no value of the field. */
  readonly readers?: ReadonlyMap<string, (value: unknown, field: string) => unknown>;
  /** All that the resource shows to an administrator: filters and orders read nothing else. */
  readonly shown: (row: T) => JsonObject;
  /** Fields that order lists, in addition to those that are shown. */
  readonly sortable?: ReadonlySet<string>;
  /** Fields that filter in their own way: true if the row is meant by any of the values. */
  readonly special?: Readonly<Record<string, (row: T, values: readonly string[]) => boolean>> | undefined;
  readonly notFound: (id: string) => Error;
}

const control = new Set(["fields", "sort_key", "sort_dir", "limit", "marker", "page_reverse"]);

/** The filters of a query by field; 400 for one that the resource does not have. */
export function filtersOf<T extends Row>(
  query: URLSearchParams,
  spec: ListSpec<T>,
): ReadonlyMap<string, readonly string[]> {
  const filters = new Map<string, readonly string[]>();
  const unknown: string[] = [];
  for (const field of new Set(query.keys())) {
    if (control.has(field)) continue;
    if (field === "changed_since") {
      filters.set(field, [sinceOf(query.get(field) ?? "")]);
      continue;
    }
    const canonical = field === "tenant_id" ? "project_id" : field;
    const known = spec.filterable.has(canonical) || spec.special?.[canonical] || tagTests[canonical];
    const read = spec.readers?.get(canonical) ?? ((value: string) => value);
    if (known)
      filters.set(
        canonical,
        query.getAll(field).map((value) => String(read(value, field))),
      );
    else unknown.push(`'${field}'`);
  }
  if (unknown.length > 0) throw badRequest(`[${unknown.join(", ")}] is invalid attribute for filtering`);
  return filters;
}

/** Refuses with 400 what is no filter of a list that has no more than these. */
export function refuseFilters(query: URLSearchParams, filterable: readonly string[]): void {
  const unknown = [...new Set(query.keys())].filter((field) => !control.has(field) && !filterable.includes(field));
  if (unknown.length === 0) return;
  throw badRequest(`[${unknown.map((field) => `'${field}'`).join(", ")}] is invalid attribute for filtering`);
}

/** An instant as rows have theirs. Only whole seconds of UTC are distinguished. */
function sinceOf(text: string): string {
  const instant = Date.parse(text.endsWith("Z") ? text : `${text}Z`);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|\+00:00)?$/.test(text) && !Number.isNaN(instant)) {
    return `${new Date(instant).toISOString().slice(0, 19)}Z`;
  }
  throw invalidInput("The input changed_since must be in the following format: YYYY-MM-DDTHH:MM:SSZ");
}

/** The rows that all filters take. */
export function filtered<T extends Row>(
  rows: readonly T[],
  filters: ReadonlyMap<string, readonly string[]>,
  spec: ListSpec<T>,
): T[] {
  let left = [...rows];
  for (const [field, values] of filters) {
    const special = spec.special?.[field];
    const byTags = tagTests[field];
    if (field === "changed_since")
      left = left.filter((row) => textOf(spec.shown(row)["updated_at"]) >= (values[0] ?? ""));
    else if (special) left = left.filter((row) => special(row, values));
    else if (byTags) {
      const asked = values.flatMap((value) => value.split(",")).filter((tag) => tag !== "");
      left = left.filter((row) => byTags(listOf(spec.shown(row)["tags"]), asked));
    } else left = left.filter((row) => equalsAny(spec.shown(row)[field], values));
  }
  return left;
}

/** One page, with what "networks_links" says about its neighbours (undefined without a limit). */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly links: readonly { rel: string; href: string }[] | undefined;
}

/**
 * Sorts the rows and cuts out the page of the query's limit, marker and page_reverse. Throws the kind's 404 for an
 * unknown marker.
 */
export function pageOf<T extends Row>(rows: T[], url: URL, spec: ListSpec<T>): Page<T> {
  const query = url.searchParams;
  const ordered = sorted(rows, query, spec);
  const limit = limitOf(query.get("limit"));
  const reverse = ["true", "1"].includes(query.get("page_reverse")?.toLowerCase() ?? "");
  const markerId = query.get("marker");
  const marker = markerId ? ordered.findIndex((row) => row.id === markerId) : -1;
  if (markerId && marker < 0) throw spec.notFound(markerId);
  if (reverse) {
    const end = marker < 0 ? ordered.length : marker;
    const from = limit === undefined ? 0 : Math.max(0, end - limit);
    return { rows: ordered.slice(from, end), links: linksOf(ordered.slice(from, end), limit, url) };
  }
  const from = marker + 1;
  const end = limit === undefined ? ordered.length : Math.min(ordered.length, from + limit);
  return { rows: ordered.slice(from, end), links: linksOf(ordered.slice(from, end), limit, url) };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** `view`, computed once for each row of a request. */
export function remembered<T extends Row>(view: (row: T) => JsonObject): (row: T) => JsonObject {
  const known = new Map<T, JsonObject>();
  return (row) => {
    const found = known.get(row);
    if (found) return found;
    const made = view(row);
    known.set(row, made);
    return made;
  };
}

function equalsAny(value: unknown, asked: readonly string[]): boolean {
  if (typeof value === "boolean") return asked.some((word) => booleanOf(word) === value);
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.some((element) => asked.includes(String(element)));
  return asked.includes(String(value as string | number));
}

function booleanOf(word: string): boolean {
  if (["true", "1", "yes"].includes(word.toLowerCase())) return true;
  if (["false", "0", "no"].includes(word.toLowerCase())) return false;
  throw invalidInput(`'${word}' cannot be converted to boolean.`);
}

function limitOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (!/^\d+$/.test(text)) {
    const why = `Bad limit request: Limit must be an integer 0 or greater and not '${text}'.`;
    throw neutronError(400, "BadRequest", why);
  }
  return Number(text) || undefined;
}

function sorted<T extends Row>(rows: T[], query: URLSearchParams, { sortable, shown }: ListSpec<T>): T[] {
  const keys = query.getAll("sort_key");
  const directions = query.getAll("sort_dir");
  if (keys.length !== directions.length) throw badRequest("The number of sort_keys and sort_dirs must be same");
  const wrong = directions.filter((direction) => direction !== "asc" && direction !== "desc");
  if (wrong.length > 0) {
    const words = wrong.map((word) => `'${word}'`).join(", ");
    throw badRequest(`[${words}] is invalid value for sort_dirs, valid value is 'asc' and 'desc'`);
  }
  const [first] = rows;
  const isKnown = (key: string) =>
    sortable?.has(key) === true || (first ? shown(first)[key] !== undefined : sortable === undefined);
  const unknown = keys.filter((key) => !isKnown(key));
  if (unknown.length > 0)
    throw badRequest(`[${unknown.map((key) => `'${key}'`).join(", ")}] is invalid attribute for sort_keys`);
  // By far the most lists name no order; theirs is worth a short way.
  if (keys.length === 0) return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  const orders = [...keys.map((key, i) => ({ key, descending: directions[i] === "desc" })), { key: "id" }];
  return sortBy(rows, orders, (row, key) => shown(row)[key]);
}

/** Neutron says "next" of every full page, also of the last. */
function linksOf(rows: readonly Row[], limit: number | undefined, url: URL): Page<Row>["links"] {
  if (limit === undefined) return undefined;
  const kept = url.search
    .slice(1)
    .split("&")
    .filter((part) => !/^(marker|page_reverse)(=|$)/.test(part));
  const href = (marker: string, reverse: boolean) =>
    `${url.origin}${url.pathname}?${[...kept, `marker=${marker}`, ...(reverse ? ["page_reverse=True"] : [])].join("&")}`;
  const links: { rel: string; href: string }[] = [];
  const [first, last] = [rows[0], rows.at(-1)];
  const reverse = /[?&]page_reverse=(true|1)/i.test(url.search);
  if (last && (rows.length === limit || reverse)) links.push({ rel: "next", href: href(last.id, false) });
  if (first && (rows.length === limit || !reverse)) links.push({ rel: "previous", href: href(first.id, true) });
  return links;
}
