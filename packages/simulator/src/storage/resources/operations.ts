import { computeError } from "../../compute/model.ts";
import { everyProject } from "../../kernel/settings.ts";
import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import { storageZones, type StorageApp, type StorageParts } from "../model.ts";
import { mountMessages } from "./messages.ts";
import { mountQos } from "./qos.ts";
import { defaultLimits, fieldsOf } from "../rules/quota.ts";
import { requireStorageAdmin } from "./types.ts";
import { mine } from "./volumes.ts";

const host = "storage-1@simulated";
const services = [
  { binary: "cinder-scheduler", host: "storage-1", zone: "nova" },
  { binary: "cinder-volume", host, zone: "nova" },
  { binary: "cinder-volume", host: "storage-1@simulated-az2", zone: "az2" },
];

/** What an operator reads: services, pools, hosts, default quotas, QoS specs; and a project's summary and messages. */
export function mountOperations(app: StorageApp, parts: StorageParts): void {
  mountServices(app, parts);
  mountLists(app);
  mountQuotaClasses(app, parts);
  mountQos(app, parts);
  mountMessages(app, parts);
  app.get("/v3/:project/volumes/summary", (c) => {
    const { projectId } = c.get("caller");
    const volumes = mine(c) ? parts.tables.volumes.by("project_id", projectId) : parts.tables.volumes.all();
    const metadata: Record<string, string[]> = {};
    for (const volume of volumes) {
      for (const [key, value] of Object.entries(volume.metadata)) {
        metadata[key] = [...new Set([...(metadata[key] ?? []), value])];
      }
    }
    const total_size = volumes.reduce((sum, volume) => sum + volume.size, 0);
    const more = c.get("minor") >= 36 ? { metadata } : {};
    return c.json({ "volume-summary": { total_count: volumes.length, total_size, ...more } });
  });
  app.get("/v3/:project/extensions", (c) => {
    const names = ["AdminActions", "Hosts", "Quotas", "Services", "TypesManage", "UsedLimits", "VolumeTypeAccess"];
    const extensions = names.map((name) => ({
      name,
      alias: `os-${name.toLowerCase()}`,
      description: name,
      updated: "2012-08-25T00:00:00+00:00",
      links: [],
    }));
    return c.json({ extensions });
  });
}

/** What lists may be filtered by, as Cinder's own file of it says. */
const filters: Readonly<Record<string, readonly string[]>> = {
  volume: [
    "name",
    "status",
    "metadata",
    "bootable",
    "migration_status",
    "availability_zone",
    "group_id",
    "size",
    "created_at",
    "updated_at",
    "consumes_quota",
  ],
  backup: ["name", "status", "volume_id"],
  snapshot: ["name", "status", "volume_id", "metadata", "availability_zone", "consumes_quota"],
  group: ["name"],
  group_snapshot: ["name", "status", "group_id"],
  attachment: ["volume_id", "status", "instance_id", "attach_status"],
  message: ["resource_uuid", "resource_type", "event_id", "request_id", "message_level"],
  pool: ["name", "volume_type"],
  volume_type: ["is_public", "extra_specs"],
};

/** Filters (3.33), and the groups of before 3.13, of which there are none and can be none any more. */
function mountLists(app: StorageApp): void {
  app.get("/v3/:project/resource_filters", (c) => {
    if (c.get("minor") < 33) throw computeError(404, "The resource could not be found.");
    const asked = c.req.query("resource");
    const all = Object.entries(filters).filter(([resource]) => asked === undefined || asked === resource);
    return c.json({ resource_filters: all.map(([resource, names]) => ({ resource, filters: names })) });
  });
  app.on("GET", ["/v3/:project/consistencygroups", "/v3/:project/consistencygroups/detail"], (c) =>
    c.json({ consistencygroups: [] }),
  );
}

