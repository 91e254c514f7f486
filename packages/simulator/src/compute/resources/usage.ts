import { computeError, denied, requireAdmin, type ComputeApp, type ComputeParts, type Server } from "../model.ts";

/** GET /os-simple-tenant-usage: what projects' servers took, hour by hour. Servers that are gone are not counted. */
export function mountUsage(app: ComputeApp, { kernel, tables }: ComputeParts): void {
  const span = (url: string) => {
    const query = new URL(url).searchParams;
    const now = kernel.clock.now();
    const [from, to] = [instant(query.get("start")) ?? now, instant(query.get("end")) ?? now];
    if (from > to) throw computeError(400, "Invalid start time. The start time cannot occur after the end time.");
    return { from, to: Math.min(to, now) };
  };
  app.get("/v2.1/os-simple-tenant-usage", (c) => {
    requireAdmin(c.get("caller"), "os-simple-tenant-usage:list");
    const when = span(c.req.url);
    const detailed = c.req.query("detailed") === "1";
    const projects = [...new Set(tables.servers.all().map((server) => server.project_id))];
    const tenant_usages = projects.map((id) => usage(tables.servers.by("project_id", id), { id, ...when, detailed }));
    return c.json({ tenant_usages });
  });
  app.get("/v2.1/os-simple-tenant-usage/:project", (c) => {
    const id = c.req.param("project");
    if (!c.get("caller").isAdmin && id !== c.get("caller").projectId) {
      throw denied("os_compute_api:os-simple-tenant-usage:show");
    }
    const servers = tables.servers.by("project_id", id);
    const when = span(c.req.url);
    return c.json({
      tenant_usage: servers.length === 0 ? {} : usage(servers, { id, ...when, detailed: true }),
    });
  });
}

function instant(text: string | null): number | undefined {
  if (text === null) return undefined;
  const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  if (Number.isNaN(time)) throw computeError(400, `Datetime is in invalid format`);
  return time;
}

interface Span {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly detailed: boolean;
}

function usage(servers: readonly Server[], { id, from, to, detailed }: Span) {
  const rows = servers.map((server) => {
    const began = Math.max(from, Date.parse(server.launched_at ?? server.created));
    return { server, hours: Math.max(0, to - began) / 3_600_000 };
  });
  const sum = (of: (server: Server) => number) => rows.reduce((total, row) => total + of(row.server) * row.hours, 0);
  const text = (time: number) => new Date(time).toISOString().replace("Z", "000");
  const details = rows.map(({ server, hours }) => ({
    instance_id: server.id,
    name: server.name,
    hours,
    tenant_id: server.project_id,
    flavor: server.flavor.name,
    memory_mb: server.flavor.ram,
    local_gb: server.flavor.disk,
    vcpus: server.flavor.vcpus,
    started_at: server.created.replace("Z", ".000000"),
    ended_at: null,
    state: server.vm_state,
    uptime: Math.round((to - Date.parse(server.created)) / 1000),
  }));
  return {
    tenant_id: id,
    total_local_gb_usage: sum((server) => server.flavor.disk),
    total_vcpus_usage: sum((server) => server.flavor.vcpus),
    total_memory_mb_usage: sum((server) => server.flavor.ram),
    total_hours: sum(() => 1),
    start: text(from),
    stop: text(to),
    ...(detailed ? { server_usages: details } : {}),
  };
}
