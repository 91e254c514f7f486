import { Hono, type Context } from "hono";
import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import type { Kernel, Service } from "../kernel/interface.ts";
import type { VolumeLinks } from "../kernel/volume-links.ts";
import { microversions } from "../compute/microversion.ts";
import { computeError, denied, notFoundPage } from "../compute/model.ts";
import { addAttachmentRoutes } from "./attachments.ts";
import { addBackupRoutes } from "./backups.ts";
import { Volumes } from "./lifecycle.ts";
import { pageOf } from "./list.ts";
import { defaultType, instantOf, snapshotFor, storageTables, volumeFor } from "./model.ts";
import type { Snapshot, StorageApp, StorageParts } from "./model.ts";
import { defaultLimits, fieldsOf, storageUsage } from "./quota.ts";
import { addGroupSnapshotRoutes } from "./group-snapshots.ts";
import { addGroupRoutes } from "./groups.ts";
import { addMetadataRoutes } from "./metadata.ts";
import { addOperationRoutes } from "./operations.ts";
import { addSnapshotActions } from "./snapshot-actions.ts";
import { addTransferRoutes } from "./transfers.ts";
import { addTypeRoutes } from "./types.ts";
import { addVolumeActions } from "./volume-actions.ts";
import { snapshotView, storageRoot, type StorageContext } from "./views.ts";
import { addVolumeRoutes, describing, labels, mine } from "./volumes.ts";

/**
 * Cinder v3, https://docs.openstack.org/api-ref/block-storage/v3/ : volumes, snapshots, backups, attachments, types,
 * limits. No bytes.
 */
export function createStorageService(kernel: Kernel): Service & { readonly links: VolumeLinks } {
  const parts: StorageParts = { kernel, tables: storageTables(kernel) };
  const volumes = new Volumes(parts);
  seedTypes(parts);
  const app: StorageApp = new Hono();
  app.get("/", (c) => c.json({ versions: [version(c)] }, 300));
  app.get("/v3/", (c) => c.json({ versions: [version(c)] }));
  app.use("/v3/:project/*", microversions({ type: "volume", major: 3, minimum: 0, maximum: 70 }));
  app.use("/v3/:project/*", async (c, next) => {
    const { projectId, isAdmin } = c.get("caller");
    const project = c.req.param("project");
    if (project !== projectId && !isAdmin) throw computeError(400, `Malformed request url`);
    await next();
  });
  addOperationRoutes(app, parts);
  addVolumeRoutes(app, parts, volumes);
  addVolumeActions(app, parts, volumes);
  addMetadataRoutes(app, parts);
  addTransferRoutes(app, parts);
  const groups = addGroupRoutes(app, parts, volumes);
  addGroupSnapshotRoutes(app, parts, { ...groups, volumes });
  addAttachmentRoutes(app, parts);
  addBackupRoutes(app, parts, volumes);
  addSnapshotRoutes(app, parts, volumes);
  addSnapshotActions(app, parts, volumes);
  addTypeRoutes(app, parts);
  addLimitRoutes(app, parts);
  app.all("*", () => {
    throw notFoundPage();
  });
  return {
    type: "volumev3",
    name: "cinderv3",
    catalogPath: "/v3/{project_id}",
    open: ["", "/", "/v3/"],
    app: app as unknown as Service["app"],
    links: volumes,
  };
}

const version = (c: Context) => ({
  id: "v3.0",
  status: "CURRENT",
  version: "3.70",
  min_version: "3.0",
  updated: "2022-08-31T00:00:00Z",
  links: [
    { rel: "describedby", type: "text/html", href: "https://docs.openstack.org/" },
    { rel: "self", href: `${storageRoot(c)}/v3/` },
  ],
  "media-types": [{ base: "application/json", type: "application/vnd.openstack.volume+json;version=3" }],
});

function seedTypes({ kernel, tables }: StorageParts): void {
  if (tables.types.all().length > 0) return;
  tables.types.insert({ id: kernel.newId(), name: defaultType, description: "Default Volume Type" });
  tables.types.insert({ id: kernel.newId(), name: "fast", description: "second volume type" });
}

