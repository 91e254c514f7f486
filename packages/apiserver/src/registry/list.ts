import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { isRecord } from "../json.ts";
import { forbiddenField } from "../server/problems.ts";
import { apiError, badRequest, expired, invalidOptions } from "../server/status.ts";
import { keyOf, type Call } from "./call.ts";
import { fieldSelector, labelSelector, type Matches } from "./selectors.ts";

export interface Listed {
  /** Stored forms. */
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

/** One page, or all, at one revision. Throws 400, 410 Expired, 504 for a revision that is still to come. */
export function list(call: Call, query: URLSearchParams): Listed {
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
function collected(call: Call, query: PageQuery): Listed {
  const { selection, limit } = query;
  const items: KubeObject[] = [];
  let { after, revision } = query;
  for (;;) {
    const page = pageOf(call, { selection, limit: limit > 0 ? limit - items.length : PAGE, after, revision });
    revision = page.revision;
    after = page.next;
    for (const { object } of page.items) if (selection.everything || selection.matches(object)) items.push(object);
    if (after !== undefined && (limit === 0 || items.length < limit)) continue;
    const resourceVersion = String(revision);
    if (after === undefined) return { items, resourceVersion };
    const more = { items, resourceVersion, continue: tokenOf({ rv: revision, start: after }) };
    const remaining = page.remaining ?? 0;
    return selection.everything && remaining > 0 ? { ...more, remainingItemCount: remaining } : more;
  }
}

function single(call: Call, selection: Selection): Listed {
  const { store } = call.cluster;
  const namespace = call.resource.namespaced ? (selection.namespace ?? "") : "";
  const found = store.get(keyOf({ ...call, namespace }, selection.name ?? ""));
  const items = found && selection.matches(found.object) ? [found.object] : [];
  return { items, resourceVersion: String(store.revision) };
}

interface PageQuery {
  readonly selection: Selection;
  readonly limit: number;
  readonly after: string | undefined;
  readonly revision: number | undefined;
}

function pageOf(
  call: Call,
  { selection, limit, after, revision }: PageQuery,
): ReturnType<typeof call.cluster.store.list> {
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
