import type { Context, Hono } from "hono";
import type { Caller } from "../../kernel/interface.ts";
import { bodyOf, isObject, type JsonObject } from "../../kernel/json.ts";
import { picked } from "../../kernel/rest/listing.ts";
import { exceededLimit } from "../../kernel/rest/quota.ts";
import { mountResource, type Verb } from "../../kernel/rest/resource.ts";
import { denied, fault, notFound, overQuota } from "../errors.ts";
import { readCreate, readUpdate, unwrap, type Fields, type InputOf } from "./fields.ts";
import { listAnswer } from "../listing.ts";
import { change, checkMutable } from "../rules/provisioning.ts";
import { tableOf, type BalancerState, type LoadBalancer, type Resource } from "../model.ts";

/** The Hono environment of Octavia's routes. */
export type BalancerEnv = { Variables: { caller: Caller } };
/** Where Octavia's routes are added. */
export type BalancerApp = Hono<BalancerEnv>;
/** A request to Octavia. */
export type BalancerRequest = Context<BalancerEnv>;

/** Where Octavia serves its API, as the router writes it. */
export const ROOT = "/:v{v2(?:\\.0)?}/lbaas";

/** One kind of child resource: its fields, and its parent. */
export interface Kind<T extends Resource, F extends Fields> {
  readonly singular: string;
  readonly plural: string;
  /** As Octavia names it in messages: "Listener". */
  readonly label: string;
  /** As it is called in complaints about arguments: "listener_". */
  readonly argument: string;
  readonly quota: string;
  readonly fields: F;
  readonly find: (id: string) => T | undefined;
  readonly used: (projectId: string) => number;
  readonly view: (row: T) => JsonObject;
  readonly balancer: (row: T) => LoadBalancer | undefined;
  /** Parents that are in transition with it, as "kind:ID". */
  readonly parents: (row: T) => readonly string[];
  readonly update: (row: T, input: InputOf<F>, balancer: LoadBalancer) => T;
  readonly checkDelete?: (row: T) => void;
}

/** The caller may change things. */
export function checkWriter(caller: Caller): void {
  if (!caller.isAdmin && !caller.roles.includes("load-balancer_member")) throw denied();
}

/** The caller is an administrator, also by a role of Octavia's own. */
export function checkAdmin({ isAdmin }: Caller): void {
  if (!isAdmin) throw denied();
}

/** Throws Octavia's 403 for a row of another project, except for administrators. */
export function checkOwner(caller: Caller, row: Resource): void {
  if (!caller.isAdmin && row.project_id !== caller.projectId) throw denied();
}

/** The row, 404 if there is none, 403 if it is another project's. */
export function found<T extends Resource>(
  kind: Pick<Kind<T, Fields>, "find" | "label">,
  caller: Caller,
  id: string,
): T {
  const row = kind.find(id);
  if (!row) throw notFound(kind.label, id);
  checkOwner(caller, row);
  return row;
}

/** Throws Octavia's 403 if the project has `used` up its quota of this kind. */
export function checkQuota(
  state: BalancerState,
  projectId: string,
  kind: Pick<Kind<Resource, Fields>, "quota" | "label"> & { used: number },
): void {
  if (exceededLimit(state.kernel, projectId, { resource: kind.quota, used: kind.used }) !== undefined) {
    throw overQuota(kind.label);
  }
}

/** The JSON object of a request; Octavia's 400 if it is none. */
export async function readBody(c: BalancerRequest): Promise<JsonObject> {
  return checkedBody(await bodyOf(c.req));
}

function checkedBody(body: unknown): JsonObject {
  if (isObject(body)) return body;
  throw fault(400, "Request is not in valid JSON format");
}

/** A list of one kind: all rows, and how filters that are no fields of the view choose among them (`special`). */
export interface ListRoute<T extends Resource> {
  readonly plural: string;
  readonly rows: readonly T[];
  readonly view: (row: T) => JsonObject;
  readonly special?: Readonly<Record<string, (row: T, values: readonly string[]) => boolean>>;
}

/** The response of a list: the caller's rows, filtered, sorted and paged. */
export function list<T extends Resource>(c: BalancerRequest, route: ListRoute<T>) {
  return c.json(listAnswer({ ...route, caller: c.var.caller, url: new URL(c.req.url) }));
}

/** A load balancer that a create locks: 404 if there is none, 403 if it is another project's, 409 while it changes. */
export type Lock = (balancer: LoadBalancer | undefined, id: string) => LoadBalancer;

