import type { Context, Hono } from "hono";
import type { Caller, Table } from "../../kernel/interface.ts";
import { picked } from "../../kernel/rest/listing.ts";
import { exceededLimit, type QuotaNeed } from "../../kernel/rest/quota.ts";
import type { ServiceError } from "../../kernel/service-error.ts";
import { bodyOf as parsedBody, isObject, type JsonObject } from "../../kernel/json.ts";
import {
  filterReader,
  permitUpdate,
  readCreate,
  readUpdate,
  type Attributes,
  type InputOf,
  type Kind,
} from "./attributes.ts";
import { badRequest, conflict, forbidden, neutronError } from "../errors.ts";
import { filtered, filtersOf, pageOf, remembered, type ListSpec } from "../listing.ts";
import type { NetworkState } from "../model.ts";

/** The Hono environment of Neutron's routes. */
export type NetworkEnv = { Variables: { caller: Caller } };
/** Where Neutron's routes are added. */
export type NetworkApp = Hono<NetworkEnv>;
/** A request to Neutron. */
export type NetworkRequest = Context<NetworkEnv>;

/** What every row of a collection has; `revision_number` counts its changes, as If-Match checks it. */
export interface Row {
  readonly id: string;
  readonly project_id: string;
  readonly revision_number: number;
}

/** One kind of resource: its fields and its operations. */
export interface Collection<T extends Row, A extends Attributes> extends Kind<A> {
  readonly plural: string;
  /** Below /v2.0; default: the plural, with dashes. */
  readonly path?: string;
  readonly table: Table<T>;
  /** Table indexes that a filter may use. */
  readonly indexes: readonly string[];
  /** Fields in addition to the attributes that lists filter by. */
  readonly filters: readonly string[];
  /** Fields that lists filter by and that no view has. */
  readonly unseen?: (row: T) => JsonObject;
  readonly special?: ListSpec<T>["special"];
  readonly quota?: string;
  readonly notFound: (id: string) => ServiceError;
  /** True if the caller may know of it. */
  readonly sees: (caller: Caller, row: T) => boolean;
  /** True if the caller may change it; default: owner or administrator. */
  readonly owns?: (caller: Caller, row: T) => boolean;
  readonly view: (row: T, caller: Caller) => JsonObject;
  /** The view that POST returns, where it differs from later views. */
  readonly viewMade?: (row: T, caller: Caller) => JsonObject;
  /** Runs before every list and creation of a project. */
  readonly prepare?: (projectId: string) => void;
  readonly create: (caller: Caller, projectId: string, input: InputOf<A>) => T;
  readonly update: (caller: Caller, row: T, change: InputOf<A>) => T;
  readonly remove: (caller: Caller, row: T) => void;
  /** Checks all elements of a bulk POST before the first is made. */
  readonly checkBulk?: (inputs: readonly InputOf<A>[]) => void;
}

const isOwner = (caller: Caller, row: Row): boolean => caller.isAdmin || row.project_id === caller.projectId;

/** The row, if the caller may see it; the kind's own 404 otherwise. */
export function seen<T extends Row, A extends Attributes>(collection: Collection<T, A>, caller: Caller, id: string): T {
  const row = collection.table.get(id);
  if (!row || !collection.sees(caller, row)) throw collection.notFound(id);
  return row;
}

/** The row, if the caller may change it; 403 if it is only visible. */
export function owned<T extends Row, A extends Attributes>(
  collection: Collection<T, A>,
  caller: Caller,
  { id, verb = "update" }: { id: string; verb?: "update" | "delete" },
): T {
  const row = seen(collection, caller, id);
  if (!(collection.owns ?? isOwner)(caller, row)) throw forbidden(`rule:${verb}_${collection.singular}`);
  return row;
}

/** Routes of one kind: list, show, create (one or many), update, delete. */
export function mountCollection<T extends Row, A extends Attributes>(
  app: NetworkApp,
  state: NetworkState,
  collection: Collection<T, A>,
): void {
  const path = pathOf(collection);
  const spec = listSpec(collection);
  app.get(path, (c) => answerList(c, collection, spec));
  app.get(`${path}/:id`, (c) => {
    const row = seen(collection, c.var.caller, idOf(c));
    return c.json({ [collection.singular]: pickedFor(c, collection.view(row, c.var.caller)) });
  });
  app.post(path, async (c) => {
    const body = await readBody(c);
    return c.json(
      state.kernel.atomic(() => createAll(c.var.caller, state, collection, body)),
      201,
    );
  });
  app.put(`${path}/:id`, async (c) => {
    const { caller } = c.var;
    const input = readUpdate(collection, bodyOf(await readBody(c), collection.singular), caller);
    const row = owned(collection, caller, { id: idOf(c) });
    permitUpdate(collection, input, caller);
    checkRevision(c, row);
    const made = state.kernel.atomic(() => collection.update(caller, row, input));
    return c.json({ [collection.singular]: collection.view(made, caller) });
  });
  app.delete(`${path}/:id`, (c) => {
    const row = owned(collection, c.var.caller, { id: idOf(c), verb: "delete" });
    checkRevision(c, row);
    state.kernel.atomic(() => collection.remove(c.var.caller, row));
    return c.body(null, 204);
  });
}

const idOf = (c: NetworkRequest): string => c.req.param("id") ?? "";

/** Where the collection is served. */
export const pathOf = ({ plural, path }: { readonly plural: string; readonly path?: string | undefined }): string =>
  `/v2.0/${path ?? plural.replaceAll("_", "-")}`;

/** The JSON of a request; Neutron's 400 if it is none. */
export async function readBody(c: NetworkRequest): Promise<JsonObject> {
  return checkedBody(await parsedBody(c.req));
}

