import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { performance } from "node:perf_hooks";

import { systemClock, type Clock, type Log } from "@causeway/foundation";
import type { Audit } from "../contract/audit.ts";
import type { RequestAudit } from "../contract/audit.ts";
import type { AccountEnds } from "../auth/account-ends.ts";
import type { CertificateUsers } from "../auth/client-certificates.ts";
import { refusal } from "../auth/authorize.ts";
import { selectorsOf } from "../contract/attribute-selectors.ts";
import type { Extension } from "../contract/aggregation.ts";
import type { Attributes, Authorize } from "../contract/attributes.ts";
import { impersonated } from "../auth/impersonate.ts";
import type { User } from "../contract/user.ts";
import type { Cluster } from "../contract/cluster.ts";
import type { Served, UserRules } from "../contract/resource.ts";
import { abandon, answerError } from "./answer-error.ts";
import { readBody } from "./body.ts";
import { place, releaseWhenSent, type Fairness } from "./fairness.ts";
import type { Ticket } from "../flow/flow-control.ts";
import { RequestHolder } from "../contract/thread-time.ts";
import { isHealthRoot } from "./health.ts";
import { LogLimit } from "./log-limit.ts";
import { authenticated, authorized } from "./measured.ts";
import { observe, terminated } from "./observe.ts";
import { isOver } from "./pace.ts";
import { isAccessReview, serveReview } from "../auth/reviews.ts";
import { isProxied, proxyRefusal } from "./proxying.ts";
import { isTrue, requestInfo, type RequestInfo } from "../contract/request-info.ts";
import { checkTimeout } from "./request-timeout.ts";
import { serveResource } from "./resources.ts";
import { chosenForm, notAcceptable } from "./negotiate.ts";
import { inRequest } from "./request-scope.ts";
import { send, wantedForm, type Wanted } from "./respond.ts";
import type { Response } from "../contract/exchange.ts";
import { servePath } from "./paths.ts";
import {
  badRequest,
  methodNotAllowed,
  noSuchPath,
  noSuchResource,
  tooManyRequests,
  unauthorized,
} from "../errors/status.ts";
import { checkName, readTarget } from "./target.ts";
import { typedBody } from "./typed-body.ts";
import { asksForWebSocket } from "./websocket.ts";
import type { Request } from "../contract/exchange.ts";

/** A logical cluster with what its requests need. */
export interface ServedCluster {
  readonly cluster: Cluster;
  readonly authorize: Authorize;
  /** Records requests; absent when none are. */
  readonly audit?: Audit | undefined;
  readonly fairness: Fairness;
  /** Aborts when the cluster is served no longer; its watches end then. */
  readonly closing: AbortSignal;
  /** Ends the watches of deleted service accounts. */
  readonly accountEnds: AccountEnds;
  /** The rules that hold for a user, for SelfSubjectRulesReview. */
  rulesFor(user: User, namespace: string): UserRules;
}

/** What a listener's handler needs to know of the server around it. */
export interface HandlerOptions {
  /** The cluster a path belongs to, and the path below it; undefined when there is none. */
  route(path: string): { served: ServedCluster; path: string } | undefined;
  readonly log: Log;
  readonly clock?: Clock;
}

/** The path of a cluster that is served below others' address. */
const BELOW = /^\/clusters\//;
const ANONYMOUS = "system:anonymous";
const NO_BODY = new Set(["GET", "HEAD"]);
const WRITES: readonly string[] = ["POST", "PUT", "PATCH"];
const silent = (): void => {};

/** A request, its answer, and the record of both once it is known whether one is kept. */
interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly id: string;
  audit?: RequestAudit | undefined;
  ticket?: Ticket | undefined;
}

