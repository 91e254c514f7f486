import { computeError, requireAdmin, type ComputeApp, type ComputeParts, type Server } from "../model.ts";
import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import { invalid, isUuid } from "../rules/create-request.ts";
import { hostSize, hostServices } from "./hosts.ts";
import { pythonRepr } from "../../kernel/python.ts";
import { requireState } from "./server-devices.ts";
import { serverOf } from "./servers.ts";
import { hostOf, type ComputeContext } from "../views.ts";

const hostsGoneAt = 43;

/** Host and server diagnostics for administrators, and events that other services report. */
export function mountHostReports(app: ComputeApp, parts: ComputeParts): void {
  addHosts(app, parts);
  addAuditLog(app, parts);
  addDiagnostics(app, parts);
  addExternalEvents(app, parts);
}

function addHosts(app: ComputeApp, parts: ComputeParts): void {
  const known = (c: ComputeContext, rule: string) => {
    if (c.get("minor") >= hostsGoneAt) throw computeError(404, "The resource could not be found.");
    requireAdmin(c.get("caller"), `os-hosts:${rule}`);
    return c.req.param("host") ?? "";
  };
  app.get("/v2.1/os-hosts", (c) => {
    known(c, "list");
    const zone = c.req.query("zone");
    const found = hostServices.filter((service) => !zone || service.zone === zone);
    const hosts = found.map(({ binary, host, zone: of }) => ({
      host_name: host,
      service: binary.slice("nova-".length),
      zone: of,
    }));
    return c.json({ hosts });
  });
  app.get("/v2.1/os-hosts/:host", (c) => {
    const host = known(c, "show");
    requireComputeHost(host);
    const servers = parts.tables.servers.all().filter((server) => hostOf(server) === host);
    const projects = [...new Set(servers.map((server) => server.project_id))];
    const { vcpus: cpu, memory_mb, local_gb: disk_gb } = hostSize;
    const used = sumOf(servers);
    const rows = [
      { project: "(total)", cpu, memory_mb, disk_gb },
      { project: "(used_now)", ...used, memory_mb: used.memory_mb + 512 },
      { project: "(used_max)", ...used },
      ...projects.map((project) => ({ project, ...sumOf(servers.filter((one) => one.project_id === project)) })),
    ];
    return c.json({ host: rows.map((row) => ({ resource: { host, ...row } })) });
  });
  app.put("/v2.1/os-hosts/:host", async (c) => {
    const body = await bodyOf(c.req);
    const host = known(c, "update");
    checkHostChange(body);
    requireComputeHost(host);
    const [status, mode] = [textAt(body, "status"), textAt(body, "maintenance_mode")];
    return c.json({
      host,
      ...(status === undefined ? {} : { status: `${status.toLowerCase()}d` }),
      ...(mode === undefined ? {} : { maintenance_mode: mode === "enable" ? "on_maintenance" : "off_maintenance" }),
    });
  });
  app.get("/v2.1/os-hosts/:host/:action{startup|shutdown|reboot}", (c) => {
    const power_action = c.req.param("action");
    const host = known(c, power_action);
    requireComputeHost(host);
    return c.json({ host, power_action });
  });
}

function requireComputeHost(host: string): void {
  if (hostServices.some((service) => service.host === host && service.binary === "nova-compute")) return;
  throw computeError(404, `Compute host ${host} could not be found.`);
}

function checkHostChange(body: unknown): void {
  const given = isObject(body) ? body : {};
  if (Object.keys(given).length === 0) throw invalid("", body, "{} does not have enough properties");
  const allowed: Readonly<Record<string, readonly string[]>> = {
    status: ["enable", "disable"],
    maintenance_mode: ["enable", "disable"],
  };
  for (const [field, value] of Object.entries(given)) {
    const words = allowed[field];
    if (!words) {
      const why = `Additional properties are not allowed (${pythonRepr(field)} was unexpected)`;
      throw invalid("", body, why);
    }
    if (typeof value !== "string" || !words.includes(value.toLowerCase())) {
      throw invalid(field, value, `${pythonRepr(value)} is not one of ${pythonRepr(words)}`);
    }
  }
}

function sumOf(servers: readonly Server[]): { cpu: number; memory_mb: number; disk_gb: number } {
  const sum = (of: (server: Server) => number) => servers.reduce((total, server) => total + of(server), 0);
  return {
    cpu: sum(({ flavor }) => flavor.vcpus),
    memory_mb: sum(({ flavor }) => flavor.ram),
    disk_gb: sum(({ flavor }) => flavor.disk),
  };
}

