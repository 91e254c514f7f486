import type { IncomingMessage } from "node:http";
import { performance } from "node:perf_hooks";
import type { Cluster } from "../contract/cluster.ts";
import type { Route } from "../contract/cluster-metrics.ts";
import { isTrue, type RequestInfo } from "../contract/request-info.ts";
import type { Response } from "../contract/exchange.ts";

/** A request that is counted. */
export interface Observed {
  readonly cluster: Cluster;
  readonly method: string;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  /** performance.now() when it came. */
  readonly began: number;
  /** Milliseconds it spent in webhooks and queues, added to while it is served. */
  waited: number;
}

const COMMON_METHODS = new Set(["GET", "LIST", "WATCH", "POST", "PUT", "PATCH", "APPLY", "DELETE", "CONNECT"]);
const CONNECTED = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Counts a request from here to the end of its response. */
export function observe(observed: Observed, response: Response): void {
  const { requests } = observed.cluster.metrics;
  const route = routeOf(observed);
  const isLong = route.verb === "WATCH" || route.verb === "CONNECT";
  const kind = { request_kind: isMutating(observed.method) ? "mutating" : "readOnly" };
  if (isLong) requests.longRunning.add(1, route);
  else requests.inflight.add(1, kind);
  response.once("close", () => {
    if (isLong) requests.longRunning.add(-1, route);
    else requests.inflight.add(-1, kind);
    ended(observed, route, response);
  });
}

function ended({ cluster, query, began, waited }: Observed, route: Route, response: Response): void {
  cluster.metrics.requestEnded(route, {
    code: response.statusCode,
    dryRun: dryRunOf(query),
    seconds: (performance.now() - began) / 1000,
    waited: waited / 1000,
    bytes: response.bytesSent ?? 0,
  });
}

/** Counts a request that was refused to protect the server, and throws what says so. */
export function terminated(
  { catalog, metrics }: Cluster,
  refused: {
    request: Pick<IncomingMessage, "method" | "headers">;
    info: RequestInfo;
    query: URLSearchParams;
    error: unknown;
  },
): never {
  const { request, info, query, error } = refused;
  const contentType = request.headers["content-type"];
  if (!info.isResource || catalog.find(info.group, info.version, info.plural)) {
    const route = routeOf({ method: request.method ?? "GET", info: { ...info, subresource: "" }, query, contentType });
    metrics.requests.terminations.increment({ ...route, subresource: "", code: "429" });
  }
  throw error;
}

/** What a request is counted under, as kube-apiserver's endpoint metrics are. */
export function routeOf({ method, info, query, contentType }: Omit<Observed, "cluster" | "began" | "waited">): Route {
  const scope = scopeOf(info);
  const verb = verbOf({ method, info, query, contentType }, scope);
  if (!info.isResource) {
    const none = { group: "", version: "", resource: "", scope, component: "" };
    return { ...none, verb, subresource: info.path };
  }
  const { group, version, plural: resource, subresource } = info;
  return { verb, group, version, resource, subresource, scope, component: "apiserver" };
}

function verbOf(
  { method, info, query, contentType }: Omit<Observed, "cluster" | "began" | "waited">,
  scope: string,
): string {
  if (info.isResource && CONNECTED.has(info.subresource)) return "CONNECT";
  const isRead = method === "GET" || method === "HEAD";
  if (isRead && isTrue(query.get("watch"))) return "WATCH";
  if (isRead) return scope === "resource" || scope === "" ? "GET" : "LIST";
  if (method === "PATCH" && contentType?.startsWith("application/apply-patch")) return "APPLY";
  return COMMON_METHODS.has(method) ? method : "other";
}

function scopeOf({ isResource, name, namespace, verb }: RequestInfo): string {
  if (name !== "" || verb === "create") return "resource";
  if (namespace !== "") return "namespace";
  return isResource ? "cluster" : "";
}

function dryRunOf(query: URLSearchParams): string {
  const asked = query.getAll("dryRun");
  if (asked.length === 0) return "";
  return asked.every((d) => d === "All") ? "All" : "invalid";
}

function isMutating(method: string): boolean {
  return method !== "GET" && method !== "HEAD";
}