/** The one way of every request: route, authenticate, authorize, read, serve. */
export function requestHandler(handling: HandlerOptions): (request: Request, response: Response) => void {
  const certificates: CertificateUsers = new WeakMap();
  const log = new LogLimit(handling.log, handling.clock ?? systemClock);
  return (request, response) => {
    const { method } = request;
    const failed = (cause: unknown): void => abandon(cause, { method, response, log });
    inRequest(failed, () => {
      const id = [request.headers["audit-id"]].flat()[0] || randomUUID();
      response.setHeader("audit-id", id);
      const exchange: Exchange = { request, response, id };
      serve(handling, certificates, exchange)
        .catch((error: unknown) => answerError(error, { method, response, audit: exchange.audit, log }))
        .then(() => exchange.ticket && releaseWhenSent(exchange.ticket, response))
        .catch(failed);
    });
  };
}

/** The kind that a request writes, for what is said of a body that cannot be read. */
function kindOf(
  { catalog }: Cluster,
  { group, version, plural, subresource }: RequestInfo,
  method: string,
): string | undefined {
  return subresource === "" && WRITES.includes(method)
    ? catalog.find(group, version, plural)?.resource.kind
    : undefined;
}

async function serve(handling: HandlerOptions, certificates: CertificateUsers, exchange: Exchange): Promise<void> {
  const began = performance.now();
  const { request, response } = exchange;
  const { path: asked, query } = readTarget(request.url ?? "/");
  const { served, path, isBelow } = routedTo(handling, asked);
  const { cluster } = served;
  const { method = "GET", headers } = request as IncomingMessage;
  const info = requestInfo(method, path, query);
  if (info.verb !== "watch") checkTimeout(query);
  const wanted = wantedOf(headers, query);
  const holder = new RequestHolder(cluster.name, method, asked);
  const charge = charged(served, holder, { method, response });
  const user = await charge(() => admitted(served, { exchange, certificates, info, query, isBelow }));
  holder.user = user.name;
  const passed = passedOn(served, { exchange, info, path, isBelow, user });
  if (passed) return passed;
  const { audit } = exchange;
  const read = NO_BODY.has(method)
    ? undefined
    : await readBody(request, { tables: cluster.catalog.tables, kind: kindOf(cluster, info, method), charge });
  audit?.received(read);
  checkRoom(served, method);
  const observed = {
    cluster,
    method,
    info,
    query,
    contentType: headers["content-type"],
    began,
    waited: exchange.ticket?.waited ?? 0,
  };
  if (isHealthRoot(path)) observe(observed, response);
  if (!info.isResource)
    return charge(() =>
      servePath({ cluster, path, query, user, wanted, closing: served.closing, flow: served.fairness.flow }, response),
    );
  const found = resourceOf(cluster, info, method);
  if (hasSubresource(found, info)) observe(observed, response);
  // Questions have no rows.
  checkAcceptable(headers.accept ?? "", { tables: !isAccessReview(found.resource) });
  const body = typedBody(read, found, info);
  const review = await charge(() => serveReview(served, { found, info, user, body }));
  if (review) return send(response, 201, review, wanted);
  const resourceRequest = {
    cluster,
    info,
    served: found,
    user,
    holder,
    query,
    body,
    contentType: headers["content-type"],
    userAgent: headers["user-agent"] ?? "",
    wanted,
    closing: closingOf(served, info, user),
    annotate: audit?.annotate ?? silent,
  };
  return charge(() => serveResource(resourceRequest, response));
}

/** The cluster that a path is of. Throws 401 and 404. */
function routedTo(
  handling: HandlerOptions,
  asked: string,
): { readonly served: ServedCluster; readonly path: string; readonly isBelow: boolean } {
  const routed = handling.route(asked);
  const isBelow = BELOW.test(asked) && routed?.path !== asked;
  // A client without an identity in a cluster does not learn whether the cluster exists.
  if (!routed) throw isBelow ? unauthorized() : noSuchPath();
  return { ...routed, isBelow };
}

interface RoutedRequest {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly path: string;
  readonly isBelow: boolean;
  readonly user: User;
}

