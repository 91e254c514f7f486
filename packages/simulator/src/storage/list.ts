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
]);
const maxLimit = 1000;

interface Listed {
  readonly id: string;
  readonly created_at: string;
}

/** One page of what a query asks for, newest first, and the address of the next page. `find` throws for a bad marker. */
export function pageOf<T extends Listed>(
  c: StorageContext,
  all: readonly T[],
  find: (id: string) => T,
): { readonly page: readonly T[]; readonly next: string | undefined } {
  const url = new URL(c.req.url);
  const query = url.searchParams;
  const found = sorted(all.filter((object) => fits(object, query)).toReversed(), query);
  const asked = query.get("limit");
  if (asked !== null && !/^\d+$/.test(asked)) throw computeError(400, "limit param must be an integer");
  const limit = Math.min(asked === null ? maxLimit : Number(asked), maxLimit);
  const marker = query.get("marker");
  const start = marker === null ? 0 : found.findIndex((object) => object.id === find(marker).id) + 1;
  const page = found.slice(start, start + limit);
  const last = page.at(-1);
  if (!last || page.length < limit || asked === null) return { page, next: undefined };
  const following = new URLSearchParams(query);
  following.delete("marker");
  following.append("marker", last.id);
  return { page, next: `${url.origin}${url.pathname}?${following.toString()}` };
}

function fits(object: object, query: URLSearchParams): boolean {
  const fields = object as Readonly<Record<string, unknown>>;
  for (const [name, value] of query) {
    if (ways.has(name)) continue;
    const field = name.endsWith("~") ? name.slice(0, -1) : name;
    const has = fields[field === "display_name" ? "name" : field];
    const text = typeof has === "string" || typeof has === "number" || typeof has === "boolean" ? `${has}` : "";
    if (field === "metadata") {
      if (!metadataFits(fields["metadata"], value)) return false;
    } else if (name.endsWith("~") ? !text.includes(value) : text.toLowerCase() !== value.toLowerCase()) return false;
  }
  return true;
}

/** metadata={'key': 'value'}, as the clients send it. */
function metadataFits(metadata: unknown, wanted: string): boolean {
  const has = metadata as Readonly<Record<string, string>>;
  const pairs = [...wanted.matchAll(/['"]([^'"]*)['"]\s*:\s*u?['"]([^'"]*)['"]/g)];
  return pairs.every(([, key = "", value]) => has[key] === value);
}

function sorted<T extends Listed>(objects: readonly T[], query: URLSearchParams): readonly T[] {
  const [key, direction = "desc"] = (query.get("sort") ?? "").split(",")[0]?.split(":") ?? [];
  if (key === undefined || key === "") return objects;
  const of = (object: T) => {
    const value: unknown = (object as unknown as Readonly<Record<string, unknown>>)[key];
    return typeof value === "number" ? String(value).padStart(12, "0") : typeof value === "string" ? value : "";
  };
  return objects.toSorted((a, b) => of(a).localeCompare(of(b)) * (direction === "asc" ? 1 : -1));
}
