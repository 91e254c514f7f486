import { LimitExceeded, messageOf, parseBoundedJson } from "@causeway/foundation";
import { isUnreachable } from "@causeway/kubernetes";
import type { Tokens } from "@causeway/openstack";
import type { Caller } from "../access/caller.ts";
import type { ProjectRates } from "../access/rate.ts";
import { rootDocument, versionDocument } from "../resources/documents.ts";
import { errorBody, invalid, MagnumError, unrouted } from "../wire/error.ts";
import { audited, auditedAction } from "./audited.ts";
import type { Answer, Api } from "../call/call.ts";
import { routeOf } from "./routes.ts";
import type { UnderWay } from "./under-way.ts";
import { readVersion, versionHeaders } from "../call/version.ts";

/** A request, as far as it is read before its body is. */
export interface Request {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  readonly body: () => Promise<Buffer>;
  readonly origin: string;
  readonly signal: AbortSignal;
}

/**
 * What each request passes before its resource: the token's check, the rate of its project, and a place among those
 * under way.
 */
export interface RespondOptions {
  readonly api: Api;
  readonly tokens: Tokens<Omit<Caller, "token">>;
  readonly rates: ProjectRates;
  readonly underWay: UnderWay;
}

const DEEPEST = 32;

/** The response to a request, and the project that it came from, for the log. */
export async function respond(
  options: RespondOptions,
  request: Request,
  requestId: string,
): Promise<Answer & { readonly project?: string }> {
  let project: string | undefined;
  let leave = (): void => {};
  const headers: Record<string, string> = { "x-openstack-request-id": requestId };
  try {
    const [before = "/", query = ""] = split(request.url);
    const path = unversioned(before);
    const isReady = options.api.store.isSynced();
    if (before.replace(/\/+$/, "") === "/healthcheck") return { headers, ...healthOf(isReady) };
    if (path === undefined) {
      requireMethod(request.method, ["GET"]);
      return { status: 200, headers, body: rootDocument(request.origin) };
    }
    const caller = path === "" ? undefined : await authenticate(options, request);
    project = caller?.projectId;
    if (project !== undefined) leave = enter(options.underWay, project);
    // A list that was not read whole would show clusters as deleted.
    if (caller !== undefined && !isReady)
      throw new MagnumError(503, "The server is starting.", { headers: { "retry-after": "1" } });
    const minor = readVersion(request.header("openstack-api-version"));
    Object.assign(headers, versionHeaders(`1.${minor}`));
    if (caller === undefined) {
      requireMethod(request.method, ["GET"]);
      return { status: 200, headers, body: versionDocument(request.origin) };
    }
    const answer = await dispatch(options, { request, caller, minor, path, query, headers });
    return { ...answer, headers: { ...headers, ...answer.headers }, project: caller.projectId };
  } catch (error) {
    return { ...failure(options.api, error, requestId, headers), ...(project === undefined ? {} : { project }) };
  } finally {
    leave();
  }
}

/** What oslo's middleware responds to load balancers. */
function healthOf(isReady: boolean): Answer {
  const reasons = [isReady ? "OK" : "The management cluster is being read"];
  return { status: isReady ? 200 : 503, body: { detailed: false, reasons } };
}

/** A place for a request of the project, before its body is read. @throws MagnumError 429, 503 */
function enter(underWay: UnderWay, project: string): () => void {
  const place = underWay.enter(project);
  if ("leave" in place) return place.leave;
  const headers = { "retry-after": "1" };
  if (place.full === "server") throw new MagnumError(503, "The server has too many requests under way.", { headers });
  throw new MagnumError(
    429,
    `The project has ${place.limit} requests under way, which is the limit: wait for their responses.`,
    { headers },
  );
}

function split(url: string): readonly string[] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}

/**
 * The path below /v1, also of a path without a version; undefined: the root. Its segments are as they were sent: names
 * may have slashes.
 */
function unversioned(path: string): string | undefined {
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.length === 0) return undefined;
  const below = segments[0] === "v1" ? segments.slice(1) : segments;
  try {
    for (const segment of below) decodeURIComponent(segment);
    return below.join("/");
  } catch {
    throw unrouted(404, "Not Found");
  }
}

function requireMethod(method: string, allowed: readonly string[]): void {
  if (!allowed.includes(method))
    throw unrouted(405, "Method Not Allowed", "", { allow: allowed.toSorted().join(", ") });
}