/** One kind of child resource as a table: what `mountChild` serves. */
export interface Child<T extends Resource, F extends Fields> {
  /** Below /lbaas: "listeners", "pools/:pool/members". */
  readonly path: string;
  readonly kind: Kind<T, F>;
  /** The rows of a list, of all projects. Throws 404 for a parent that is not there. */
  readonly rows: (c: BalancerRequest) => readonly T[];
  readonly special?: ListRoute<T>["special"];
  /** The kind as it is below the parent of a path: rows of other parents are not there. Default: `kind`. */
  readonly kindBelow?: (c: BalancerRequest) => Kind<T, F>;
  /** Inserts a child of a load balancer that it locks first. */
  readonly create: (c: BalancerRequest, input: InputOf<F>, lock: Lock) => T;
}

/**
 * Serves list, show, create, update and delete of one kind of child. A change locks the load balancer, and both settle
 * later.
 */
export function mountChild<T extends Resource, F extends Fields>(
  app: BalancerApp,
  state: BalancerState,
  { kind, rows, special, create, ...child }: Child<T, F>,
): void {
  const below = child.kindBelow ?? (() => kind);
  /** The load balancer and the parents of a row are in transition until it settles. */
  const begin = (row: T): void => {
    const balancer = kind.balancer(row);
    if (balancer) change(state, balancer, [...kind.parents(row), `${kind.singular}:${row.id}`]);
  };
  const mutable = (row: T): LoadBalancer => {
    const balancer = kind.balancer(row);
    if (!balancer) throw notFound("Load Balancer", "");
    checkMutable(balancer);
    return balancer;
  };
  mountResource<BalancerEnv, T>(app, state.kernel, {
    ...octavia(kind),
    path: `${ROOT}/${child.path}`,
    readsBodyFirst: true,
    permit(c, verb) {
      if (verb === "update" || verb === "delete") below(c);
      if (verb !== "list" && verb !== "show") checkWriter(c.var.caller);
    },
    find: (c) => found(below(c), c.var.caller, idOf(c)),
    respondList: (c) => list(c, { ...kind, rows: rows(c), ...(special ? { special } : {}) }),
    view: (c, row, verb) => shownFields(c, kind.view(row), verb),
    create(c, input) {
      const made = create(c, input as InputOf<F>, (balancer, id) =>
        locked(state, c.var.caller, { balancer, id, kind }),
      );
      begin(made);
      return kind.find(made.id) ?? made;
    },
    update(_c, row, input) {
      const made = kind.update(row, input as InputOf<F>, mutable(row));
      begin(made);
      return kind.find(made.id) ?? made;
    },
    remove(_c, row) {
      mutable(row);
      kind.checkDelete?.(row);
      tableOf(state, kind.singular).update(row.id, { provisioning_status: "PENDING_DELETE" });
      begin(row);
    },
  });
}

/** What all of Octavia's resources have in common: their envelope, and how a body is checked. */
export function octavia<F extends Fields>({
  singular,
  plural,
  argument,
  fields,
}: Pick<Kind<never, F>, "singular" | "plural" | "argument" | "fields">) {
  return {
    one: singular,
    many: plural,
    givenOf(body: unknown, verb: Verb): unknown {
      const given = unwrap(checkedBody(body), singular, argument);
      return (verb === "update" ? readUpdate : readCreate)(fields, given, `${argument}.${singular}`);
    },
  } as const;
}

/** Responds with one resource, reduced to the requested fields. */
export function show(c: BalancerRequest, singular: string, view: JsonObject): Response {
  return c.json({ [singular]: shownFields(c, view, "show") });
}

/** The id in a route's path; "" where the route has none. */
export const idOf = (c: BalancerRequest): string => c.req.param("id") ?? "";

/** What a response shows: of a GET only the requested fields. */
export function shownFields(c: BalancerRequest, view: JsonObject, verb: Verb): JsonObject {
  return verb === "show" ? picked(view, c.req.queries("fields") ?? []) : view;
}

interface LockAsk {
  readonly balancer: LoadBalancer | undefined;
  readonly id: string;
  readonly kind: Pick<Kind<never, never>, "label" | "quota" | "used">;
}

function locked(state: BalancerState, caller: Caller, { balancer, id, kind }: LockAsk): LoadBalancer {
  if (!balancer) throw notFound("Load Balancer", id);
  checkOwner(caller, balancer);
  const { label, quota } = kind;
  checkQuota(state, balancer.project_id, { label, quota, used: kind.used(balancer.project_id) });
  checkMutable(balancer);
  return balancer;
}