/** The response of the extension server that the path is of, if there is one. Throws 400. */
function passedOn(
  served: ServedCluster,
  { exchange: { request, response }, info, path, isBelow, user }: RoutedRequest,
): Promise<void> | undefined {
  const extension = extensionOf(served.cluster, path);
  if (!extension) return undefined;
  const url = passedOnUrl(request.url ?? "", { isBelow, path });
  const closing = closingOf(served, info, user);
  return served.cluster.aggregation.forward(
    extension,
    { request, user, url, isWatch: info.verb === "watch", closing },
    response,
  );
}

/**
 * The target as the client wrote it, below the cluster. Throws 400 where it could be read as another path than the one
 * that was authorized.
 */
function passedOnUrl(target: string, { isBelow, path }: { isBelow: boolean; path: string }): string {
  const url = isBelow ? target.replace(/^\/clusters\/[^/?]+/, "") : target;
  if (readTarget(url).path !== path || !url.startsWith("/")) throw badRequest("the path is written in an unusual way");
  return url;
}

/** The extension that a path is of: a resource of its group and version, their list, or their OpenAPI document. */
function extensionOf({ aggregation }: Cluster, path: string): Extension | undefined {
  const parts = path.split("/").filter(Boolean);
  const [root, group = "", version = ""] = parts[0] === "openapi" && parts[1] === "v3" ? parts.slice(2) : parts;
  return root === "apis" && version !== "" ? aggregation.find(group, version) : undefined;
}

/** Has the work of a request, and what its answer takes, charged to its cluster. */
function charged(
  { cluster, fairness }: ServedCluster,
  holder: RequestHolder,
  { method, response }: { method: string; response: Response },
): <T>(work: () => T) => T {
  const charge = <T>(work: () => T): T => cluster.thread.run(holder, work);
  const { bytes } = fairness;
  response.charge = charge;
  // The answer to a write is not refused: the write was done.
  response.inFlight = (size) => (NO_BODY.has(method) ? bytes.take(cluster.name, size) : bytes.hold(cluster.name, size));
  return charge;
}

/** A write is not begun when its cluster holds too many answers that clients do not read. Throws 429. */
function checkRoom({ cluster, fairness }: ServedCluster, method: string): void {
  if (!NO_BODY.has(method) && fairness.bytes.isFull(cluster.name)) throw tooManyRequests();
}

/** A watch ends with the account of its user too. */
function closingOf({ accountEnds, closing }: ServedCluster, { verb }: RequestInfo, user: User): AbortSignal {
  return verb === "watch" ? accountEnds.signalFor(user, closing) : closing;
}

interface Arrival {
  readonly exchange: Exchange;
  readonly certificates: CertificateUsers;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  /** The path names the cluster. */
  readonly isBelow: boolean;
}

/**
 * Who asks, once it is clear that they may; from here on the request is recorded. Throws 401, 403, and what is said of
 * requests to be forwarded.
 */