/** No host of this cloud audits its servers' usage: the log of every period is empty, and no host has written it. */
function addAuditLog(app: ComputeApp, { kernel }: ComputeParts): void {
  const hosts = hostServices.filter(({ binary }) => binary === "nova-compute").map(({ host }) => host);
  const log = (before: Date) => {
    const text = (year: number, month: number) =>
      new Date(Date.UTC(year, month)).toISOString().slice(0, 19).replace("T", " ");
    const [year, month] = [before.getUTCFullYear(), before.getUTCMonth()];
    return {
      period_beginning: text(year, month - 1),
      period_ending: text(year, month),
      num_hosts: hosts.length,
      num_hosts_done: 0,
      num_hosts_running: 0,
      num_hosts_not_run: hosts.length,
      hosts_not_run: hosts,
      total_instances: 0,
      total_errors: 0,
      overall_status: `0 of ${hosts.length} hosts done. 0 errors.`,
      log: {},
    };
  };
  app.get("/v2.1/os-instance_usage_audit_log", (c) => {
    requireAdmin(c.get("caller"), "os-instance-usage-audit-log:list");
    return c.json({ instance_usage_audit_logs: log(new Date(kernel.clock.now())) });
  });
  app.get("/v2.1/os-instance_usage_audit_log/:before", (c) => {
    requireAdmin(c.get("caller"), "os-instance-usage-audit-log:show");
    const before = c.req.param("before");
    if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$/.test(before)) {
      throw computeError(400, `Invalid timestamp for date ${before}`);
    }
    return c.json({ instance_usage_audit_log: log(new Date(`${before.replace(" ", "T")}Z`)) });
  });
}

/** What the fake hypervisor reports for every server. */
function addDiagnostics(app: ComputeApp, parts: ComputeParts): void {
  app.get("/v2.1/servers/:id/diagnostics", (c) => {
    requireAdmin(c.get("caller"), "os-server-diagnostics");
    const server = serverOf(c, parts);
    requireState(
      server,
      ["active", "paused", "suspended", "stopped", "rescued", "resized", "error"],
      "get_diagnostics",
    );
    return c.json(c.get("minor") >= 48 ? diagnostics : oldDiagnostics);
  });
}

const oldDiagnostics = {
  cpu0_time: 17_300_000_000,
  memory: 524_288,
  vda_errors: -1,
  vda_read: 262_144,
  vda_read_req: 112,
  vda_write: 5_778_432,
  vda_write_req: 488,
  vnet1_rx: 2_070_139,
  vnet1_rx_drop: 0,
  vnet1_rx_errors: 0,
  vnet1_rx_packets: 26_701,
  vnet1_tx: 140_208,
  vnet1_tx_drop: 0,
  vnet1_tx_errors: 0,
  vnet1_tx_packets: 662,
};

const diagnostics = {
  config_drive: true,
  state: "running",
  driver: "libvirt",
  hypervisor: "kvm",
  hypervisor_os: "ubuntu",
  uptime: 46_664,
  num_cpus: 1,
  num_nics: 1,
  num_disks: 1,
  cpu_details: [{ id: 0, time: 17_300_000_000, utilisation: 15 }],
  nic_details: [
    {
      mac_address: "01:23:45:67:89:ab",
      rx_octets: 2_070_139,
      rx_errors: 100,
      rx_drop: 200,
      rx_packets: 26_701,
      rx_rate: 300,
      tx_octets: 140_208,
      tx_errors: 400,
      tx_drop: 500,
      tx_packets: 662,
      tx_rate: 600,
    },
  ],
  disk_details: [
    { read_bytes: 262_144, read_requests: 112, write_bytes: 5_778_432, write_requests: 488, errors_count: 1 },
  ],
  memory_details: { maximum: 524_288, used: 0 },
};

/** Each event gets its own code; the response is 207 when some events could not be delivered to a host. */
function addExternalEvents(app: ComputeApp, parts: ComputeParts): void {
  app.post("/v2.1/os-server-external-events", async (c) => {
    const body = await bodyOf(c.req);
    requireAdmin(c.get("caller"), "os-server-external-events:create");
    const given = at(body, "events");
    if (!Array.isArray(given)) throw invalid("", body, "'events' is a required property");
    const events = given.map((event: unknown) => {
      const [name, uuid] = [textAt(event, "name"), textAt(event, "server_uuid")];
      if (name === undefined || !isUuid(uuid)) throw invalid("events", event, "'name' and 'server_uuid' are needed");
      const server = parts.tables.servers.get(uuid);
      const code = server === undefined ? 404 : hostOf(server) === null ? 422 : 200;
      const status = textAt(event, "status") ?? "completed";
      const tag = textAt(event, "tag");
      const tagged = tag === undefined ? {} : { tag };
      return { name, server_uuid: uuid, ...tagged, status: code === 200 ? status : "failed", code };
    });
    if (events.length > 0 && events.every(({ code }) => code !== 200)) {
      throw computeError(404, "No instances found for any event");
    }
    return c.json({ events }, events.every(({ code }) => code === 200) ? 200 : 207);
  });
}
