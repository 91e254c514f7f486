import type { Caller } from "../kernel/interface.ts";
import { htmlError } from "../compute/model.ts";
import { imageVisible, type Image } from "./model.ts";

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

export interface ImagePage {
  readonly page: readonly Image[];
  readonly more: boolean;
}

/** The images a query asks for, newest first or as `sort` says. Throws 400 for a bad limit or marker. */
export function listImages(all: readonly Image[], caller: Caller, query: URLSearchParams): ImagePage {
  const found = sorted(all.toReversed(), query).filter((image) => visible(image, caller, query) && fits(image, query));
  const limit = limitOf(query);
  const marker = query.get("marker");
  const place = marker === null ? -1 : found.findIndex((image) => image.id === marker);
  if (marker !== null && place < 0) throw htmlError(400, "Bad Request", `No image found with ID ${marker}`);
  const page = found.slice(place + 1, place + 1 + limit);
  return { page, more: page.length > 0 && page.length === limit };
}

function limitOf(query: URLSearchParams): number {
  const asked = query.get("limit");
  if (asked === null) return defaultLimit;
  if (!/^\d+$/.test(asked)) throw htmlError(400, "Bad Request", "limit param must be an integer");
  return Math.min(Number(asked), 1000);
}

function visible(image: Image, caller: Caller, query: URLSearchParams): boolean {
  const wanted = query.get("visibility");
  if (image.os_hidden && query.get("os_hidden") !== "true") return false;
  if (!imageVisible(image, caller.projectId, caller.isAdmin)) return false;
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

const unquoted = (text: string) => text.replace(/^"(.*)"$/, "$1");

function sorted(images: readonly Image[], query: URLSearchParams): readonly Image[] {
  const directions = query.getAll("sort_dir");
  const orders = query.has("sort")
    ? (query.get("sort") ?? "").split(",").map((order) => order.split(":"))
    : query.getAll("sort_key").map((key, place) => [key, directions[place] ?? directions[0] ?? "desc"]);
  if (orders.length === 0) return images;
  return images.toSorted((a, b) => {
    for (const [key = "", direction = "desc"] of orders) {
      const order = compare(a[key as keyof Image], b[key as keyof Image]);
      if (order !== 0) return direction === "asc" ? order : -order;
    }
    return 0;
  });
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return typeof a === "string" && typeof b === "string" ? a.localeCompare(b) : 0;
}
