import { InputError, messageOf, readTextFile } from "@causeway/foundation";
import { parse } from "yaml";
import { normalName } from "../preface/client-hello.ts";
import type { Route, Routes } from "./routes.ts";

const LARGEST_FILE = 4 * 2 ** 20;

/**
 * Routes of a file, for API servers that no Service leads to:
 *
 *     routes:
 *       - { serverName: web.api.example.org, tenant: web, host: 10.0.0.5, port: 6443 }
 *
 * @throws GATEWAY_ROUTES_INVALID
 */
export function readRoutes(path: string): ReadonlyMap<string, Route> {
  let document: unknown;
  try {
    document = parse(readTextFile(path, LARGEST_FILE), { maxAliasCount: 0 });
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause);
  }
  const rows = (document as { routes?: unknown } | null)?.routes;
  if (!Array.isArray(rows)) throw invalid(path, "it has no list `routes`");
  const routes = new Map<string, Route>();
  rows.forEach((row: unknown, index) => {
    const [name, route] = readRow(row) ?? [];
    if (name === undefined || route === undefined)
      throw invalid(path, `routes[${index}] needs serverName (a DNS name), tenant, host and port`);
    if (routes.has(name)) throw invalid(path, `routes[${index}]: ${name} is listed twice`);
    routes.set(name, route);
  });
  return routes;
}

function readRow(row: unknown): readonly [string, Route] | undefined {
  if (typeof row !== "object" || row === null) return undefined;
  const { serverName, tenant, host, port } = row as Record<string, unknown>;
  if (typeof serverName !== "string" || typeof tenant !== "string" || typeof host !== "string") return undefined;
  if (typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const name = normalName(Buffer.from(serverName, "utf8"));
  return name === undefined || tenant === "" || host === "" ? undefined : [name, { tenant, host, port }];
}

/** The routes of a file that can be read again; one that cannot be read leaves those of before. */
export function fileRoutes(path: string): Routes & { reread(): void } {
  let routes = readRoutes(path);
  return {
    find: (serverName) => routes.get(serverName),
    ready: true,
    reread() {
      routes = readRoutes(path);
    },
  };
}

function invalid(path: string, why: string, cause?: unknown): InputError {
  return new InputError("GATEWAY_ROUTES_INVALID", `the routes in ${path} cannot be used: ${why}`, {
    hint: "See docs/reference/api-gateway.md for the format.",
    cause,
  });
}
