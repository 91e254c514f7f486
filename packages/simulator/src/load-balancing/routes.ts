import type { Context, Hono } from "hono";
import type { Caller } from "../kernel/interface.ts";
import { isObject, type JsonObject } from "../kernel/json.ts";
import { picked } from "../kernel/rest/listing.ts";
import { exceededLimit } from "../kernel/rest/quota.ts";
import { denied, fault, notFound, overQuota } from "./errors.ts";
import { readCreate, readUpdate, unwrap, type Fields, type InputOf } from "./fields.ts";
import { listAnswer } from "./listing.ts";
import { change, checkMutable } from "./provisioning.ts";
import type { BalancerState, LoadBalancer, Resource } from "./resources.ts";

export type BalancerApp = Hono<{ Variables: { caller: Caller } }>;
export type BalancerRequest = Context<{ Variables: { caller: Caller } }>;

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

export function checkQuota(
  state: BalancerState,
  projectId: string,
  kind: Pick<Kind<Resource, Fields>, "quota" | "label"> & { used: number },
): void {
  if (exceededLimit(state.kernel, projectId, { resource: kind.quota, used: kind.used }) !== undefined) {
    throw overQuota(kind.label);
  }
}

export async function readBody(c: BalancerRequest): Promise<JsonObject> {
  let body: unknown;
  try {
    body = JSON.parse(await c.req.text());
  } catch {
    throw fault(400, "Request is not in valid JSON format");
  }
  if (isObject(body)) return body;
  throw fault(400, "Request is not in valid JSON format");
}

/** Responds with one resource, reduced to the requested fields. */
export function show(c: BalancerRequest, singular: string, view: JsonObject) {
  return c.json({ [singular]: picked(view, c.req.queries("fields") ?? []) });
}

export interface ListRoute<T extends Resource> {
  readonly plural: string;
  readonly rows: readonly T[];
  readonly view: (row: T) => JsonObject;
  readonly special?: Readonly<Record<string, (row: T, values: readonly string[]) => boolean>>;
}

export function list<T extends Resource>(c: BalancerRequest, route: ListRoute<T>) {
  return c.json(listAnswer({ ...route, caller: c.var.caller, url: new URL(c.req.url) }));
}

/** POST of a child: the load balancer is locked, the child made, both settle later. */
export async function postChild<T extends Resource, F extends Fields>(
  c: BalancerRequest,
  state: BalancerState,
  kind: Kind<T, F>,
  make: (input: InputOf<F>, lock: (balancer: LoadBalancer | undefined, id: string) => LoadBalancer) => T,
) {
  checkWriter(c.var.caller);
  const body = unwrap(await readBody(c), kind.singular, kind.argument);
  const input = readCreate(kind.fields, body, `${kind.argument}.${kind.singular}`);
  const row = state.kernel.atomic(() => {
    const made = make(input, (balancer, id) => locked(state, c.var.caller, { balancer, id, kind }));
    const balancer = kind.balancer(made);
    if (balancer) change(state, balancer, [...kind.parents(made), `${kind.singular}:${made.id}`]);
    return kind.find(made.id) ?? made;
  });
  return c.json({ [kind.singular]: kind.view(row) }, 201);
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

/** PUT of a child. */
export async function putChild<T extends Resource, F extends Fields>(
  c: BalancerRequest,
  state: BalancerState,
  kind: Kind<T, F>,
  id: string,
) {
  checkWriter(c.var.caller);
  const body = unwrap(await readBody(c), kind.singular, kind.argument);
  const input = readUpdate(kind.fields, body, `${kind.argument}.${kind.singular}`);
  const row = found(kind, c.var.caller, id);
  const changed = state.kernel.atomic(() => {
    const balancer = kind.balancer(row);
    if (!balancer) throw notFound("Load Balancer", "");
    checkMutable(balancer);
    const made = kind.update(row, input, balancer);
    change(state, balancer, [...kind.parents(made), `${kind.singular}:${made.id}`]);
    return kind.find(made.id) ?? made;
  });
  return c.json({ [kind.singular]: kind.view(changed) });
}

/** DELETE of a child: it goes when the load balancer settles. */
export function deleteChild<T extends Resource, F extends Fields>(
  c: BalancerRequest,
  state: BalancerState,
  kind: Kind<T, F>,
  { id, mark }: { id: string; mark: (row: T) => void },
) {
  checkWriter(c.var.caller);
  const row = found(kind, c.var.caller, id);
  state.kernel.atomic(() => {
    const balancer = kind.balancer(row);
    if (!balancer) throw notFound("Load Balancer", "");
    checkMutable(balancer);
    kind.checkDelete?.(row);
    mark(row);
    change(state, balancer, [...kind.parents(row), `${kind.singular}:${row.id}`]);
  });
  return c.body(null, 204);
}
