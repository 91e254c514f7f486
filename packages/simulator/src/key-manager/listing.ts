import type { Context } from "hono";

/** Root of the API as the caller sees it. */
export const keyRoot = (c: Context): string => `${new URL(c.req.url).origin}/key-manager/v1`;

/** A page of a list, with the number of all and links to its neighbours: limit 10 and offset 0 by default. */
export function pageOf<T>(c: Context, many: string, all: readonly T[], view: (object: T) => object): Response {
  const number = (name: string, otherwise: number) => {
    const asked = Number(c.req.query(name) ?? otherwise);
    return Number.isInteger(asked) && asked >= 0 ? asked : otherwise;
  };
  const [limit, offset] = [Math.min(number("limit", 10), 100), number("offset", 0)];
  const link = (at: number) => {
    const query = new URLSearchParams(new URL(c.req.url).searchParams);
    query.set("limit", String(limit));
    query.set("offset", String(at));
    return `${keyRoot(c)}/${many}?${query.toString()}`;
  };
  return c.json({
    [many]: all.slice(offset, offset + limit).map(view),
    total: all.length,
    ...(offset + limit < all.length ? { next: link(offset + limit) } : {}),
    ...(offset > 0 ? { previous: link(Math.max(0, offset - limit)) } : {}),
  });
}
