import { computeError } from "../compute/model.ts";
import { defaultQuotas } from "../kernel/settings.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../kernel/json.ts";
import type { Table } from "../kernel/interface.ts";
import { storageZones, type StorageApp, type StorageParts } from "./model.ts";
import { quotaFields } from "./quota.ts";
import { requireStorageAdmin } from "./types.ts";
import type { StorageContext } from "./views.ts";
import { mine } from "./volumes.ts";

const host = "storage-1@simulated";
const services = [
  { binary: "cinder-scheduler", host: "storage-1", zone: "nova" },
  { binary: "cinder-volume", host, zone: "nova" },
  { binary: "cinder-volume", host: "storage-1@simulated-az2", zone: "az2" },
];

interface QosSpecs {
  readonly id: string;
  readonly name: string;
  readonly consumer: string;
  readonly specs: Readonly<Record<string, string>>;
}

/** What an operator asks: services, pools, hosts, default quotas, QoS specs; and a project's summary and messages. */
export function addOperationRoutes(app: StorageApp, parts: StorageParts): void {
  addServiceRoutes(app, parts);
  addQuotaClassRoutes(app);
  addQosRoutes(app, parts);
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
  app.get("/v3/:project/messages", (c) => c.json({ messages: [] }));
  app.get("/v3/:project/messages/:id", (c) => {
    throw computeError(404, `Message ${c.req.param("id")} could not be found.`);
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

function addServiceRoutes(app: StorageApp, { tables }: StorageParts): void {
  const pool = "storage-1@simulated#pool";
  app.get("/v3/:project/os-services", (c) => {
    requireStorageAdmin(c, "volume_extension:services:index");
    const [binary, on] = [c.req.query("binary"), c.req.query("host")];
    const told = services
      .filter((s) => (binary === undefined || s.binary === binary) && (on === undefined || s.host.startsWith(on)))
      .map((s) => ({
        ...s,
        status: "enabled",
        state: "up",
        updated_at: "2026-01-01T00:00:00.000000",
        disabled_reason: null,
      }));
    return c.json({ services: told });
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
    if (!service)
      throw computeError(action === "freeze" || action === "thaw" ? 400 : 404, `Service ${on} could not be found.`);
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
    return c.json({ pools: [{ name: pool, ...(detail ? { capabilities } : {}) }] });
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
    const hosts = services.map((s) => ({
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

/** Default limits as they are: they are told, and a change is answered and not kept. */
function addQuotaClassRoutes(app: StorageApp): void {
  const path = "/v3/:project/os-quota-class-sets/:name";
  const defaults = () => Object.fromEntries(quotaFields.map((field) => [field, defaultQuotas[field] ?? -1]));
  app.get(path, (c) => {
    requireStorageAdmin(c, "volume_extension:quota_classes:get");
    return c.json({ quota_class_set: { id: c.req.param("name"), ...defaults() } });
  });
  app.put(path, async (c) => {
    requireStorageAdmin(c, "volume_extension:quota_classes:update");
    const given = at(await bodyOf(c.req), "quota_class_set");
    if (!isObject(given)) throw computeError(400, "'quota_class_set' is a required property");
    return c.json({ quota_class_set: { ...defaults(), ...given } });
  });
}

function addQosRoutes(app: StorageApp, parts: StorageParts): void {
  const { kernel, tables } = parts;
  const table: Table<QosSpecs> = kernel.table("_qos_specs", ["name"]);
  const path = "/v3/:project/qos-specs";
  const found = (c: StorageContext): QosSpecs => {
    requireStorageAdmin(c, "volume_extension:qos_specs_manage:get");
    const id = c.req.param("id") ?? "";
    const specs = table.get(id);
    if (!specs) throw computeError(404, `No such QoS spec ${id}.`);
    return specs;
  };
  const texts = (given: JsonObject) =>
    Object.fromEntries(
      Object.entries(given)
        .filter(([key]) => key !== "name" && key !== "consumer")
        .map(([key, value]) => [key, String(value)]),
    );
  app.get(path, (c) => {
    requireStorageAdmin(c, "volume_extension:qos_specs_manage:get_all");
    return c.json({ qos_specs: table.all() });
  });
  app.post(path, async (c) => {
    requireStorageAdmin(c, "volume_extension:qos_specs_manage:create");
    const given = at(await bodyOf(c.req), "qos_specs");
    const name = textAt(given, "name");
    if (!isObject(given) || name === undefined) throw computeError(400, "'name' is a required property");
    if (table.by("name", name).length > 0) throw computeError(409, `QoS Specs ${name} already exists.`);
    const consumer = textAt(given, "consumer") ?? "back-end";
    return c.json({ qos_specs: table.insert({ id: kernel.newId(), name, consumer, specs: texts(given) }) });
  });
  app.get(`${path}/:id`, (c) => c.json({ qos_specs: found(c) }));
  app.put(`${path}/:id`, async (c) => {
    const given = at(await bodyOf(c.req), "qos_specs");
    const { id, specs } = found(c);
    if (!isObject(given)) throw computeError(400, "'qos_specs' is a required property");
    table.update(id, { specs: { ...specs, ...texts(given) } });
    return c.json({ qos_specs: given });
  });
  app.put(`${path}/:id/delete_keys`, async (c) => {
    const keys = at(await bodyOf(c.req), "keys");
    const { id, specs } = found(c);
    const gone = new Set(Array.isArray(keys) ? keys.map(String) : []);
    table.update(id, { specs: Object.fromEntries(Object.entries(specs).filter(([key]) => !gone.has(key))) });
    return c.body(null, 202);
  });
  app.delete(`${path}/:id`, (c) => {
    table.remove(found(c).id);
    return c.body(null, 202);
  });
  app.get(`${path}/:id/associations`, (c) => {
    const { id } = found(c);
    const types = tables.types.all().filter((type) => type.qos_specs_id === id);
    return c.json({
      qos_associations: types.map((t) => ({ association_type: "volume_type", name: t.name, id: t.id })),
    });
  });
  const associate = (to: boolean) => (c: StorageContext) => {
    const { id } = found(c);
    const type = tables.types.get(c.req.query("vol_type_id") ?? "");
    if (!type) throw computeError(404, `Volume type ${c.req.query("vol_type_id") ?? ""} could not be found.`);
    tables.types.update(type.id, { qos_specs_id: to ? id : null });
    return c.body(null, 202);
  };
  app.get(`${path}/:id/associate`, associate(true));
  app.get(`${path}/:id/disassociate`, associate(false));
  app.get(`${path}/:id/disassociate_all`, (c) => {
    const { id } = found(c);
    for (const type of tables.types.all())
      if (type.qos_specs_id === id) tables.types.update(type.id, { qos_specs_id: null });
    return c.body(null, 202);
  });
}
