import { errorFromPages } from "../errors/page-error.ts";
import { isOpenStackNotFound } from "../errors/predicates.ts";
import { splitQuery } from "../http/query.ts";
import type { ServiceClient } from "../session/client.ts";
import type { Collection, Query } from "../types/collection.ts";
import { listIn, nextQuery, objectIn } from "./wire.ts";

/** How a service serves one kind of object, where it differs from the others. */
export interface CollectionShape<T, Create> {
  /** "/ports"; may have {id} for `parents`. */
  readonly route: string;
  readonly parents?: readonly string[];
  /** Envelope of one: "port". Empty: none. */
  readonly one: string;
  /** Envelope of many: "ports". */
  readonly many: string;
  /** Where lists with all fields are, if not at `route`. */
  readonly listRoute?: string;
  /** Added to every list that does not say otherwise. */
  readonly defaults?: Query;
  /** The body of a create, where it is not just `{[one]: create}`. */
  readonly envelope?: (create: Create) => unknown;
  /** The created object, if the response to a create is incomplete. */
  readonly complete?: (answer: unknown, create: Create) => T;
  /** How an object is changed; default PUT with `{[one]: update}`. */
  readonly change?: { readonly method: "PUT" | "PATCH" | "POST"; readonly body?: (update: never) => unknown };
  /** What a list's element has to be unwrapped from. */
  readonly unwrap?: string;
  /** Fields that an older release of the API does not return, with their replacements. */
  readonly absent?: Partial<T>;
  /** How many things a create makes. */
  readonly size?: (create: Create) => number;
}

/** Of one list. Services give a thousand objects on a page, so that a list which needs more has no end. */
const MOST_PAGES = 2_000;
const MOST_BYTES = 512 * 1024 * 1024;

/** The verbs of a REST collection over a service. */
export function createCollection<T, Create, Update = Partial<Create>>(
  client: ServiceClient,
  shape: CollectionShape<T, Create>,
): Collection<T, Create, Update> {
  const { route, parents = [], one, many } = shape;
  const single = `${route}/{id}`;
  const whole = (object: T): T => (shape.absent === undefined ? object : { ...shape.absent, ...object });
  const element = (object: unknown): T =>
    whole(shape.unwrap === undefined ? (object as T) : objectIn<T>(object, shape.unwrap));

  const list: Collection<T, Create, Update>["list"] = async function* (query = {}, options = {}) {
    for (const part of splitQuery({ ...shape.defaults, ...query })) {
      let next: Query | string | undefined = part;
      let rest = MOST_BYTES;
      const seen = new Set<string>();
      const received = (bytes: number): void => void (rest -= bytes);
      while (next !== undefined) {
        const page = { method: "GET" as const, route: shape.listRoute ?? route, ids: parents, query: next, received };
        const body: unknown = await client.send(page, options);
        yield* listIn<unknown>(body, many).map(element);
        const following: string | undefined = nextQuery(body, many);
        next = following === next ? undefined : following;
        if (next === undefined) break;
        if (seen.has(next))
          throw errorFromPages(client.service, many, "a link to the next page leads back to an earlier one");
        if (seen.size >= MOST_PAGES) throw errorFromPages(client.service, many, `it has more than ${MOST_PAGES} pages`);
        if (rest <= 0) throw errorFromPages(client.service, many, "its pages are larger than 512 MiB together");
        seen.add(next);
      }
    }
  };
  const get: Collection<T, Create, Update>["get"] = async (id, options) =>
    whole(objectIn<T>(await client.send({ method: "GET", route: single, ids: [...parents, id] }, options), one));

  return {
    list,
    all: (query, options) => Array.fromAsync(list(query, options)),
    get,
    async find(id, options) {
      try {
        return await get(id, options);
      } catch (error) {
        if (isOpenStackNotFound(error)) return undefined;
        throw error;
      }
    },
    create: (body, options = {}) =>
      client.create({
        method: "POST",
        route,
        ids: parents,
        body: shape.envelope ? shape.envelope(body) : one === "" ? body : { [one]: body },
        size: shape.size?.(body) ?? 1,
        read: (answer) => (shape.complete ? shape.complete(answer, body) : whole(objectIn<T>(answer, one))),
        options,
      }),
    async update(id, body, options) {
      const { method = "PUT", body: wrap } = shape.change ?? {};
      const sent = wrap ? wrap(body as never) : one === "" ? body : { [one]: body };
      const condition =
        options?.ifRevision === undefined ? {} : { headers: { "If-Match": `revision_number=${options.ifRevision}` } };
      const call = { method, route: single, ids: [...parents, id], body: sent, ...condition };
      return whole(objectIn<T>(await client.send(call, options), one));
    },
    async delete(id, options) {
      await ignoringNotFound(client.send({ method: "DELETE", route: single, ids: [...parents, id] }, options));
    },
  };
}

/** A delete of a missing object is a success. */
export async function ignoringNotFound(deleting: Promise<unknown>): Promise<void> {
  try {
    await deleting;
  } catch (error) {
    if (!isOpenStackNotFound(error)) throw error;
  }
}
