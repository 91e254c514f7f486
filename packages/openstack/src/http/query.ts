import type { Query } from "../types/collection.ts";

/** Filters whose several values are one comma-joined value on the wire. */
const JOINED = new Set(["tags", "tags-any", "not-tags", "not-tags-any"]);

/** `a=1&a=2` for arrays, nothing for undefined. */
export function encodeQuery(query: Query): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (typeof value !== "object") fields.append(name, String(value));
    else if (JOINED.has(name)) fields.append(name, value.join(","));
    else for (const one of value) fields.append(name, one);
  }
  return fields.toString();
}

/** Characters of query that every proxy lets pass. */
const LONGEST = 6_000;

/**
 * Cuts a query whose repeated filter (many ids) would make the URL too long into several, which together request the
 * same. A filter with an empty list of values matches nothing: no query is left.
 */
export function splitQuery(query: Query): Query[] {
  const lists = Object.entries(query).filter(([name, value]) => Array.isArray(value) && !JOINED.has(name));
  if (lists.some(([, value]) => (value as readonly string[]).length === 0)) return [];
  const longest = lists.sort(([, a], [, b]) => weight(b) - weight(a))[0];
  if (longest === undefined || encodeQuery(query).length <= LONGEST) return [query];
  const [name, value] = longest;
  const values = [...new Set(value as readonly string[])];
  if (values.length === 1) return [query];
  const half = Math.ceil(values.length / 2);
  return [values.slice(0, half), values.slice(half)].flatMap((part) => splitQuery({ ...query, [name]: part }));
}

function weight(value: Query[string]): number {
  return typeof value === "object" ? value.join("").length : 0;
}
