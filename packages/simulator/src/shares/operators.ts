import { pool } from "./locations.ts";
import { requireAdmin, typeId, type ShareApp, type ShareParts } from "./model.ts";
import { poolCapabilities } from "./scheduling.ts";

const [host = "", poolName = ""] = pool.split("#");
const [machine = "", backend = ""] = host.split("@");

/** The zone; and for operators the service's processes and its one pool. */
export function addOperatorRoutes(app: ShareApp, parts: ShareParts): void {
  // Before 2.7 by its old name.
  app.on("GET", ["/v2/availability-zones", "/v2/os-availability-zone"], (c) =>
    c.json({
      availability_zones: [{ id: typeId, name: "nova", created_at: "2026-01-01T00:00:00.000000", updated_at: null }],
    }),
  );
  app.get("/v2/services", (c) => {
    requireAdmin(c);
    const updated_at = new Date(parts.kernel.clock.now()).toISOString().slice(0, 23) + "000";
    const running = { zone: "nova", status: "enabled", state: "up", updated_at };
    const asked = (field: string, value: string) => [undefined, value].includes(c.req.query(field));
    const services = [
      { id: 1, binary: "manila-scheduler", host: machine, ...running },
      { id: 2, binary: "manila-share", host, ...running },
    ];
    return c.json({
      services: services.filter((one) => asked("binary", one.binary) && asked("host", one.host)),
    });
  });
  const brief = { name: pool, host: machine, backend, pool: poolName };
  app.get("/v2/scheduler-stats/pools", (c) => {
    requireAdmin(c);
    return c.json({ pools: [undefined, backend].includes(c.req.query("backend")) ? [brief] : [] });
  });
  app.get("/v2/scheduler-stats/pools/detail", (c) => {
    requireAdmin(c);
    const used = parts.shares.all().reduce((sum, { size }) => sum + size, 0);
    const pools = [undefined, backend].includes(c.req.query("backend")) ? [brief] : [];
    return c.json({ pools: pools.map((one) => ({ ...one, capabilities: poolCapabilities(used) })) });
  });
}