function mountServices(app: StorageApp, { tables }: StorageParts): void {
  const pool = "storage-1@simulated#pool";
  app.get("/v3/:project/os-services", (c) => {
    requireStorageAdmin(c, "volume_extension:services:index");
    const [binary, on] = [c.req.query("binary"), c.req.query("host")];
    const views = services
      .filter((s) => (binary === undefined || s.binary === binary) && (on === undefined || s.host.startsWith(on)))
      .map((s) => ({
        ...s,
        status: "enabled",
        state: "up",
        updated_at: "2026-01-01T00:00:00.000000",
        disabled_reason: null,
      }));
    return c.json({ services: views });
  });
  app.put("/v3/:project/os-services/:action", async (c) => {
    requireStorageAdmin(c, "volume_extension:services:update");
    const body = await bodyOf(c.req);
    const [on, binary, action] = [textAt(body, "host"), textAt(body, "binary"), c.req.param("action")];
    const isKnown = ["enable", "disable", "disable-log-reason", "freeze", "thaw", "failover_host"].includes(action);
    if (!isKnown) throw computeError(404, "Unknown action");
    if (action === "disable-log-reason" && (textAt(body, "disabled_reason") ?? "") === "") {
      throw computeError(400, "Missing required element 'disabled_reason' in request body.");
    }
    if (on === undefined) throw computeError(400, "'host' is a required property");
    const service = services.find((s) => s.host === on && (binary === undefined || s.binary === binary));
    if (!service) {
      const why =
        binary === undefined
          ? `Service ${on} could not be found.`
          : `Service ${binary} could not be found on host ${on}.`;
      throw computeError(action === "freeze" || action === "thaw" ? 400 : 404, why);
    }
    const status = action.startsWith("disable") ? "disabled" : "enabled";
    return c.json({ ...service, service: service.binary, status, disabled: status === "disabled" });
  });
  app.get("/v3/:project/scheduler-stats/get_pools", (c) => {
    requireStorageAdmin(c, "scheduler_extension:scheduler_stats:get_pools");
    const detail = /^true$/i.test(c.req.query("detail") ?? "");
    const capabilities = {
      volume_backend_name: "simulated",
      total_capacity_gb: "infinite",
      free_capacity_gb: "infinite",
      allocated_capacity_gb: 0,
      driver_version: "1.0",
      storage_protocol: "fake",
      QoS_support: false,
      vendor_name: "Open Source",
      timestamp: "2026-01-01T00:00:00.000000",
    };
    const asked = c.req.query("name");
    const pools = asked === undefined || asked === pool ? [{ name: pool, ...(detail ? { capabilities } : {}) }] : [];
    return c.json({ pools });
  });
  app.get("/v3/:project/capabilities/:host", (c) => {
    requireStorageAdmin(c, "volume_extension:capabilities");
    return c.json({
      namespace: `OS::Storage::Capabilities::${c.req.param("host")}`,
      vendor_name: "Open Source",
      volume_backend_name: "simulated",
      pool_name: null,
      driver_version: "1.0",
      storage_protocol: "fake",
      display_name: null,
      description: null,
      visibility: null,
      replication_targets: [],
      properties: {},
    });
  });
  app.get("/v3/:project/os-hosts", (c) => {
    requireStorageAdmin(c, "volume_extension:hosts");
    const zone = c.req.query("zone");
    const asked = services.filter((s) => zone === undefined || s.zone === zone);
    const hosts = asked.map((s) => ({
      service: s.binary,
      host_name: s.host,
      zone: s.zone,
      "service-status": "available",
      "service-state": "enabled",
      "last-update": "2026-01-01T00:00:00.000000",
    }));
    return c.json({ hosts });
  });
  app.get("/v3/:project/os-hosts/:host", (c) => {
    requireStorageAdmin(c, "volume_extension:hosts");
    const name = c.req.param("host");
    if (!services.some((s) => s.host === name)) throw computeError(404, `Host ${name} could not be found.`);
    const volumes = tables.volumes.all();
    const resource = {
      host: name,
      project: "(total)",
      volume_count: String(volumes.length),
      total_volume_gb: String(volumes.reduce((sum, v) => sum + v.size, 0)),
      total_snapshot_gb: "0",
      snapshot_count: String(tables.snapshots.all().length),
    };
    return c.json({ host: [{ resource }] });
  });
  app.get("/v3/:project/os-availability-zone", (c) =>
    c.json({ availabilityZoneInfo: storageZones.map((zoneName) => ({ zoneName, zoneState: { available: true } })) }),
  );
}

/** Default limits: what holds for every project that has none of its own. There is one class, whatever it is called. */
function mountQuotaClasses(app: StorageApp, parts: StorageParts): void {
  const { kernel } = parts;
  const path = "/v3/:project/os-quota-class-sets/:name";
  app.get(path, (c) => {
    requireStorageAdmin(c, "volume_extension:quota_classes:get");
    return c.json({ quota_class_set: { id: c.req.param("name"), ...defaultLimits(parts) } });
  });
  app.put(path, async (c) => {
    requireStorageAdmin(c, "volume_extension:quota_classes:update");
    const given = at(await bodyOf(c.req), "quota_class_set");
    if (!isObject(given)) throw computeError(400, "'quota_class_set' is a required property");
    for (const field of fieldsOf(parts)) {
      if (given[field] !== undefined) kernel.setQuota(everyProject, field, Number(given[field]));
    }
    return c.json({ quota_class_set: defaultLimits(parts) });
  });
}
