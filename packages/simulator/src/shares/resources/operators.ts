import { pool } from "../rules/export-locations.ts";
import { requireAdmin, typeId, type ShareApp, type ShareContext, type ShareParts } from "../model.ts";
import { poolCapabilities } from "../rules/scheduling.ts";

const [host = "", poolName = ""] = pool.split("#");
const [machine = "", backend = ""] = host.split("@");

/** The zone; and for operators the service's processes and its one pool. */
export function mountOperators(app: ShareApp, parts: ShareParts): void {
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
    const asked = (one: Readonly<Record<string, unknown>>) =>
      ["binary", "host", "zone", "status", "state"].every((field) =>
        [undefined, one[field]].includes(c.req.query(field)),
      );
    const services = [
      { id: 1, binary: "manila-scheduler", host: machine, ...running },
      { id: 2, binary: "manila-share", host, ...running },
    ];
    return c.json({
      services: services.filter(asked),
    });
  });
  const brief = { name: pool, host: machine, backend, pool: poolName };
  const pools = (c: ShareContext) =>
    Object.entries(brief).every(([field, value]) => [undefined, value].includes(c.req.query(field))) ? [brief] : [];
  app.get("/v2/scheduler-stats/pools", (c) => {
    requireAdmin(c);
    return c.json({ pools: pools(c) });
  });
  app.get("/v2/scheduler-stats/pools/detail", (c) => {
    requireAdmin(c);
    const used = parts.shares.all().reduce((sum, { size }) => sum + size, 0);
    return c.json({ pools: pools(c).map((one) => ({ ...one, capabilities: poolCapabilities(used) })) });
  });
}