async function authenticate({ tokens, rates, api }: RespondOptions, request: Request): Promise<Caller> {
  const token = request.header("x-auth-token");
  if (token === undefined || token === "") throw unauthorized(api);
  const verdict = await tokens.verify(token);
  if ("refused" in verdict) {
    if (verdict.final) throw unauthorized(api);
    throw new MagnumError(503, "The Keystone service is temporarily unavailable.", { code: "" });
  }
  const wait = rates.take(verdict.user.projectId);
  if (wait !== undefined)
    throw new MagnumError(429, "The project sends too many requests.", { headers: { "retry-after": String(wait) } });
  return { ...verdict.user, token };
}

class Unauthorized extends MagnumError {}

function unauthorized({ keystone }: Api): MagnumError {
  const headers = { "www-authenticate": `Keystone uri="${keystone.authUrl}"` };
  return new Unauthorized(401, "The request you have made requires authentication.", { headers });
}

interface Dispatched {
  readonly request: Request;
  readonly caller: Caller;
  readonly minor: number;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string>;
}

async function dispatch({ api }: RespondOptions, given: Dispatched): Promise<Answer> {
  const { request, caller, minor, path, query, headers } = given;
  const found = routeOf(path);
  if (found === undefined) throw plainly(headers, unrouted(404, "Not Found"));
  const { route, names } = found;
  const handler = Object.hasOwn(route.methods, request.method) ? route.methods[request.method] : undefined;
  if (handler === undefined) {
    const allow = Object.keys(route.methods).toSorted().join(", ");
    throw plainly(headers, unrouted(405, "Method Not Allowed", "", { allow }));
  }
  if (route.since !== undefined && minor < route.since) {
    const why = `Version 1.${minor} was requested but the requested API ${request.method.toLowerCase()} is not supported for this version.`;
    throw plainly(headers, unrouted(406, "Not Acceptable", why));
  }
  const body = readBody(await request.body(), request.method);
  if (body === undefined && (request.method === "POST" || (request.method === "PATCH" && needsBody(route.path))))
    throw invalid(`Missing argument: "${argumentOf(route.path)}"`);
  const call = {
    method: request.method,
    caller,
    minor,
    names,
    query: new URLSearchParams(query),
    body,
    origin: request.origin,
    signal: request.signal,
  };
  return audited(api, call, auditedAction(route.path, request.method), () => handler(api, call));
}

const needsBody = (path: string) => !path.startsWith("certificates/") && !path.startsWith("credentials/");

function argumentOf(path: string): string {
  if (path.endsWith("resize")) return "cluster_resize_req";
  if (path.endsWith("upgrade")) return "cluster_upgrade_req";
  const names: Readonly<Record<string, string>> = {
    clusters: "cluster",
    clustertemplates: "cluster_template",
    certificates: "certificate",
    quotas: "quota",
    federations: "federation",
  };
  return (
    names[path] ?? (path.endsWith("nodegroups") ? "nodegroup" : path.startsWith("quotas/") ? "quotapatch" : "patch")
  );
}

/** What routing refuses has no headers of a version. */
function plainly(headers: Record<string, string>, error: MagnumError): MagnumError {
  for (const name of Object.keys(headers)) if (name !== "x-openstack-request-id") delete headers[name];
  return error;
}

function readBody(bytes: Buffer, method: string): unknown {
  if (bytes.length === 0 || method === "GET" || method === "DELETE") return undefined;
  try {
    return parseBoundedJson(bytes.toString("utf8"), DEEPEST);
  } catch {
    throw invalid("Request is not in valid JSON format");
  }
}

function failure(api: Api, error: unknown, requestId: string, headers: Record<string, string>): Answer {
  if (error instanceof Unauthorized) {
    const body = { error: { code: 401, title: "Unauthorized", message: error.message } };
    return { status: 401, headers: { "x-openstack-request-id": requestId, ...error.headers }, body };
  }
  if (error instanceof MagnumError)
    return { status: error.status, headers: { ...headers, ...error.headers }, body: errorBody(error) };
  if (error instanceof LimitExceeded) {
    const refusal = new MagnumError(413, "The request is larger than the server accepts.");
    return { status: 413, headers: { ...headers, connection: "close" }, body: errorBody(refusal) };
  }
  api.log.error("a request to the Magnum API failed", { requestId, error: messageOf(error) });
  const away = isUnreachable(error);
  const answer = new MagnumError(
    away ? 503 : 500,
    away
      ? "The management cluster is temporarily unavailable."
      : "The server failed to process the request; its log has the reason under the request id.",
  );
  return { status: answer.status, headers, body: errorBody(answer) };
}
