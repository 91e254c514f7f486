import { pairsFit } from "../kernel/pairs.ts";
import type { ListPage } from "../kernel/rest/resource.ts";
import { computeError } from "../compute/model.ts";
import type { StorageContext } from "./views.ts";

const ways = new Set([
  "limit",
  "marker",
  "offset",
  "sort",
  "sort_key",
  "sort_dir",
  "all_tenants",
  "with_count",
  "glance_metadata",
  // Of transfers: shown, but no columns of theirs that filter.
  "no_snapshots",
  "accepted",
]);
const maxLimit = 1000;

interface Listed {
  readonly id: string;
  readonly created_at: string;
}

/**
 * One page of what a query requests, newest first, and the address of the next page. `find` throws for a bad marker.
 */
export function pageOf<T extends Listed>(
  c: StorageContext,
  all: readonly T[],
  find: (id: string) => T,
  resource?: keyof typeof filters,
): { readonly page: readonly T[]; readonly next: string | undefined } {
  const url = new URL(c.req.url);
  const query = url.searchParams;
  if (resource !== undefined) refuseFilters(c, resource, query);
  const found = sorted(all.filter((object) => fits(object, query)).toReversed(), query);
  const asked = query.get("limit");
  if (asked !== null && /^-\d+$/.test(asked)) throw computeError(400, "limit param must be positive");
  if (asked !== null && !/^\d+$/.test(asked)) throw computeError(400, "limit param must be an integer");
  const limit = Math.min(asked === null ? maxLimit : Number(asked), maxLimit);
  const marker = query.get("marker");
  const offset = Number(query.get("offset") ?? 0);
  if (!Number.isInteger(offset) || offset < 0) throw computeError(400, "offset param must be an integer");
  const after = marker === null ? undefined : find(marker).id;
  const start = (after === undefined ? 0 : found.findIndex(({ id }) => id === after) + 1) + offset;
  const page = found.slice(start, start + limit);
  const last = page.at(-1);
  // A whole page has a link even where no limit was requested: the service's own applies.
  if (!last || page.length < limit) return { page, next: undefined };
  const following = new URLSearchParams(query);
  following.delete("marker");
  following.append("marker", last.id);
  return { page, next: `${url.origin}${url.pathname}?${following.toString()}` };
}

/** A page as `pageOf`, with Cinder's link to the next one: "volumes_links". */
export function linkedPage<T extends Listed>(
  c: StorageContext,
  many: string,
  all: readonly T[],
  { find, resource }: { readonly find: (id: string) => T; readonly resource?: keyof typeof filters },
): ListPage<T> {
  const { page, next } = pageOf(c, all, find, resource);
  return { rows: page, ...(next === undefined ? {} : { more: { [`${many}_links`]: [{ rel: "next", href: next }] } }) };
}

/** What plain users may filter by: Cinder's own resource_filters.json. */
const filters = {
  volume:
    "name status metadata bootable migration_status availability_zone group_id size created_at updated_at consumes_quota",
  snapshot: "name status volume_id metadata availability_zone consumes_quota",
  attachment: "volume_id status instance_id attach_status",
  group: "name",
  transfer: undefined,
  group_snapshot: "name status group_id",
  message: "resource_uuid resource_type event_id request_id message_level",
} as const;

/** What a list without pages keeps of all: what its filters mean. Throws 400 as `pageOf`. */
export function narrowed<T extends object>(
  c: StorageContext,
  resource: keyof typeof filters,
  all: readonly T[],
): readonly T[] {
  const query = new URL(c.req.url).searchParams;
  refuseFilters(c, resource, query);
  return all.filter((object) => fits(object, query));
}

