import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Log } from "@causeway/foundation";
import { authenticate, type CertificateUsers } from "../auth/authenticate.ts";
import { refusal } from "../auth/authorize.ts";
import type { Attributes, Authorize } from "../auth/attributes.ts";
import { impersonated } from "../auth/impersonate.ts";
import type { User } from "../auth/user.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Served } from "../kinds/resource.ts";
import { readBody } from "./body.ts";
import { serveReview } from "../auth/reviews.ts";
import { requestInfo, type RequestInfo } from "./request-info.ts";
import { serveResource } from "./resources.ts";
import { isAcceptable, send, sendStatus, sendText, wantedForm, type Response } from "./respond.ts";
import { servePath } from "./paths.ts";
import { isNoSuchPath, methodNotAllowed, noSuchPath, noSuchResource, notAcceptable, statusOf } from "./status.ts";
import { nodeRestriction } from "../auth/node-restriction.ts";

export type Request = IncomingMessage | Http2ServerRequest;

/** A logical cluster with what answering its requests needs. */
export interface ServedCluster {
  readonly cluster: Cluster;
  readonly authorize: Authorize;
  /** Aborts when the cluster is served no longer; its watches end then. */
  readonly closing: AbortSignal;
  /** The rules that hold for a user, for SelfSubjectRulesReview. */
  rulesFor(user: User, namespace: string): readonly Record<string, unknown>[];
}

export interface Handling {
  /** The cluster a path belongs to, and the path below it; undefined when there is none. */
  route(path: string): { served: ServedCluster; path: string } | undefined;
  readonly log: Log;
}

const PLAIN = "text/plain; charset=utf-8";
const NO_BODY = new Set(["GET", "HEAD"]);

/** The one way of every request: route, authenticate, authorize, read, serve. */
export function requestHandler(handling: Handling): (request: Request, response: Response) => void {
  const certificates: CertificateUsers = new WeakMap();
  return (request, response) => {
    serve(handling, certificates, request, response).catch((error: unknown) => {
      const status = statusOf(error);
      if (status.code >= 500 && status.code !== 504) {
        handling.log.error("request failed", { method: request.method, status: status.code, error });
      }
      if (response.headersSent) response.end();
      else if (isNoSuchPath(status)) sendText(response, 404, { type: PLAIN, body: `${status.message ?? ""}\n` });
      else sendStatus(response, status);
    });
  };
}

async function serve(
  handling: Handling,
  certificates: CertificateUsers,
  request: Request,
  response: Response,
): Promise<void> {
  const url = new URL(request.url ?? "/", "https://host");
  const routed = handling.route(url.pathname);
  if (!routed) throw noSuchPath();
  const { served, path } = routed;
  const { cluster } = served;
  const { method = "GET", headers } = request as IncomingMessage;
  const query = url.searchParams;
  const info = requestInfo(method, path, query);
  const wanted = wantedForm(headers.accept ?? "", [headers["accept-encoding"] ?? ""].flat().join());
  const socket = "stream" in request ? request.stream.session?.socket : request.socket;
  const asker = await authenticate(cluster, { socket, authorization: headers.authorization }, certificates);
  const user = impersonated(served, asker, headers);
  const asked = attributesOf(user, info, query);
  const decision = served.authorize(asked);
  if (!decision.allowed) throw refusal(asked, decision.reason);
  const body = NO_BODY.has(method) ? undefined : await readBody(request, cluster.catalog.tables);
  if (!info.isResource) return servePath({ cluster, path, query, user, wanted, closing: served.closing }, response);
  const found = cluster.catalog.find(info.group, info.version, info.plural);
  if (!found) throw isServed(cluster, info) ? noSuchResource() : noSuchPath();
  if (!isInScope(found, info)) throw noSuchResource();
  if (!isAcceptable(headers.accept ?? "")) throw notAcceptable();
  const review = await serveReview(served, { found, info, user, body });
  if (review) return send(response, 201, review, wanted);
  nodeRestriction(cluster, { user, info, body });
  return serveResource(
    {
      cluster,
      info,
      served: found,
      user,
      query,
      body,
      contentType: headers["content-type"],
      userAgent: headers["user-agent"] ?? "",
      wanted,
      closing: served.closing,
    },
    response,
  );
}

/** A group and version that has built-in kinds: others end where the path does. */
function isServed({ catalog }: Cluster, { group, version }: RequestInfo): boolean {
  const isIn = ({ versions }: Served["resource"]): boolean => versions.some((v) => v.name === version);
  return catalog.all().some((r) => !r.custom && r.group === group && isIn(r));
}

/** A namespaced resource is written within its namespace; others stand outside of any. */
function isInScope({ resource }: Served, info: RequestInfo): boolean {
  if (!resource.namespaced) return info.namespace === "" || resource.plural === "namespaces";
  if (info.namespace !== "") return true;
  if (info.name !== "") return false;
  if (info.verb !== "list" && info.verb !== "watch") throw methodNotAllowed(resource);
  return true;
}

function attributesOf(user: User, info: RequestInfo, query: URLSearchParams): Attributes {
  const { verb, namespace, group, version, plural, subresource, name } = info;
  const common = { user, verb, namespace, group, version, plural, subresource, name };
  if (!info.isResource) return { ...common, path: info.path };
  const fieldSelector = query.get("fieldSelector");
  return fieldSelector === null ? common : { ...common, fieldSelector };
}
