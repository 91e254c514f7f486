import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { andThen, type Maybe } from "../conversion/maybe.ts";
import { isRecord } from "../json.ts";
import { seenAll } from "../kinds/resource.ts";
import { forbiddenField } from "../server/problems.ts";
import { apiError, badRequest, expired, invalidOptions } from "../server/status.ts";
import type { ListPage } from "../store/interface.ts";
import { keyOf, type Call } from "./call.ts";
import { fieldSelector, labelSelector, type Matches } from "./selectors.ts";

export interface Listed {
  /** As the called version shows them. */
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface Selection {
  readonly matches: Matches;
  /** Nothing is left out, so that counts need no look at objects. */
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

/** One page, or all, at one revision: at once, unless a conversion webhook has to be asked. Throws 400, 410 Expired, 504 for a revision that is still to come. */
export function list(call: Call, query: URLSearchParams): Maybe<Listed> {
  const { store } = call.cluster;
  const selection = selectionOf(call, query);
  const limit = Number(query.get("limit") ?? 0) || 0;
  const token = query.get("continue");
  const given = query.get("resourceVersion");
  if (token && given && given !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const from = token ? continued(token) : undefined;
  const at = from?.rv ?? exactRevision(query, store.revision);
  const one = selection.name !== undefined && at === undefined && from === undefined;
  if (one && (selection.namespace || !call.resource.namespaced)) return single(call, selection);
  return collected(call, { selection, limit, after: from?.start, revision: at });
}

/** Reads pages until `limit` selected objects are found, or all. */
function collected(call: Call, query: PageQuery): Maybe<Listed> {
  return gathered(call, query, []);
}

/** Goes on in the same turn while no page has to wait for a webhook. */
function gathered(call: Call, query: PageQuery, items: KubeObject[]): Maybe<Listed> {
  const { selection, limit } = query;
  let { after, revision } = query;
  for (;;) {
    const page = pageOf(call, { selection, limit: limit > 0 ? limit - items.length : PAGE, after, revision });
    const shown = seenAll(
      call,
      page.items.map(({ object }) => object),
    );
    if (shown instanceof Promise) {
      return shown.then((objects) => {
        take(items, objects, selection);
        return isFull(page, items, limit)
          ? listedOf(page, items, selection)
          : gathered(call, { ...query, after: page.next, revision: page.revision }, items);
      });
    }
    take(items, shown, selection);
    if (isFull(page, items, limit)) return listedOf(page, items, selection);
    revision = page.revision;
    after = page.next;
  }
}

function take(items: KubeObject[], objects: readonly KubeObject[], { everything, matches }: Selection): void {
  for (const object of objects) if (everything || matches(object)) items.push(object);
}

function isFull(page: ListPage, items: readonly KubeObject[], limit: number): boolean {
  return page.next === undefined || (limit > 0 && items.length >= limit);
}

function listedOf(page: ListPage, items: readonly KubeObject[], { everything }: Selection): Listed {
  const resourceVersion = String(page.revision);
  if (page.next === undefined) return { items, resourceVersion };
  const more = { items, resourceVersion, continue: tokenOf({ rv: page.revision, start: page.next }) };
  const remaining = page.remaining ?? 0;
  return everything && remaining > 0 ? { ...more, remainingItemCount: remaining } : more;
}

function single(call: Call, selection: Selection): Maybe<Listed> {
  const { store } = call.cluster;
  const namespace = call.resource.namespaced ? (selection.namespace ?? "") : "";
  const found = store.get(keyOf({ ...call, namespace }, selection.name ?? ""));
  const resourceVersion = String(store.revision);
  return andThen(seenAll(call, found ? [found.object] : []), (objects) => ({
    items: objects.filter((object) => selection.matches(object)),
    resourceVersion,
  }));
}

interface PageQuery {
  readonly selection: Selection;
  readonly limit: number;
  readonly after: string | undefined;
  readonly revision: number | undefined;
}

function pageOf(call: Call, { selection, limit, after, revision }: PageQuery): ListPage {
  try {
    return call.cluster.store.list({
      cluster: call.cluster.name,
      resource: call.resource.storage,
      limit,
      ...(selection.namespace && call.resource.namespaced ? { namespace: selection.namespace } : {}),
      ...(after === undefined ? {} : { after }),
      ...(revision === undefined ? {} : { atRevision: revision }),
    });
  } catch (error) {
    if (!hasCode(error, "KUBERNETES_EXPIRED") || after === undefined) throw error;
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.",
    );
  }
}

function exactRevision(query: URLSearchParams, newest: number): number | undefined {
  const given = query.get("resourceVersion");
  const match = query.get("resourceVersionMatch");
  if (!given) {
    if (match) {
      const why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
      throw invalidOptions("ListOptions", forbiddenField("resourceVersionMatch", why));
    }
    return undefined;
  }
  const revision = revisionOf(given);
  if (revision > newest) throw tooLarge(revision, newest);
  return match === "Exact" || (Number(query.get("limit") ?? 0) > 0 && !match && revision > 0) ? revision : undefined;
}

/** Reads a resourceVersion. Throws 400. */
export function revisionOf(given: string): number {
  if (!/^\d{1,15}$/.test(given)) throw badRequest(`invalid resource version "${given}"`);
  return Number(given);
}

export function tooLarge(revision: number, newest: number): Error {
  const message = `Timeout: Too large resource version: ${revision}, current: ${newest}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return apiError(504, "Timeout", message, { causes, retryAfterSeconds: 1 });
}

function tokenOf(value: Continue): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", ...value })).toString("base64url");
}

function continued(token: string): Continue {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (isRecord(value) && typeof value["rv"] === "number" && typeof value["start"] === "string") {
      return { rv: value["rv"], start: value["start"] };
    }
  } catch {
    // Falls to the refusal below: a token that cannot be read is the client's mistake.
  }
  throw badRequest("invalid continue token: continue key is not valid: it was not given out by this server");
}