/** Throws 400 for filters that the resource does not have for plain users, from 3.31 on. */
function refuseFilters(c: StorageContext, resource: keyof typeof filters, query: URLSearchParams): void {
  const bootable = query.get("bootable");
  if (bootable !== null && !/^(true|false|1|0|t|f|yes|no|y|n|on|off)$/i.test(bootable)) {
    throw computeError(400, `Invalid input received: 'bootable = ${bootable}'`);
  }
  if (c.get("caller").isAdmin || c.get("minor") < 31) return;
  const known = filters[resource]?.split(" ");
  if (!known) return;
  const isKnown = (name: string) => ways.has(name) || known.includes(name);
  const unknown = [...new Set(query.keys())].filter((name) => !isKnown(name));
  if (unknown.length === 0) return;
  throw computeError(400, `Invalid filters ${unknown.join(",")} are found in query options.`);
}

function fits(object: object, query: URLSearchParams): boolean {
  const fields = object as Readonly<Record<string, unknown>>;
  for (const [name, value] of query) {
    if (ways.has(name)) continue;
    const field = name.endsWith("~") ? name.slice(0, -1) : name;
    const has =
      field === "consumes_quota"
        ? true
        : field === "bootable"
          ? bootableOf(fields)
          : fields[field === "display_name" ? "name" : field];
    const text = typeof has === "string" || typeof has === "number" || typeof has === "boolean" ? `${has}` : "";
    if (field === "metadata") {
      if (!pairsFit(fields["metadata"] as Readonly<Record<string, string>>, value)) return false;
    } else if (moments.has(field)) {
      if (!isMoment(text, value)) return false;
    } else if (name.endsWith("~") ? !text.includes(value) : text.toLowerCase() !== value.toLowerCase()) return false;
  }
  return true;
}

const moments = new Set(["created_at", "updated_at"]);

/** "gt:2020-01-01T00:00:00"; all of several, which commas separate; without an operator the instant itself. */
function isMoment(text: string, asked: string): boolean {
  const has = Date.parse(`${text.slice(0, 19)}Z`);
  return asked.split(",").every((part) => {
    const [, how = "eq", when = ""] = /^(?:(gt|gte|lt|lte|eq|neq):)?(.*)$/.exec(part) ?? [];
    const then = Date.parse(`${when.slice(0, 19)}Z`);
    if (how.startsWith("gt")) return has > then || (how === "gte" && has === then);
    if (how.startsWith("lt")) return has < then || (how === "lte" && has === then);
    return (has === then) === (how === "eq");
  });
}

const bootableOf = (fields: Readonly<Record<string, unknown>>): boolean =>
  fields["bootable"] === true || (fields["bootable"] === undefined && typeof fields["image_id"] === "string");

const sortKeys = new Set([
  "id",
  "status",
  "size",
  "availability_zone",
  "name",
  "display_name",
  "bootable",
  "host",
  "created_at",
]);

/** sort=key:direction,… or sort_key and sort_dir; the last word is the id's. */
function sorted<T extends Listed>(objects: readonly T[], query: URLSearchParams): readonly T[] {
  const [sort, key, dir] = [query.get("sort"), query.get("sort_key"), query.get("sort_dir")];
  if (sort === null && key === null && dir === null) return objects;
  const asked = (sort ?? `${key ?? "created_at"}:${dir ?? "desc"}`).split(",").map((part) => part.split(":"));
  for (const [field = "", direction = "desc"] of asked) {
    if (!sortKeys.has(field)) throw computeError(400, "Invalid input received: Invalid sort key");
    if (direction !== "asc" && direction !== "desc") {
      throw computeError(400, "Invalid input received: Unknown sort direction, must be 'desc' or 'asc'.");
    }
  }
  const of = (object: T, field: string) => {
    const value: unknown = (object as unknown as Readonly<Record<string, unknown>>)[
      field === "display_name" ? "name" : field
    ];
    return typeof value === "number" ? String(value).padStart(12, "0") : typeof value === "string" ? value : "";
  };
  const last = asked.at(-1)?.[1] ?? "desc";
  return objects.toSorted((a, b) => {
    for (const [field = "", direction = "desc"] of [...asked, ["id", last]]) {
      const [left, right] = [of(a, field), of(b, field)];
      if (left !== right) return (left < right ? -1 : 1) * (direction === "asc" ? 1 : -1);
    }
    return 0;
  });
}
