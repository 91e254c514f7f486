import { at, bodyOf, textAt } from "../../kernel/json.ts";
import { fixedId } from "../kit/fixed-id.ts";
import { computeError, requireAdmin, zones, type ComputeApp, type ComputeParts, type HostState } from "../model.ts";
import { hostOf, type ComputeContext } from "../views.ts";

/** The hosts that servers run on, as large as the real ones say they are. */
export const hostSize = { vcpus: 1000, memory_mb: 800_000, local_gb: 600_000 } as const;

/** One process of Nova somewhere. */
interface HostService {
  readonly number: number;
  readonly binary: string;
  readonly host: string;
  readonly zone: string;
}

/** The processes that `os-services` lists: a compute service for each zone, and two of the controller. */
export const hostServices: readonly HostService[] = [
  { number: 1, binary: "nova-scheduler", host: "controller", zone: "internal" },
  { number: 2, binary: "nova-conductor", host: "controller", zone: "internal" },
  ...Object.entries(zones).map(([zone, host], place) => ({ number: place + 4, binary: "nova-compute", host, zone })),
];

const hypervisors = Object.entries(zones).map(([zone, host], place) => ({ number: place + 1, zone, host }));

const stateOf = ({ tables }: ComputeParts, host: string): HostState =>
  tables.hosts.get(host) ?? { id: host, disabled: false, reason: null, forced_down: false };

const micros = (kernel: ComputeParts["kernel"]) => kernel.timestamp().replace(/Z$/, ".000000");

/** Hypervisors, Nova's services and the zones they make. */
export function mountHosts(app: ComputeApp, parts: ComputeParts): void {
  mountServices(app, parts);
  mountHypervisors(app, parts);
  mountZones(app, parts);
}

function mountServices(app: ComputeApp, parts: ComputeParts): void {
  const { tables } = parts;
  const view = (service: HostService, minor: number) => {
    const state = stateOf(parts, service.host);
    return {
      binary: service.binary,
      host: service.host,
      id: minor >= 53 ? fixedId(1, service.number) : service.number,
      zone: service.zone,
      status: state.disabled && service.binary === "nova-compute" ? "disabled" : "enabled",
      state: state.forced_down ? "down" : "up",
      updated_at: micros(parts.kernel),
      disabled_reason: service.binary === "nova-compute" ? state.reason : null,
      ...(minor >= 11 ? { forced_down: state.forced_down } : {}),
    };
  };
  app.get("/v2.1/os-services", (c) => {
    requireAdmin(c.get("caller"), "os-services:list");
    const { host, binary } = c.req.query();
    const found = hostServices.filter((s) => (host ?? s.host) === s.host && (binary ?? s.binary) === s.binary);
    return c.json({ services: found.map((service) => view(service, c.get("minor"))) });
  });
  const change = (host: string, change: Partial<HostState>) => {
    const row = stateOf(parts, host);
    if (tables.hosts.get(host)) tables.hosts.update(host, change);
    else tables.hosts.insert({ ...row, ...change });
  };
  // From 2.53 a service is named by its id; before by host and binary in the body.
  app.put("/v2.1/os-services/:id", async (c) => {
    const body = await bodyOf(c.req);
    requireAdmin(c.get("caller"), "os-services:update");
    const id = c.req.param("id");
    const service =
      c.get("minor") >= 53
        ? hostServices.find((s) => fixedId(1, s.number) === id)
        : hostServices.find((s) => s.host === textAt(body, "host") && s.binary === textAt(body, "binary"));
    if (!service) throw computeError(404, `Service ${id} could not be found.`);
    const status = c.get("minor") >= 53 ? textAt(body, "status") : id.replace(/^(enable|disable).*$/, "$1d");
    if (status !== undefined) {
      const reason = textAt(body, "disabled_reason") ?? null;
      if (status === "enabled" && reason !== null) {
        throw computeError(400, "Specifying 'disabled_reason' when status is 'enabled' is invalid.");
      }
      change(service.host, { disabled: status === "disabled", reason });
    }
    const down = at(body, "forced_down");
    if (down !== undefined) change(service.host, { forced_down: down === true || down === "True" });
    return c.json({ service: view(service, c.get("minor")) });
  });
}

