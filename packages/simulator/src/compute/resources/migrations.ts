import { requireAdmin, zones, type ComputeApp, type ComputeParts, type Migration } from "../model.ts";
import { serverOf } from "./servers.ts";

/** GET /os-migrations and /servers/ID/migrations: where servers moved. Administrators only. */
export function mountMigrations(app: ComputeApp, parts: ComputeParts): void {
  const { tables } = parts;
  app.get("/v2.1/os-migrations", (c) => {
    requireAdmin(c.get("caller"), "os-migrations:index");
    const query = new URL(c.req.url).searchParams;
    const found = tables.migrations.all().filter((row) => wanted(row, query));
    return c.json({ migrations: found.toReversed().map((row) => view(row, c.get("minor"))) });
  });
  app.get("/v2.1/servers/:id/migrations", (c) => {
    requireAdmin(c.get("caller"), "servers:migrations:index");
    serverOf(c, parts);
    // Only live migrations on their way are listed here.
    return c.json({ migrations: [] });
  });
}

function wanted(row: Migration, query: URLSearchParams): boolean {
  const has = (name: string, value: string) => !query.has(name) || query.get(name) === value;
  const host = zones[row.zone] ?? "";
  const same = has("instance_uuid", row.server_id) && has("status", row.status) && has("migration_type", row.type);
  return (
    same &&
    has("host", host) &&
    has("source_compute", host) &&
    has("user_id", row.user_id) &&
    has("project_id", row.project_id)
  );
}

function view(row: Migration, minor: number) {
  const host = zones[row.zone] ?? "";
  const time = (stamp: string) => stamp.replace(/Z$/, ".000000");
  return {
    id: row.number,
    source_compute: host,
    dest_compute: host,
    source_node: host,
    dest_node: host,
    dest_host: "192.168.0.1",
    old_instance_type_id: Number(row.old_flavor) || 0,
    new_instance_type_id: Number(row.new_flavor) || 0,
    instance_uuid: row.server_id,
    status: row.status,
    created_at: time(row.created_at),
    updated_at: time(row.updated_at),
    ...(minor >= 23 ? { migration_type: row.type } : {}),
    ...(minor >= 59 ? { uuid: row.id } : {}),
    ...(minor >= 80 ? { user_id: row.user_id, project_id: row.project_id } : {}),
  };
}
