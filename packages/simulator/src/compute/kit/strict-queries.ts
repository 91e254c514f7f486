import type { MiddlewareHandler } from "hono";
import { computeError } from "../model.ts";

const hypervisors = "limit marker hypervisor_hostname_pattern with_servers";
const flavors = "limit marker is_public minRam minDisk sort_key sort_dir";

/**
 * Parameters that a list takes, from the microversion on that refuses all others.
 * https://docs.openstack.org/api-ref/compute/
 */
const lists: readonly (readonly [path: RegExp, from: number, taken: string])[] = [
  [/^\/flavors(?:\/detail)?$/, 75, flavors],
  [/^\/os-server-groups$/, 75, "all_projects limit offset"],
  [/^\/os-hypervisors(?:\/detail)?$/, 75, hypervisors],
  [/^\/os-services$/, 75, "host binary"],
  [/^\/os-keypairs$/, 75, "user_id limit marker"],
  [/^\/servers\/[^/]+\/os-volume_attachments$/, 75, "limit offset"],
];
const migrations =
  "hidden host instance_uuid source_compute status migration_type limit marker changes-since changes-before";

/** Refuses parameters that a list does not take, as Nova does since it checks the queries of lists. */
export function strictQueries(): MiddlewareHandler {
  return async (c, next) => {
    const taken = takenBy(c.req.path.replace(/^.*?\/v2\.1/, ""), Number(c.get("minor")));
    const unknown = taken && [...new Set(new URL(c.req.url).searchParams.keys())].filter((name) => !taken.has(name));
    if (c.req.method === "GET" && unknown && unknown.length > 0) {
      const names = unknown.map((name) => `'${name}'`).join(", ");
      const were = unknown.length === 1 ? "was" : "were";
      throw computeError(400, `Additional properties are not allowed (${names} ${were} unexpected)`);
    }
    await next();
  };
}

function takenBy(path: string, minor: number): ReadonlySet<string> | undefined {
  if (path === "/os-migrations" && minor >= 59) {
    return new Set(`${migrations}${minor >= 80 ? " user_id project_id" : ""}`.split(" "));
  }
  const found = lists.find(([pattern, from]) => minor >= from && pattern.test(path));
  return found && new Set(found[2].split(" "));
}
