import { pageAfter, picked, sortBy, tagTests } from "../kernel/rest/listing.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Caller } from "../kernel/interface.ts";
import { badPage, denied, fault } from "./errors.ts";
import type { Resource } from "./model.ts";

const control = new Set(["fields", "limit", "marker", "sort", "sort_key", "sort_dir", "page_reverse"]);
/** Octavia accepts these filters and ignores them. */
const ignored = new Set(["backup", "tls_enabled", "invert"]);

/** What every kind may be sorted by; of an empty list nothing else is known. */
const commonKeys = [
  "id",
  "name",
  "description",
  "project_id",
  "provisioning_status",
  "operating_status",
  "admin_state_up",
  "created_at",
  "updated_at",
  "provider",
  "protocol",
  "protocol_port",
  "address",
  "weight",
  "type",
  "position",
  "vip_address",
];

/** What a list is made from. */
export interface ListAsk<T extends Resource> {
  readonly plural: string;
  readonly rows: readonly T[];
  readonly view: (row: T) => JsonObject;
  /** Filters that are not fields of the view: true if the row is meant. */
  readonly special?: Readonly<Record<string, (row: T, values: readonly string[]) => boolean>> | undefined;
  readonly caller: Caller;
  readonly url: URL;
}

/** The response to a list: filtered, ordered by creation, cut to a page with a link to the next. */
export function listAnswer<T extends Resource>(ask: ListAsk<T>): JsonObject {
  const { url, plural } = ask;
  const query = url.searchParams;
  const rows = narrowed(ask);
  const pairs = ordered(
    rows.map((row) => ({ id: row.id, view: ask.view(row) })),
    query,
  ).filter(({ view }) => matchesFields(view, query, ask.special));
  const { rows: page, isLast } = pageAfter(pairs, {
    marker: query.get("marker"),
    limit: limitOf(query.get("limit")),
    unknownMarker: (marker) => fault(400, `Supplied pagination marker '${marker}' is not valid.`),
  });
  const last = page.at(-1);
  const href = `${url.origin}${url.pathname}?${[...kept(url), `marker=${last?.id}`].join("&")}`;
  return {
    [plural]: page.map(({ view }) => picked(view, query.getAll("fields"))),
    [`${plural}_links`]: isLast || !last ? [] : [{ href, rel: "next" }],
  };
}

/** Rows of the project that is meant; another's is forbidden. */
function narrowed<T extends Resource>({ rows, caller, url, plural }: ListAsk<T>): readonly T[] {
  // The owner of the pool or policy was checked already.
  if (plural === "members" || plural === "rules") return rows;
  const asked = url.searchParams.get("project_id");
  if (asked !== null && asked !== caller.projectId && !caller.isAdmin) throw denied();
  if (asked === null && caller.isAdmin) return rows;
  const projectId = asked ?? caller.projectId;
  return rows.filter((row) => row.project_id === projectId);
}

function matchesFields<T extends Resource>(
  view: JsonObject,
  query: URLSearchParams,
  special: ListAsk<T>["special"],
): boolean {
  for (const name of new Set(query.keys())) {
    if (control.has(name) || ignored.has(name)) continue;
    const values = query.getAll(name);
    const byTags = tagTests[name];
    const own = special?.[name];
    if (byTags) {
      const asked = values.flatMap((value) => value.split(","));
      if (!byTags(view["tags"] as readonly string[], asked)) return false;
    } else if (own) {
      // Every view comes from its own row.
      if (!own(view as unknown as T, values)) return false;
    } else if (name === "tenant_id" || !Object.hasOwn(view, name)) {
      throw fault(400, "One or more arguments are either duplicate or invalid");
    } else if (!values.some((value) => equals(view[name], value))) return false;
  }
  return true;
}

function equals(value: unknown, asked: string): boolean {
  if (typeof value === "boolean") return String(value) === asked.toLowerCase();
  return value !== null && String(value as string | number) === asked;
}

interface Viewed {
  readonly view: JsonObject;
}

/**
 * As `sort` or `sort_key` and `sort_dir` ask, and where they leave it open by the time of creation and by id. Throws
 * 400 for no such key.
 */
export function ordered<T extends Viewed>(pairs: T[], query: URLSearchParams): T[] {
  const words = (query.get("sort") ?? "").split(",").filter((word) => word !== "");
  const keys = query.getAll("sort_key").map((key, i) => [key, query.getAll("sort_dir")[i] ?? "asc"] as const);
  const orders = [...words.map((word) => word.split(":") as [string, string?]), ...keys];
  const first = pairs[0];
  for (const [key] of orders) {
    const isKnown = first ? Object.hasOwn(first.view, key) : commonKeys.includes(key);
    if (!isKnown) throw fault(400, `Supplied sort key '${key}' is not valid.`);
  }
  const all = orders.map(([key, direction]) => ({ key, descending: direction === "desc" }));
  // Octavia compares as text, numbers too.
  return sortBy(pairs, [...all, { key: "created_at" }, { key: "id" }], ({ view }, key) => String(view[key] as string));
}

function limitOf(word: string | null): number | undefined {
  if (word === null) return undefined;
  if (/^\d+$/.test(word)) return Number(word) || undefined;
  throw badPage(`Supplied pagination limit '${word}' is not valid.`);
}

/** Of the query, Octavia's links keep all but the marker and the fields. */
function kept(url: URL): string[] {
  return url.search
    .slice(1)
    .split("&")
    .filter((part) => !/^(marker|fields)(=|$)/.test(part));
}