function addSnapshotRoutes(app: StorageApp, { kernel, tables }: StorageParts, volumes: Volumes): void {
  const base = "/v3/:project/snapshots";
  const list = (c: StorageContext, full: boolean) => {
    const all = mine(c) ? tables.snapshots.by("project_id", c.get("caller").projectId) : tables.snapshots.all();
    const { page, next } = pageOf(c, all, (id) => snapshotFor(tables, c.get("caller"), id), "snapshot");
    const links = next ? { snapshots_links: [{ rel: "next", href: next }] } : {};
    return c.json({ snapshots: page.map((snapshot) => snapshotView(c, snapshot, full)), ...links });
  };
  app.get(base, (c) => list(c, false));
  app.get(`${base}/detail`, (c) => list(c, true));
  app.post(base, async (c) => {
    const given = at(await bodyOf(c.req), "snapshot");
    if (!isObject(given)) throw computeError(400, "'snapshot' is a required property");
    const volume = volumeFor(tables, c.get("caller"), textAt(given, "volume_id") ?? "");
    const inUse = volume.status === "in-use" && (given["force"] === true || c.get("minor") >= 66);
    if (volume.status !== "available" && !inUse) {
      const why = `Volume ${volume.id} status must be available, but current status is: ${volume.status}.`;
      throw computeError(400, `Invalid volume: ${why}`);
    }
    const described = { name: textAt(given, "name") ?? null, description: textAt(given, "description") ?? null };
    const asked = { ...described, metadata: labels(given["metadata"] ?? {}) };
    const snapshot: Snapshot = volumes.createSnapshot(c.get("caller"), volume, asked);
    return c.json({ snapshot: snapshotView(c, snapshot) }, 202);
  });
  app.get(`${base}/:id`, (c) => {
    return c.json({ snapshot: snapshotView(c, snapshotFor(tables, c.get("caller"), c.req.param("id")), true) });
  });
  app.put(`${base}/:id`, async (c) => {
    const given = at(await bodyOf(c.req), "snapshot");
    const { id } = snapshotFor(tables, c.get("caller"), c.req.param("id"));
    const change = { ...describing(given), updated_at: instantOf(kernel) };
    return c.json({ snapshot: snapshotView(c, tables.snapshots.update(id, change)) });
  });
  app.delete(`${base}/:id`, (c) => {
    const snapshot = snapshotFor(tables, c.get("caller"), c.req.param("id"));
    if (!/^(available|error)$/.test(snapshot.status) || snapshot.group_snapshot_id !== undefined) {
      const why = "Snapshot status must be available or error, and must not be part of a group snapshot.";
      throw computeError(400, `Invalid snapshot: ${why}`);
    }
    volumes.deleteSnapshot(snapshot);
    return c.body(null, 202);
  });
}

function addLimitRoutes(app: StorageApp, parts: StorageParts): void {
  const { kernel } = parts;
  app.get("/v3/:project/limits", (c) => {
    const project = c.get("caller").projectId;
    const used = storageUsage(parts, project);
    const absolute = {
      maxTotalVolumes: kernel.quota(project, "volumes"),
      maxTotalSnapshots: kernel.quota(project, "snapshots"),
      maxTotalVolumeGigabytes: kernel.quota(project, "gigabytes"),
      maxTotalBackups: kernel.quota(project, "backups"),
      maxTotalBackupGigabytes: kernel.quota(project, "backup_gigabytes"),
      totalVolumesUsed: used.volumes,
      totalGigabytesUsed: used.gigabytes,
      totalSnapshotsUsed: used.snapshots,
      totalBackupsUsed: used.backups,
      totalBackupGigabytesUsed: used.backup_gigabytes,
    };
    return c.json({ limits: { rate: [], absolute } });
  });
  const path = "/v3/:project/os-quota-sets/:target";
  app.get(path, (c) => {
    const target = c.req.param("target");
    if (target !== c.get("caller").projectId && !c.get("caller").isAdmin) throw denied("volume_extension:quotas:show");
    const used: Readonly<Record<string, number>> = { ...storageUsage(parts, target) };
    const usage = /^true$/i.test(c.req.query("usage") ?? "");
    const values = fieldsOf(parts).map((field) => {
      const limit = kernel.quota(target, field);
      return [field, usage ? { limit, in_use: used[field] ?? 0, reserved: 0 } : limit] as const;
    });
    return c.json({ quota_set: { ...Object.fromEntries(values), id: target } });
  });
  app.get(`${path}/defaults`, (c) => {
    return c.json({ quota_set: { id: c.req.param("target"), ...defaultLimits(parts) } });
  });
  app.delete(path, (c) => {
    if (!c.get("caller").isAdmin) throw denied("volume_extension:quotas:delete");
    for (const field of fieldsOf(parts)) kernel.setQuota(c.req.param("target"), field, undefined);
    return c.body(null, 200);
  });
  app.put(path, async (c) => {
    if (!c.get("caller").isAdmin) throw denied("volume_extension:quotas:update");
    const given = at(await bodyOf(c.req), "quota_set");
    if (!isObject(given)) throw computeError(400, "'quota_set' is a required property");
    const target = c.req.param("target");
    for (const field of fieldsOf(parts)) {
      if (Number(given[field]) < -1) throw computeError(400, `${field} must be >= -1`);
    }
    for (const field of fieldsOf(parts))
      if (given[field] !== undefined) kernel.setQuota(target, field, Number(given[field]));
    return c.json({
      quota_set: Object.fromEntries(fieldsOf(parts).map((field) => [field, kernel.quota(target, field)])),
    });
  });
}
