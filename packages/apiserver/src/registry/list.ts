import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import { record, scalar, type Json } from "../json/json.ts";
import { apiVersionOf, seenAll, shownTo } from "../contract/resource.ts";
import { apiError, badRequest, expired } from "../errors/status.ts";
import type { ListPage, ListQuery, TextPage } from "../store/interface.ts";
import { charged, keyOf, type Call } from "../contract/call.ts";
import { listOptions, type ListOptions } from "./list-options.ts";
import { fieldSelector, labelSelector, type Matches } from "../contract/selectors.ts";

/** A list, or one page of it, with the metadata of its response. */
export interface Listed {
  /** As the called version shows them. */
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** Which objects of a resource a request is about. */
export interface Selection {
  readonly matches: Matches;
  /** Nothing is left out, so that counts need no read of objects. */
  readonly everything: boolean;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** What list, watch and deletecollection choose by the query's selectors (and by a name in the path). */
export function selectionOf(call: Call, query: URLSearchParams): Selection {
  const labels = query.get("labelSelector") ?? "";
  const wanted = query.get("fieldSelector") ?? "";
  const byLabel = labelSelector(labels);
  const byField = fieldSelector(wanted, call.resource, call.version);
  const name = call.name || byField.name;
  return {
    matches: (o) => byLabel(o) && byField.matches(o) && (!call.name || o.metadata.name === call.name),
    everything: labels === "" && wanted === "" && !call.name,
    namespace: call.namespace || byField.namespace,
    name,
  };
}

const PAGE = 500;

interface Continue {
  readonly rv: number;
  readonly start: string;
}

/**
 * One page, or all, at one revision: at once, unless a conversion webhook has to be called. Throws 400, 410 Expired,
 * 504 for a revision that is still to come.
 */
export function list(call: Call, query: URLSearchParams): MaybePromise<Listed> {
  const place = placeOf(call, query);
  const { selection, after, revision } = place;
  const isNow = revision === undefined && after === undefined;
  if (isNow && isSingle(call, selection)) return single(call, selection);
  return collected(call, place);
}

/** At most one object can be selected. */
export function isSingle({ resource }: Call, { name, namespace }: Selection): boolean {
  return name !== undefined && (Boolean(namespace) || !resource.namespaced);
}

/** Which objects a list asks for, from where, how many and at which revision. Throws 400, 504. */
export function placeOf(call: Call, query: URLSearchParams): PageQuery {
  // Labels are read with the options, fields by the kind.
  labelSelector(query.get("labelSelector") ?? "");
  const options = listOptions(query);
  const selection = selectionOf(call, query);
  const token = options.continue;
  // What is read from the cache comes whole.
  const limit = options.resourceVersion === "0" && token === "" ? 0 : options.limit;
  const from = token === "" ? undefined : continued(token);
  if (from && options.resourceVersion !== "" && options.resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const at = from
    ? from.rv > 0
      ? from.rv
      : undefined
    : exactRevision(options, call.cluster.store.revision, isSingle(call, selection));
  return { selection, limit, after: from?.start, revision: at };
}

/**
 * A page as the texts that are stored, where these are what the called version shows; undefined where they are not. For
 * long lists it is many times faster than objects.
 */
export function textPage(call: Call, place: PageQuery): TextPage | undefined {
  const { resource, version } = call;
  const apiVersion = apiVersionOf(resource.group, version.name);
  if (version.fromStored || resource.strategy.shown || resource.storedAs !== apiVersion) return undefined;
  const page = readPage(place, () => call.cluster.store.texts(storeQuery(call, place)));
  if (page.oldest <= (resource.forms?.since ?? 0) && page.texts.length > 0) return undefined;
  const head = textHead(call);
  return page.texts.every((text) => text.startsWith(head)) ? page : undefined;
}

/** How the stored text of every object of a kind begins. */
export function textHead({ resource, version }: Call): string {
  const apiVersion = apiVersionOf(resource.group, version.name);
  return `{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

/** A page as stored objects. */
export function listedPage(call: Call, place: PageQuery): ListPage {
  return readPage(place, () => call.cluster.store.list(storeQuery(call, place)));
}

/** Reads pages until `limit` selected objects are found, or all. */
function collected(call: Call, query: PageQuery): MaybePromise<Listed> {
  return gathered(call, query, []);
}

/** Continues in the same turn while no page has to wait for a webhook. */
function gathered(call: Call, query: PageQuery, items: KubeObject[]): MaybePromise<Listed> {
  const { selection, limit } = query;
  let { after, revision } = query;
  for (;;) {
    const page = listedPage(call, { selection, limit: limit > 0 ? limit - items.length : PAGE, after, revision });
    const shown = seenAll(
      call,
      page.items.map(({ object }) => object),
    );
    if (shown instanceof Promise) {
      const goOn = (objects: readonly KubeObject[]): MaybePromise<Listed> => {
        take(items, readForms(call, objects), selection);
        return isFull(page, items, limit)
          ? listedOf(page, items, selection)
          : gathered(call, { ...query, after: page.next, revision: page.revision }, items);
      };
      return shown.then((objects) => charged(call, () => goOn(objects)));
    }
    take(items, readForms(call, shown), selection);
    if (isFull(page, items, limit)) return listedOf(page, items, selection);
    revision = page.revision;
    after = page.next;
  }
}

/** Objects as readers get them, where a kind shows something else than it stores. */
export function readForms(call: Call, objects: readonly KubeObject[]): readonly KubeObject[] {
  return call.resource.strategy.shown ? objects.map((object) => shownTo(call, object)) : objects;
}

function take(items: KubeObject[], objects: readonly KubeObject[], { everything, matches }: Selection): void {
  for (const object of objects) if (everything || matches(object)) items.push(object);
}

function isFull(page: ListPage, items: readonly KubeObject[], limit: number): boolean {
  return page.next === undefined || (limit > 0 && items.length >= limit);
}

function listedOf(page: ListPage, items: readonly KubeObject[], { everything }: Selection): Listed {
  return { items, ...positionOf(page, everything) };
}

/** The metadata of a list that ends with this page. */
export function positionOf(page: Omit<ListPage, "items">, everything: boolean): Omit<Listed, "items"> {
  const resourceVersion = String(page.revision);
  if (page.next === undefined) return { resourceVersion };
  const more = { resourceVersion, continue: tokenOf({ rv: page.revision, start: page.next }) };
  const remaining = page.remaining ?? 0;
  return everything && remaining > 0 ? { ...more, remainingItemCount: remaining } : more;
}

/** The list that a name selects: one object, or none. */
export function single(call: Call, selection: Selection): MaybePromise<Listed> {
  const { store } = call.cluster;
  const namespace = call.resource.namespaced ? (selection.namespace ?? "") : "";
  const found = store.get(keyOf({ ...call, namespace }, selection.name ?? ""));
  const resourceVersion = String(store.revision);
  return andThen(seenAll(call, found ? [found.object] : []), (objects) => ({
    items: readForms(call, objects).filter((object) => selection.matches(object)),
    resourceVersion,
  }));
}

/** Which part of a list to read: the objects of `selection` after a place, at a revision. */
export interface PageQuery {
  /** Where a page ends before its limit. */
  readonly bytes?: number;
  readonly selection: Selection;
  readonly limit: number;
  readonly after: string | undefined;
  readonly revision: number | undefined;
}

function storeQuery(call: Call, { selection, limit, after, revision, bytes }: PageQuery): ListQuery {
  return {
    ...(bytes === undefined ? {} : { bytes }),
    cluster: call.cluster.name,
    resource: call.resource.storage,
    limit,
    ...(selection.namespace && call.resource.namespaced ? { namespace: selection.namespace } : {}),
    ...(after === undefined ? {} : { after }),
    ...(revision === undefined ? {} : { atRevision: revision }),
  };
}

/** Reads a page; an expired continue token has an error message of its own. */
function readPage<T>({ after }: PageQuery, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!hasCode(error, "KUBERNETES_EXPIRED")) throw error;
    if (after === undefined) throw expired("The resourceVersion for the provided list is too old.");
    throw tooOld(after);
  }
}

const TOO_OLD = `The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.`;

/** 410 with a token that continues with what is now, from where the list was. */
function tooOld(start: string): Error {
  const error = expired(TOO_OLD);
  const status = error.details["status"] as { metadata?: Json };
  status.metadata = { continue: tokenOf({ rv: -1, start }) };
  return error;
}

/**
 * A limit makes the revision exact, where nothing else is said, but not of the one object that is selected by its name.
 */
function exactRevision(
  { resourceVersion, match, limit }: ListOptions,
  newest: number,
  isOne: boolean,
): number | undefined {
  if (resourceVersion === "") return undefined;
  const revision = revisionOf(resourceVersion);
  if (revision > newest) throw tooLarge(revision, newest);
  return match === "Exact" || (limit > 0 && match === "" && revision > 0 && !isOne) ? revision : undefined;
}

/** Reads a resourceVersion. Throws 400. */
export function revisionOf(given: string, refuse: (why: string) => Error = unreadableRevision): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  const shown = JSON.stringify(given);
  throw refuse(`resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`);
}

function unreadableRevision(why: string): Error {
  return badRequest(`invalid resource version: ${why}`);
}

/** 504 Timeout for a revision that the store has not reached; clients retry after a second. */
export function tooLarge(revision: number, newest: number): Error {
  const message = `Timeout: Too large resource version: ${revision}, current: ${newest}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return apiError(504, "Timeout", message, { causes, retryAfterSeconds: 1 });
}

function tokenOf(value: Continue): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", ...value })).toString("base64url");
}

/** A byte as Go shows a character. */
function shownByte(byte: number): string {
  const isShown = (byte >= 0x20 && byte < 0x7f) || byte > 0xa0;
  return isShown && byte !== 0xad ? String.fromCharCode(byte) : `\\u${byte.toString(16).padStart(4, "0")}`;
}

const UNREADABLE = "invalid continue token: continue key is not valid";

/** Reads what `tokenOf` wrote; a negative revision continues with what is now. */
function continued(token: string): Continue {
  const bytes = Buffer.from(token, "base64url");
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString()) as unknown;
  } catch {
    throw badRequest(`${UNREADABLE}: invalid character '${shownByte(bytes[0] ?? 0)}' looking for beginning of value`);
  }
  const { v, rv, start } = record(value);
  if (v !== "meta.k8s.io/v1") {
    throw badRequest(`${UNREADABLE}: server does not recognize this encoded version ${scalar(v)}`);
  }
  if (typeof rv !== "number" || rv === 0) {
    throw badRequest(`${UNREADABLE}: incorrect encoded start resourceVersion (version meta.k8s.io/v1)`);
  }
  if (typeof start !== "string" || start === "") {
    throw badRequest(`${UNREADABLE}: encoded start key empty (version meta.k8s.io/v1)`);
  }
  // As kube-apiserver, which makes a path of it.
  if (/(^|\/)(\.{1,2})?(\/|$)/.test(start.replace(/^\//, ""))) throw badRequest(`${UNREADABLE}: ${start}`);
  return { rv, start };
}