function mountHypervisors(app: ComputeApp, parts: ComputeParts): void {
  type Hypervisor = (typeof hypervisors)[number];
  const serversOn = (host: string) => parts.tables.servers.all().filter((server) => hostOf(server) === host);
  const brief = ({ number, host }: Hypervisor, minor: number) => ({
    id: minor >= 53 ? fixedId(2, number) : number,
    hypervisor_hostname: host,
    state: stateOf(parts, host).forced_down ? "down" : "up",
    status: stateOf(parts, host).disabled ? "disabled" : "enabled",
  });
  const full = (hypervisor: Hypervisor, minor: number) => ({
    ...brief(hypervisor, minor),
    hypervisor_type: "fake",
    hypervisor_version: 1000,
    host_ip: "127.0.0.1",
    service: {
      id: minor >= 53 ? fixedId(1, hypervisor.number + 3) : hypervisor.number + 3,
      host: hypervisor.host,
      disabled_reason: stateOf(parts, hypervisor.host).reason,
    },
    ...(minor >= 88 ? { uptime: null } : useOf(serversOn(hypervisor.host))),
    ...(minor >= 28 && minor < 88 ? { cpu_info: cpu } : minor < 28 ? { cpu_info: JSON.stringify(cpu) } : {}),
  });
  const withServers = (hypervisor: Hypervisor) => ({
    servers: serversOn(hypervisor.host).map((server) => ({
      name: `instance-${server.number.toString(16).padStart(8, "0")}`,
      uuid: server.id,
    })),
  });
  const list = (c: ComputeContext, view: (hypervisor: Hypervisor, minor: number) => object) => {
    requireAdmin(c.get("caller"), `os-hypervisors:${view === full ? "list-detail" : "list"}`);
    const minor = c.get("minor");
    const pattern = c.req.query("hypervisor_hostname_pattern");
    const found = hypervisors.filter(({ host }) => host.includes(pattern ?? ""));
    if (found.length === 0) throw computeError(404, `No hypervisor matching '${pattern}' could be found.`);
    const details = /^(true|1)$/i.test(c.req.query("with_servers") ?? "") ? withServers : () => ({});
    return c.json({ hypervisors: found.map((one) => ({ ...view(one, minor), ...details(one) })) });
  };
  app.get("/v2.1/os-hypervisors", (c) => list(c, brief));
  app.get("/v2.1/os-hypervisors/detail", (c) => list(c, full));
  app.get("/v2.1/os-hypervisors/statistics", (c) => {
    requireAdmin(c.get("caller"), "os-hypervisors:statistics");
    if (c.get("minor") >= 88) throw computeError(404, "The resource could not be found.");
    const all = hypervisors.map(({ host }) => useOf(serversOn(host)));
    const sums = Object.fromEntries(
      Object.keys(all[0] ?? {}).map((key) => [key, all.reduce((n, one) => n + Number(one[key]), 0)]),
    );
    return c.json({ hypervisor_statistics: { count: all.length, ...sums } });
  });
  const hypervisorOf = (c: ComputeContext) => {
    const id = c.req.param("id") ?? "";
    const found = hypervisors.find(({ number }) => id === (c.get("minor") >= 53 ? fixedId(2, number) : String(number)));
    if (!found) throw computeError(404, `Hypervisor with ID '${id}' could not be found.`);
    return found;
  };
  app.get("/v2.1/os-hypervisors/:id", (c) => {
    requireAdmin(c.get("caller"), "os-hypervisors:show");
    if (c.get("minor") >= 53 && !/^[0-9a-f-]{36}$/.test(c.req.param("id"))) {
      throw computeError(400, `Invalid uuid ${c.req.param("id")}`);
    }
    const found = hypervisorOf(c);
    const details = /^(true|1)$/i.test(c.req.query("with_servers") ?? "") ? withServers(found) : {};
    return c.json({ hypervisor: { ...full(found, c.get("minor")), ...details } });
  });
  app.get("/v2.1/os-hypervisors/:id/uptime", (c) => {
    requireAdmin(c.get("caller"), "os-hypervisors:uptime");
    hypervisorOf(c);
    throw computeError(501, "The requested functionality is not supported.");
  });
  app.get("/v2.1/os-hypervisors/:pattern/:what{search|servers}", (c) => {
    requireAdmin(c.get("caller"), `os-hypervisors:${c.req.param("what")}`);
    const pattern = c.req.param("pattern");
    const found = hypervisors.filter(({ host }) => host.includes(pattern));
    if (found.length === 0) throw computeError(404, `No hypervisor matching '${pattern}' could be found.`);
    const details = c.req.param("what") === "servers" ? withServers : () => ({});
    return c.json({ hypervisors: found.map((one) => ({ ...brief(one, c.get("minor")), ...details(one) })) });
  });
}

const cpu = {
  arch: "x86_64",
  model: "Nehalem",
  vendor: "Intel",
  features: ["pge", "clflush"],
  topology: { cores: 1, threads: 1, sockets: 4 },
};

/** What servers take of their host; the host itself keeps half a GiB. */
function useOf(
  servers: readonly { readonly flavor: { readonly vcpus: number; readonly ram: number; readonly disk: number } }[],
): Readonly<Record<string, number>> {
  const sum = (of: (flavor: { vcpus: number; ram: number; disk: number }) => number) =>
    servers.reduce((total, { flavor }) => total + of(flavor), 0);
  const [vcpus, ram, disk] = [sum((f) => f.vcpus), sum((f) => f.ram) + 512, sum((f) => f.disk)];
  return {
    ...hostSize,
    vcpus_used: vcpus,
    memory_mb_used: ram,
    local_gb_used: disk,
    free_ram_mb: hostSize.memory_mb - ram,
    free_disk_gb: hostSize.local_gb - disk,
    current_workload: 0,
    running_vms: servers.length,
    disk_available_least: 0,
  };
}

function mountZones(app: ComputeApp, { kernel }: ComputeParts): void {
  const names = Object.keys(zones).sort();
  const available = { available: true };
  app.get("/v2.1/os-availability-zone", (c) =>
    c.json({ availabilityZoneInfo: names.map((zoneName) => ({ zoneName, zoneState: available, hosts: null })) }),
  );
  app.get("/v2.1/os-availability-zone/detail", (c) => {
    requireAdmin(c.get("caller"), "os-availability-zone:detail");
    const alive = { available: true, active: true, updated_at: micros(kernel) };
    const availabilityZoneInfo = [...names, "internal"].sort().map((zoneName) => {
      const hosts: Record<string, Record<string, object>> = {};
      for (const { binary, host } of hostServices.filter((service) => service.zone === zoneName))
        (hosts[host] ??= {})[binary] = alive;
      return { zoneName, zoneState: available, hosts };
    });
    return c.json({ availabilityZoneInfo });
  });
}
