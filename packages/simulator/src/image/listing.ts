import type { Caller } from "../kernel/interface.ts";
import { htmlPage } from "../kernel/html-page.ts";
import { pageAfter } from "../kernel/rest/listing.ts";
import { imageVisible, type Image, type ImageTables } from "./model.ts";

/** Parameters that say how to list, not what. */
const ways = new Set([
  "limit",
  "marker",
  "sort",
  "sort_key",
  "sort_dir",
  "member_status",
  "tag",
  "visibility",
  "size_min",
  "size_max",
]);

const defaultLimit = 25;

/** A page of images, and whether more follow. */
export interface ImagePage {
  readonly page: readonly Image[];
  readonly more: boolean;
}

const sortKeys = ["name", "status", "container_format", "disk_format", "size", "id", "created_at", "updated_at"];
const visibilities = ["community", "public", "private", "shared", "all"];
const memberStatuses = ["pending", "accepted", "rejected", "all"];

/**
 * The images that a query requests, newest first or as `sort` says. Throws 400 for a bad limit, marker, order or
 * filter.
 */
export function listImages(tables: ImageTables, caller: Caller, query: URLSearchParams): ImagePage {
  checkFilters(query);
  const seen = (image: Image) => visible(tables, caller, { image, query });
  const found = sorted(tables.images.all().toReversed(), query).filter((image) => seen(image) && fits(image, query));
  const limit = limitOf(query);
  const { rows: page } = pageAfter(found, {
    marker: query.get("marker"),
    limit,
    unknownMarker: (marker) => refused(`No image found with ID ${marker}`),
  });
  return { page, more: page.length > 0 && page.length === limit };
}

const refused = (explanation: string): Error => htmlPage(400, { explanation });

function checkFilters(query: URLSearchParams): void {
  const [visibility, status] = [query.get("visibility"), query.get("member_status")];
  if (visibility && !visibilities.includes(visibility)) throw refused(`Invalid visibility value: ${visibility}`);
  if (status && !memberStatuses.includes(status)) throw refused(`Invalid status: ${status}`);
  for (const name of ["size_min", "size_max"]) {
    const bound = query.get(name);
    if (bound !== null && !/^\d+$/.test(bound)) {
      throw refused("Unable to filter on a range with a non-numeric value.");
    }
  }
  for (const name of ["os_hidden", "protected"]) {
    const flag = query.get(name);
    if (flag === null || /^(true|false)$/i.test(flag)) continue;
    throw refused(`Invalid value '${flag}' for '${name}' filter. Valid values are 'true' or 'false'.`);
  }
}

function limitOf(query: URLSearchParams): number {
  const asked = query.get("limit");
  if (asked === null) return defaultLimit;
  if (/^-\d+$/.test(asked)) throw refused("limit param must be positive");
  if (!/^\d+$/.test(asked)) throw refused("limit param must be an integer");
  return Math.min(Number(asked), 1000);
}

interface Sight {
  readonly image: Image;
  readonly query: URLSearchParams;
}

/** Others' community images are listed only on request; shared ones by their member's status (default: accepted). */
function visible({ members }: ImageTables, caller: Caller, { image, query }: Sight): boolean {
  const wanted = query.get("visibility");
  if (image.os_hidden && query.get("os_hidden")?.toLowerCase() !== "true") return false;
  const answer = query.get("member_status") ?? "accepted";
  const member = image.visibility === "shared" ? members.get(`${image.id}/${caller.projectId}`) : undefined;
  const isShared = member !== undefined && (answer === "all" || member.status === answer);
  if (!isShared && !imageVisible(image, caller.projectId, caller.isAdmin)) return false;
  return wanted === null || wanted === "all" || image.visibility === wanted;
}

/** Every other parameter names a field or a custom property; "in:a,b" means one of them. */
function fits(image: Image, query: URLSearchParams): boolean {
  if (!query.getAll("tag").every((tag) => image.tags.includes(tag))) return false;
  if (Number(query.get("size_min") ?? 0) > (image.size ?? 0)) return false;
  if (Number(query.get("size_max") ?? Infinity) < (image.size ?? 0)) return false;
  const fields: Readonly<Record<string, unknown>> = { ...image.properties, ...image };
  for (const [name, value] of query) {
    if (ways.has(name)) continue;
    if (name === "created_at" || name === "updated_at") {
      if (!inTime(Date.parse(image[name]), name, value)) return false;
      continue;
    }
    const wanted = value.startsWith("in:") ? value.slice(3).split(",").map(unquoted) : [value];
    const has = fields[name];
    if (
      !wanted.includes(typeof has === "string" || typeof has === "number" || typeof has === "boolean" ? `${has}` : "")
    ) {
      return false;
    }
  }
  return true;
}

const operators: Readonly<Record<string, (has: number, asked: number) => boolean>> = {
  gt: (has, asked) => has > asked,
  gte: (has, asked) => has >= asked,
  eq: (has, asked) => has === asked,
  neq: (has, asked) => has !== asked,
  lt: (has, asked) => has < asked,
  lte: (has, asked) => has <= asked,
};

/** "gte:2014-01-01T00:00:00Z", or an instant alone. Throws 400. */
function inTime(has: number, name: string, value: string): boolean {
  const [, operator = "eq", instant = ""] = /^(?:([a-z]+):)?(.*)$/.exec(value) ?? [];
  const compares = operators[operator];
  if (!compares) throw refused("Unable to filter on a unknown operator.");
  const asked = Date.parse(/^\d{4}-\d\d-\d\d/.test(instant) ? instant : "");
  if (Number.isNaN(asked)) {
    throw refused(`Bad "${name}" query filter format. Use ISO 8601 DateTime notation.`);
  }
  return compares(has, asked);
}

const unquoted = (text: string) => text.replace(/^"(.*)"$/, "$1");

function sorted(images: readonly Image[], query: URLSearchParams): readonly Image[] {
  const orders = ordersOf(query);
  if (orders.length === 0) return images;
  return images.toSorted((a, b) => {
    for (const [key, direction] of orders) {
      const order = compare(a[key as keyof Image], b[key as keyof Image]);
      if (order !== 0) return direction === "asc" ? order : -order;
    }
    return 0;
  });
}

/** Keys and directions, of `sort=name:asc,size` or of `sort_key` and `sort_dir`. */
function ordersOf(query: URLSearchParams): readonly (readonly [string, string])[] {
  const [keys, directions] = [query.getAll("sort_key"), query.getAll("sort_dir")];
  const both = query.get("sort");
  if (both !== null && keys.length + directions.length > 0) {
    throw refused("Old and new sorting syntax cannot be combined");
  }
  const orders =
    both === null
      ? (keys.length > 0 || directions.length === 0 ? keys : ["created_at"]).map(
          (key, place) => [key, directions[place] ?? directions[0] ?? "desc"] as const,
        )
      : both.split(",").map((order) => {
          const [key = "", direction = "desc"] = order.split(":");
          return [key, direction] as const;
        });
  for (const [key, direction] of orders) {
    if (!sortKeys.includes(key)) {
      throw refused(`Invalid sort key: ${key}. It must be one of the following: ${sortKeys.join(", ")}.`);
    }
    if (direction !== "asc" && direction !== "desc") throw refused(`Invalid sort direction: ${direction}`);
  }
  return orders;
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return typeof a === "string" && typeof b === "string" ? a.localeCompare(b) : 0;
}