async function admitted(
  served: ServedCluster,
  { exchange, certificates, info, query, isBelow }: Arrival,
): Promise<User> {
  const { request } = exchange;
  const { headers } = request;
  const socket = "stream" in request ? request.stream.session?.socket : request.socket;
  const protocols = {
    value: headers["sec-websocket-protocol"],
    accepted: (others: string): void => void (headers["sec-websocket-protocol"] = others),
  };
  const credentials = {
    socket,
    authorization: headers.authorization,
    path: info.path,
    ...(asksForWebSocket(headers) ? { protocols } : {}),
  };
  const asker = await authenticated(served.cluster, credentials, certificates).catch((error: unknown) => {
    exchange.audit = served.audit?.begin({ ...exchange, asked: attributesOf(undefined, info, query) });
    throw error;
  });
  if (isBelow && asker.name === ANONYMOUS) throw unauthorized();
  const audit = served.audit?.begin({ ...exchange, asked: attributesOf(asker, info, query) });
  exchange.audit = audit;
  const user = impersonated(served, asker, request.rawHeaders);
  if (user !== asker) audit?.impersonated(user);
  const { ticket, ready } = place(
    served.fairness,
    { cluster: served.cluster.name, user, info, query },
    exchange.response,
  );
  exchange.ticket = ticket;
  if (ready) {
    await ready.catch((error: unknown) => terminated(served.cluster, { request, info, query, error }));
    // The client went while its request waited: nothing is done for it.
    if (isOver(exchange.response)) throw tooManyRequests();
  }
  const asked = attributesOf(user, info, query);
  const { allowed, reason } = authorized(served, asked);
  audit?.annotate("authorization.k8s.io/decision", allowed ? "allow" : "forbid");
  audit?.annotate("authorization.k8s.io/reason", reason);
  if (!allowed) throw refusal(asked, reason);
  if (isProxied(info)) throw proxyRefusal(served.cluster, info);
  return user;
}

function wantedOf(headers: IncomingHttpHeaders, query: URLSearchParams): Wanted {
  const encodings = [headers["accept-encoding"] ?? ""].flat().join();
  return wantedForm(headers.accept ?? "", encodings, isTrue(query.get("pretty")));
}

function checkAcceptable(accept: string, kind: { tables: boolean }): void {
  if (!chosenForm(accept, kind)) throw notAcceptable(accept);
}

/** What is requested. Throws 404, 405. */
function resourceOf(cluster: Cluster, info: RequestInfo, method: string): Served {
  if (method !== "GET" && method !== "DELETE" && !WRITES.includes(method)) throw methodNotAllowed();
  const found = cluster.catalog.find(info.group, info.version, info.plural);
  if (!found) throw isServed(cluster, info) ? noSuchResource() : noSuchPath();
  if (!isInScope(found, info)) throw noSuchResource();
  checkName(info.name);
  return found;
}

/** A group that has built-in kinds, in whatever version: others end where the path does. */
function isServed({ catalog }: Cluster, { group }: RequestInfo): boolean {
  return catalog.isBuiltInGroup(group);
}

/** Only what there is is counted, so that requests for unknown paths make no series. */
function hasSubresource({ version }: Served, { subresource }: RequestInfo): boolean {
  return subresource === "" || (version.subresources?.some((s) => s.name === subresource) ?? false);
}

/** A namespaced resource is written within its namespace; others are outside of any. */
function isInScope({ resource }: Served, info: RequestInfo): boolean {
  if (!resource.namespaced) return info.namespace === "" || resource.plural === "namespaces";
  if (info.namespace !== "") return true;
  if (info.name !== "") return false;
  if (info.verb !== "list" && info.verb !== "watch") throw methodNotAllowed();
  return true;
}

function attributesOf<U extends User | undefined>(
  user: U,
  info: RequestInfo,
  query: URLSearchParams,
): Omit<Attributes, "user"> & { readonly user: U } {
  const { verb, namespace, group, version, plural, subresource, name } = info;
  const common = { user, verb, namespace, group, version, plural, subresource, name };
  if (!info.isResource) return { ...common, path: info.path };
  if (verb !== "list" && verb !== "watch" && verb !== "deletecollection") return common;
  const [fields, labels] = [query.get("fieldSelector"), query.get("labelSelector")];
  if (!fields && !labels) return common;
  const { selectors } = selectorsOf({ fieldSelector: raw(fields), labelSelector: raw(labels) });
  // A list of the one object of a name counts as being about that object.
  const named = selectors.fieldRequirements?.find((r) => r.key === "metadata.name" && r.operator === "In");
  return { ...common, ...selectors, name: name || (named?.values[0] ?? "") };
}

function raw(rawSelector: string | null): { rawSelector: string } | undefined {
  return rawSelector ? { rawSelector } : undefined;
}
