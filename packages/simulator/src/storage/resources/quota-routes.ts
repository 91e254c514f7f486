import { computeError, denied } from "../../compute/model.ts";
import { at, bodyOf, isObject } from "../../kernel/json.ts";
import type { StorageApp, StorageParts } from "../model.ts";
import { defaultLimits, fieldsOf, storageUsage } from "../rules/quota.ts";

/** Limits and quotas of projects. */
export function mountLimits(app: StorageApp, parts: StorageParts): void {
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