/** The same of a body that was parsed; undefined: it is not JSON. */
export function checkedBody(body: unknown): JsonObject {
  if (isObject(body)) return body;
  throw badRequest("Body contains invalid data");
}

/** 409 if `more` would pass the project's limit. */
export function checkQuota(state: NetworkState, projectId: string, need: QuotaNeed): void {
  if (exceededLimit(state.kernel, projectId, need) === undefined) return;
  throw conflict("OverQuota", `Quota exceeded for resources: ['${need.resource}'].`);
}

/** Kinds of Neutron's core; others' controllers say of an empty body that there is none. */
const core = new Set(["network", "subnet", "port", "subnetpool"]);

function bodyOf(body: JsonObject, singular: string): unknown {
  if (Object.keys(body).length === 0 && !core.has(singular)) throw badRequest("Resource body required");
  if (!Object.hasOwn(body, singular)) throw badRequest(`Unable to find '${singular}' in request body`);
  return body[singular];
}

function createAll<T extends Row, A extends Attributes>(
  caller: Caller,
  state: NetworkState,
  collection: Collection<T, A>,
  body: JsonObject,
): JsonObject {
  const many = Object.hasOwn(body, collection.plural) ? body[collection.plural] : undefined;
  const elements = many === undefined ? [bodyOf(body, collection.singular)] : many;
  if (!Array.isArray(elements) || elements.length === 0) throw badRequest("Resources required");
  const inputs = elements.map((element) => readCreate(collection, element, caller));
  const projects = new Map<string, number>();
  for (const input of inputs) projects.set(ownerOf(input, caller), (projects.get(ownerOf(input, caller)) ?? 0) + 1);
  for (const [projectId, more] of projects) {
    collection.prepare?.(projectId);
    const used = collection.table.by("project_id", projectId).length;
    if (collection.quota) checkQuota(state, projectId, { resource: collection.quota, used, more });
  }
  if (many !== undefined) collection.checkBulk?.(inputs);
  const rows = inputs.map((input) => collection.create(caller, ownerOf(input, caller), input));
  // Read again: a later element may have changed an earlier one.
  const viewMade = collection.viewMade ?? collection.view;
  const views = rows.map((row) => viewMade(collection.table.get(row.id) ?? row, caller));
  return many === undefined ? { [collection.singular]: views[0] } : { [collection.plural]: views };
}

function ownerOf(input: object, caller: Caller): string {
  const { project_id: project, tenant_id: tenant } = input as { project_id?: string; tenant_id?: string };
  return project ?? tenant ?? caller.projectId;
}

/** What lists are filtered and ordered by; `shown` follows from the caller of each request. */
function listSpec<T extends Row, A extends Attributes>(collection: Collection<T, A>): Omit<ListSpec<T>, "shown"> {
  const { plural, special, notFound } = collection;
  const times = ["id", "created_at", "updated_at", "revision_number"];
  const filters = Object.entries(collection.attributes).filter(([, attribute]) => attribute.filter !== false);
  const readers = filters.flatMap(([field, attribute]) => {
    const read = filterReader(attribute);
    return read ? [[field, read] as const] : [];
  });
  return {
    plural,
    special,
    notFound,
    filterable: new Set([...filters.map(([field]) => field), ...times, ...collection.filters]),
    readers: new Map(readers),
    sortable: new Set([...Object.keys(collection.attributes), ...times, ...collection.filters, "tenant_id", "status"]),
  };
}

function answerList<T extends Row, A extends Attributes>(
  c: NetworkRequest,
  collection: Collection<T, A>,
  fixed: Omit<ListSpec<T>, "shown">,
) {
  const { caller } = c.var;
  // Who may not see a field may filter by it all the same, as the real service's query does.
  const whole = { ...caller, isAdmin: true };
  const shown = remembered((row: T) => ({ ...collection.unseen?.(row), ...collection.view(row, whole) }));
  const spec = { ...fixed, shown };
  collection.prepare?.(caller.projectId);
  const url = new URL(c.req.url);
  const filters = filtersOf(url.searchParams, spec);
  const visible = candidates(collection, filters).filter((row) => collection.sees(caller, row));
  const page = pageOf(filtered(visible, filters, spec), url, spec);
  const views = page.rows.map((row) => pickedFor(c, collection.view(row, caller)));
  if (!page.links || page.links.length === 0) return c.json({ [collection.plural]: views });
  return c.json({ [collection.plural]: views, [`${collection.plural}_links`]: page.links });
}

/** Rows from the best index that the filters name; all rows if there is none. */
function candidates<T extends Row, A extends Attributes>(
  { table, indexes }: Collection<T, A>,
  filters: ReadonlyMap<string, readonly string[]>,
): readonly T[] {
  const ids = filters.get("id");
  if (ids) return [...new Set(ids)].flatMap((id) => table.get(id) ?? []);
  const field = indexes.find((index) => filters.has(index));
  if (!field) return table.all();
  const rows = new Map<string, T>();
  for (const value of filters.get(field) ?? []) for (const row of table.by(field, value)) rows.set(row.id, row);
  return [...rows.values()];
}

const pickedFor = (c: NetworkRequest, view: JsonObject): JsonObject => picked(view, c.req.queries("fields") ?? []);

/** If-Match: revision_number=N (Neutron's "revision-if-match"). */
function checkRevision(c: NetworkRequest, row: Row): void {
  const wanted = /^revision_number=(\d+)$/.exec(c.req.header("if-match") ?? "")?.[1];
  if (wanted === undefined || Number(wanted) === row.revision_number) return;
  const why = `Constrained to ${wanted}, but current revision is ${row.revision_number}`;
  throw neutronError(412, "RevisionNumberConstraintFailed", why);
}
