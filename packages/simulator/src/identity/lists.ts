import type { JsonView } from "./views.ts";
import { baseOf, type IdentityContext } from "./request.ts";

/** A list in Keystone's envelope, kept to what equals every query parameter that names a field. */
export function list(c: IdentityContext, name: string, views: readonly JsonView[]): Response {
  const wanted = Object.entries(c.req.query()).filter(([field]) => views.some((v) => field in v));
  const kept = views.filter((v) =>
    wanted.every(([field, value]) => String(v[field]).toLowerCase() === value.toLowerCase()),
  );
  return c.json({ [name]: kept, links: { next: null, self: selfOf(c), previous: null } });
}

export function selfOf(c: IdentityContext): string {
  return baseOf(c) + c.req.path.slice("/identity/v3".length) + new URL(c.req.url).search;
}
