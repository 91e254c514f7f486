import { accountDiscovery } from "../auth/account-discovery.ts";
import type { User } from "../contract/user.ts";
import type { Cluster } from "../contract/cluster.ts";
import { aggregated, coreVersions, group, groupList, resourceList } from "../discovery/discovery.ts";
import { mergedDiscovery, mergedGroup, mergedGroups, mergedSwagger } from "../discovery/merge.ts";
import { openApiV2, openApiV3, openApiV3Index } from "../discovery/open-api.ts";
import { OPENAPI_PROTOBUF, writeOpenApiV2 } from "../discovery/open-api-protobuf.ts";
import { flowDump } from "../flow/debug.ts";
import type { FlowControl } from "../flow/flow-control.ts";
import { record, type Json } from "../json/json.ts";
import { renderMetrics } from "../metrics/render.ts";
import { send, sendText, type Wanted } from "./respond.ts";
import type { Response } from "../contract/exchange.ts";
import { healthEndpoint, healthPaths, serveHealth } from "./health.ts";
import { noSuchPath, noSuchResource } from "../errors/status.ts";

/** A request for something that is not a resource: discovery, OpenAPI, health, metrics, /version. */
export interface PathRequest {
  readonly cluster: Cluster;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly wanted: Wanted;
  readonly closing: AbortSignal;
  readonly flow: FlowControl;
}

/** Answers what is no resource: health, metrics, version, discovery, OpenAPI. Throws 404 in plain text. */
export function servePath(request: PathRequest, response: Response): void | Promise<void> {
  const health = healthEndpoint(request.path);
  if (health) return serveHealth(health, request, response);
  if (request.path === "/metrics") return serveMetrics(request, response);
  const dump = flowDump(request.path, request.flow);
  if (dump !== undefined) return sendText(response, 200, { type: "text/plain", body: dump });
  const path = request.path.length > 1 ? request.path.replace(/\/+$/, "") : request.path;
  if (path === "/api" || path === "/apis") return serveRoot(path.slice(1) as "api", request, response);
  const discovery = accountDiscovery(request.cluster, path);
  if (discovery) return sendText(response, 200, { ...discovery, cache: "public, max-age=3600" });
  if (path === "/openapi/v2" && request.wanted.accept.includes(OPENAPI_PROTOBUF.asked)) {
    const answer = (document: Json): void => {
      const body = writeOpenApiV2(document);
      sendText(response, 200, { type: OPENAPI_PROTOBUF.answered, body, gzip: request.wanted.gzip });
    };
    const document = swagger(request.cluster);
    return document instanceof Promise ? document.then(answer) : answer(document);
  }
  if (path === "/openapi/v2") {
    const document = swagger(request.cluster);
    if (document instanceof Promise) return document.then((all) => send(response, 200, all, request.wanted));
  }
  const document = documentAt(path, request);
  if (!document) throw isKnownGroup(path, request) ? noSuchResource() : noSuchPath();
  send(response, 200, document, request.wanted);
}

async function serveMetrics({ cluster, flow }: PathRequest, response: Response): Promise<void> {
  sendText(response, 200, await renderMetrics(cluster, flow));
}

/** The discovery roots answer in three forms: unaggregated, v2, v2beta1. */
function serveRoot(root: "api" | "apis", { cluster, wanted }: PathRequest, response: Response): void {
  response.setHeader("vary", "Accept");
  const version = /g=apidiscovery\.k8s\.io/.test(wanted.accept) ? /v=(v2beta1|v2)/.exec(wanted.accept)?.[1] : undefined;
  if (version) {
    const type = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
    const local = aggregated(cluster.catalog, root, version);
    const body = JSON.stringify(root === "api" ? local : mergedDiscovery(local, cluster.aggregation.discovered()));
    return sendText(response, 200, { type, body, gzip: wanted.gzip });
  }
  const host = cluster.url().replace(/^https:\/\//, "");
  send(
    response,
    200,
    root === "api" ? coreVersions(host) : mergedGroups(groupList(cluster.catalog), cluster.aggregation.discovered()),
    wanted,
  );
}

/** The resource of an unserved version of a served group is an unknown resource. */
function isKnownGroup(path: string, { cluster }: PathRequest): boolean {
  const [root, group = ""] = path.split("/").slice(1);
  return root === "api" || (root === "apis" && cluster.catalog.isBuiltInGroup(group) && group !== "");
}

function documentAt(path: string, { cluster }: PathRequest): Json | undefined {
  if (path === "/version") return versionOf(cluster);
  if (path === "/openapi/v2") return openApiV2(cluster.catalog, cluster.version);
  if (path === "/openapi/v3") return openApiIndex(cluster);
  const [root, a = "", b = "", ...more] = path.split("/").slice(1);
  if (root === "openapi") return openApiV3(cluster.catalog, path.replace("/openapi/v3/", ""));
  if (path === "/") return { paths: rootPaths(cluster) };
  if (root === "api") return b === "" ? resourceList(cluster.catalog, "", a) : undefined;
  if (root !== "apis" || more.length > 0) return undefined;
  return b === ""
    ? mergedGroup(group(cluster.catalog, a), a, cluster.aggregation.discovered())
    : resourceList(cluster.catalog, a, b);
}

/** With the documents of extensions, which may have to be read first. */
function swagger({ catalog, version, aggregation }: Cluster): Json | Promise<Json> {
  const local = openApiV2(catalog, version);
  const extensions = aggregation.discovered().map(({ extension }) => extension);
  if (extensions.length === 0) return local;
  const read = extensions.map(async (extension) => {
    const document = await aggregation.document(extension, "/openapi/v2");
    return document ? [{ prefix: `/apis/${extension.group}/${extension.version}`, document }] : [];
  });
  return Promise.all(read).then((found) => mergedSwagger(local, found.flat()));
}

/** Requests for the documents of extensions are passed on. */
function openApiIndex({ catalog, aggregation }: Cluster): Json {
  const local = openApiV3Index(catalog);
  const more = aggregation.discovered().map(({ extension: { group: name, version } }) => {
    const at = `apis/${name}/${version}`;
    return [at, { serverRelativeURL: `/openapi/v3/${at}` }] as const;
  });
  return more.length === 0 ? local : { ...local, paths: { ...record(local["paths"]), ...Object.fromEntries(more) } };
}

function versionOf({ version }: Cluster): Json {
  const [, major = "1", minor = "34"] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Math.max(0, Number(minor) - 1)),
    gitVersion: version,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}

function rootPaths({ catalog }: Cluster): string[] {
  const groups = new Set<string>();
  for (const { group: name, versions } of catalog.all()) {
    if (name === "") continue;
    groups.add(`/apis/${name}`);
    for (const version of versions) groups.add(`/apis/${name}/${version.name}`);
  }
  const fixed = [
    "/api",
    "/api/v1",
    "/apis",
    "/apis/",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/version",
  ];
  return [...fixed, ...groups, ...healthPaths()].toSorted();
}
