import { tagTests } from "../kernel/rest/listing.ts";
import type { JsonView } from "./views.ts";
import { baseOf, type IdentityContext } from "./kit/request.ts";

/** How a filter "field__how=value" compares. */
const comparisons: Readonly<Record<string, (field: string, value: string) => boolean>> = {
  contains: (field, value) => field.includes(value),
  startswith: (field, value) => field.startsWith(value),
  endswith: (field, value) => field.endsWith(value),
};

function passes(view: JsonView, [filter, value]: readonly [string, string]): boolean {
  const tagTest = Array.isArray(view["tags"]) ? tagTests[filter] : undefined;
  if (tagTest) return tagTest(view["tags"] as readonly unknown[], value.split(","));
  const [field = "", how] = filter.split("__");
  if (!(field in view)) return true;
  const actual = String(view[field]);
  if (how === undefined) return actual.toLowerCase() === value.toLowerCase();
  const exact = comparisons[how];
  if (exact) return exact(actual, value);
  return comparisons[how.replace(/^i/, "")]?.(actual.toLowerCase(), value.toLowerCase()) ?? true;
}

/** Fields that Keystone does not filter by, of lists with filters of their own. */
const unfiltered: Readonly<Record<string, readonly string[]>> = {
  services: ["enabled"],
  endpoints: ["url", "enabled", "region"],
  policies: ["blob"],
  registered_limits: ["default_limit"],
  limits: ["resource_limit"],
};

/** A list without filters, in Keystone's envelope. */
export const whole = (c: IdentityContext, name: string, views: readonly JsonView[]): Response =>
  c.json({ [name]: views, links: { next: null, self: selfOf(c), previous: null } });

/** A list in Keystone's envelope, kept to what passes every query parameter that names a field of any of them. */
export function list(
  c: IdentityContext,
  name: string,
  views: readonly JsonView[],
  ignored: readonly string[] = unfiltered[name] ?? [],
): Response {
  const isKnown = (filter: string): boolean =>
    views.some((v) => (filter.split("__")[0] ?? "") in v || filter in tagTests);
  const isIgnored = (filter: string) => filter === "id" || filter === "description" || ignored.includes(filter);
  const wanted = Object.entries(c.req.query()).filter(([filter]) => isKnown(filter) && !isIgnored(filter));
  const kept = views.filter((v) => wanted.every(([filter, value]) => passes(v, [filter, value]) && has(v, filter)));
  return whole(c, name, kept);
}

/** What lacks a field that others have does not equal any value of it. */
const has = (view: JsonView, filter: string): boolean => filter in tagTests || (filter.split("__")[0] ?? "") in view;

/** The URL of the request itself, query included: what a list's `links.self` returns. */
export function selfOf(c: IdentityContext): string {
  return baseOf(c) + c.req.path.slice("/identity/v3".length) + new URL(c.req.url).search;
}
