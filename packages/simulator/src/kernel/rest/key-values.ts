import type { Context, Env, Hono } from "hono";
import { bodyOf, type JsonObject } from "../json.ts";

/** Metadata or extra specs: texts by their keys. */
export type KeyValues = Readonly<Record<string, string>>;

/** What a request does: GET, POST and PUT of all pairs, GET, PUT and DELETE of one. */
export type KeyValueVerb = "list" | "add" | "replace" | "show" | "set" | "remove";
type WriteVerb = "add" | "replace" | "set";

/**
 * The metadata or extra specs of one kind of resource as a table: `mountKeyValues` serves them. The order of a request
 * is the same everywhere: permit, read the body, check what it gives, find the resource, act.
 */
export interface KeyValueResource<E extends Env, T> {
  /** Of all pairs: "/v2.1/servers/:id/metadata"; one pair is `:key` below it. */
  readonly path: string;
  /** The member of a body that has all pairs: "metadata", "extra_specs". */
  readonly many: string;
  /** The member of a body that has one pair. Left out: the pair is the body. */
  readonly one?: string;
  /** Which writes there are, next to deletion. Default: all. */
  readonly writes?: readonly WriteVerb[];
  /** What the response to a POST has. Default: all pairs. */
  readonly addShows?: "all" | "given";
  /** The statuses of successful responses; default: 200, 200 and 204. */
  readonly statuses?: { readonly add?: 200 | 202; readonly set?: 200 | 202; readonly remove?: 200 | 202 | 204 };

  /** Throws the service's refusal of a caller who may not do this, before the body is read. */
  permit?(c: Context<E>, verb: KeyValueVerb): void;
  /** The pairs that a body gives: its member `many`, of one pair `one`. Throws the service's 400. */
  given(c: Context<E>, body: unknown, verb: WriteVerb): KeyValues;
  /** The resource that a path names. Throws the service's 404. */
  find(c: Context<E>, verb: KeyValueVerb): T;
  pairsOf(resource: T): KeyValues;
  /** Stores all pairs of a resource. Throws the service's refusal of too many, or of a caller who may not write. */
  keep(c: Context<E>, resource: T, pairs: KeyValues, verb: KeyValueVerb): void;
  /**
   * The service's 404 for a key that the resource does not have; undefined where its deletion succeeds all the same.
   */
  unknownKey(c: Context<E>, resource: T, verb: "show" | "remove"): Error | undefined;
}

/** Serves the pairs of one kind of resource, all together and one by one. POST adds, PUT replaces. */
export function mountKeyValues<E extends Env, T>(app: Hono<E>, table: KeyValueResource<E, T>): void {
  const { path, many, statuses = {}, writes = ["add", "replace", "set"] } = table;
  const one = (pair: JsonObject): JsonObject => (table.one === undefined ? pair : { [table.one]: pair });
  const keyOf = (c: Context<E>): string => c.req.param("key") ?? "";

  app.get(path, (c) => {
    table.permit?.(c, "list");
    return c.json({ [many]: table.pairsOf(table.find(c, "list")) });
  });
  app.get(`${path}/:key`, (c) => {
    table.permit?.(c, "show");
    const [resource, key] = [table.find(c, "show"), keyOf(c)];
    const value = table.pairsOf(resource)[key];
    const unknown = value === undefined ? table.unknownKey(c, resource, "show") : undefined;
    if (unknown) throw unknown;
    return c.json(one({ [key]: value }));
  });
  // The body first: what is kept may change while it arrives.
  if (writes.includes("add")) {
    app.post(path, async (c) => {
      const { given, resource } = await asked(c, table, "add");
      const pairs = { ...table.pairsOf(resource), ...given };
      table.keep(c, resource, pairs, "add");
      return c.json({ [many]: table.addShows === "given" ? given : pairs }, statuses.add ?? 200);
    });
  }
  if (writes.includes("replace")) {
    app.put(path, async (c) => {
      const { given, resource } = await asked(c, table, "replace");
      table.keep(c, resource, given, "replace");
      return c.json({ [many]: given });
    });
  }
  if (writes.includes("set")) {
    app.put(`${path}/:key`, async (c) => {
      const { given, resource } = await asked(c, table, "set");
      table.keep(c, resource, { ...table.pairsOf(resource), ...given }, "set");
      return c.json(one(given), statuses.set ?? 200);
    });
  }
  app.delete(`${path}/:key`, (c) => {
    table.permit?.(c, "remove");
    const resource = table.find(c, "remove");
    const { [keyOf(c)]: removed, ...left } = table.pairsOf(resource);
    const unknown = removed === undefined ? table.unknownKey(c, resource, "remove") : undefined;
    if (unknown) throw unknown;
    table.keep(c, resource, left, "remove");
    return c.body(null, statuses.remove ?? 204);
  });
}

async function asked<E extends Env, T>(
  c: Context<E>,
  table: KeyValueResource<E, T>,
  verb: WriteVerb,
): Promise<{ readonly given: KeyValues; readonly resource: T }> {
  table.permit?.(c, verb);
  const given = table.given(c, await bodyOf(c.req), verb);
  return { given, resource: table.find(c, verb) };
}
