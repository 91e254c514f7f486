import type { Context, Env, Hono } from "hono";
import type { Identified, Kernel } from "../interface.ts";
import { at, bodyOf, isObject, type JsonObject } from "../json.ts";

/** What a request does with a kind of resource; `detail` is the list with whole resources, where a service has two. */
export type Verb = "list" | "detail" | "show" | "create" | "update" | "delete";

/** The rows of one page, and what its response says in addition to them: links to the next page, a count. */
export interface ListPage<T> {
  readonly rows: readonly T[];
  readonly more?: object;
}

/**
 * One kind of resource as a table: its envelope, its rows, its views and what its requests do. `mountResource` serves
 * it. A request without a function here is not served. The order of a request is the same everywhere: permit, find the
 * row, read the body, act, show.
 */
export interface RestResource<E extends Env, T extends Identified> {
  /** Of the list, as the router writes it: "/v3/:project/qos-specs". */
  readonly path: string;
  /** The member of a body that has one resource (left out: the body is the resource), and the member of a list. */
  readonly one?: string;
  readonly many: string;
  /** The statuses of the service's successful responses; default: 201, 200 and 204. */
  readonly statuses?: {
    readonly create?: 200 | 201 | 202;
    readonly update?: 200 | 202;
    readonly delete?: 200 | 202 | 204;
  };
  /** POST of the list, PUT of an id that the caller chooses, or both. Default: POST. */
  readonly createdBy?: readonly ("post" | "put")[];
  /** The method of an update. Default: PUT. */
  readonly updates?: "put" | "patch";
  /** A body that lacks the resource is refused before the row is searched. Default: after. */
  readonly readsBodyFirst?: true;

  /** Throws the service's refusal of a caller who may not do this. */
  permit?(c: Context<E>, verb: Verb): void;
  /** The row that a path names. Throws the service's 404 for a row that the caller may not know of. */
  find(c: Context<E>, verb: Verb): T;
  /** The rows of a list: seen by the caller, filtered, sorted and cut to a page. */
  list?(c: Context<E>, verb: Verb): ListPage<T>;
  /** Which lists there are. Default: one, with `view`. */
  readonly lists?: readonly ("list" | "detail")[];
  /**
   * The response to a list, of a service that filters by what is shown, or has an envelope of its own. `views` are of
   * the rows of `list`; without `list` there are none, and this function reads the rows itself.
   */
  respondList?(c: Context<E>, views: readonly JsonObject[]): Response;
  /** What a response shows. `given` is the body of a create or an update. */
  view(c: Context<E>, row: T, verb: Verb, given?: JsonObject): JsonObject;
  /** Members of a response to one resource next to the resource. */
  around?(c: Context<E>, row: T, verb: Verb, given?: JsonObject): JsonObject;
  /** The resource of a body. Default: the body's member `one`. Throws the service's refusal of what it cannot be. */
  givenOf?(body: unknown, verb: Verb, c: Context<E>): unknown;
  /** The service's refusal of a body without the resource. Left out: such a body counts as an empty resource. */
  bodyMissing?(verb: Verb): Error;
  create?(c: Context<E>, given: JsonObject): T;
  update?(c: Context<E>, row: T, given: JsonObject): T;
  remove?(c: Context<E>, row: T): void;
}

/** Serves the list, show, create, update and delete of one kind. What fails half-way has changed nothing. */
export function mountResource<E extends Env, T extends Identified>(
  app: Hono<E>,
  kernel: Pick<Kernel, "atomic">,
  resource: RestResource<E, T>,
): void {
  const { path, many, statuses = {} } = resource;

  if (resource.list || resource.respondList) {
    for (const verb of resource.lists ?? ["list"]) {
      app.get(verb === "detail" ? `${path}/detail` : path, (c) => {
        resource.permit?.(c, verb);
        const { rows, more }: ListPage<T> = resource.list?.(c, verb) ?? { rows: [] };
        const views = rows.map((row) => resource.view(c, row, verb));
        return resource.respondList?.(c, views) ?? c.json({ [many]: views, ...more });
      });
    }
  }
  app.get(`${path}/:id`, (c) => {
    resource.permit?.(c, "show");
    return c.json(shown(resource, c, { row: resource.find(c, "show"), verb: "show" }));
  });
  if (resource.create) {
    const handler = createHandler(kernel, resource);
    const by = resource.createdBy ?? ["post"];
    if (by.includes("post")) app.post(path, handler);
    if (by.includes("put")) app.put(`${path}/:id`, handler);
  }
  if (resource.update) {
    app.on((resource.updates ?? "put").toUpperCase(), `${path}/:id`, async (c) => {
      resource.permit?.(c, "update");
      const body = await bodyOf(c.req);
      const first = resource.readsBodyFirst ? givenOf(resource, c, { body, verb: "update" }) : undefined;
      const row = resource.find(c, "update");
      const given = first ?? givenOf(resource, c, { body, verb: "update" });
      const changed = kernel.atomic(() => resource.update?.(c, row, given) ?? row);
      return c.json(shown(resource, c, { row: changed, verb: "update", given }), statuses.update ?? 200);
    });
  }
  if (resource.remove) {
    app.delete(`${path}/:id`, (c) => {
      resource.permit?.(c, "delete");
      const row = resource.find(c, "delete");
      kernel.atomic(() => resource.remove?.(c, row));
      return c.body(null, statuses.delete ?? 204);
    });
  }
}

function createHandler<E extends Env, T extends Identified>(
  kernel: Pick<Kernel, "atomic">,
  resource: RestResource<E, T>,
): (c: Context<E>) => Promise<Response> {
  return async (c) => {
    resource.permit?.(c, "create");
    const given = givenOf(resource, c, { body: await bodyOf(c.req), verb: "create" });
    const row = kernel.atomic(() => resource.create?.(c, given));
    if (row === undefined) throw new TypeError(`a resource of ${resource.many} cannot be created`);
    return c.json(shown(resource, c, { row, verb: "create", given }), resource.statuses?.create ?? 201);
  };
}

interface Shown<T> {
  readonly row: T;
  readonly verb: Verb;
  readonly given?: JsonObject;
}

const shown = <E extends Env, T extends Identified>(
  resource: RestResource<E, T>,
  c: Context<E>,
  { row, verb, given }: Shown<T>,
): JsonObject => {
  const view = resource.view(c, row, verb, given);
  return {
    ...(resource.one === undefined ? view : { [resource.one]: view }),
    ...resource.around?.(c, row, verb, given),
  };
};

function givenOf<E extends Env, T extends Identified>(
  resource: RestResource<E, T>,
  c: Context<E>,
  { body, verb }: { readonly body: unknown; readonly verb: Verb },
): JsonObject {
  const member = resource.one === undefined ? body : at(body, resource.one);
  const given = resource.givenOf ? resource.givenOf(body, verb, c) : member;
  if (isObject(given)) return given;
  if (resource.bodyMissing) throw resource.bodyMissing(verb);
  return {};
}
