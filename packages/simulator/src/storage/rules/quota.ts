import { exceededLimit } from "../../kernel/rest/quota.ts";
import { ServiceError } from "../../kernel/service-error.ts";
import { everyProject } from "../../kernel/settings.ts";
import type { StorageParts } from "../model.ts";

/** Counted against the quotas of the same names; gigabytes include snapshots, not backups. */
export interface StorageUsage {
  readonly volumes: number;
  readonly gigabytes: number;
  readonly snapshots: number;
  readonly backups: number;
  readonly backup_gigabytes: number;
}

/** What Cinder limits, in its order. */
const quotaFields = [
  "volumes",
  "per_volume_gigabytes",
  "snapshots",
  "gigabytes",
  "backups",
  "backup_gigabytes",
  "groups",
] as const;

/** The fields above, and three for each type of volumes. */
export function fieldsOf({ tables }: StorageParts): readonly string[] {
  const types = tables.types.all().map(({ name }) => name);
  return [
    ...quotaFields,
    ...types.flatMap((type) => ["volumes", "gigabytes", "snapshots"].map((of) => `${of}_${type}`)),
  ];
}

/** The limits of a project that has none of its own. */
export const defaultLimits = (parts: StorageParts): Readonly<Record<string, number>> =>
  Object.fromEntries(fieldsOf(parts).map((field) => [field, parts.kernel.quota(everyProject, field)]));

/** What a project has. */
export function storageUsage({ tables }: StorageParts, projectId: string): StorageUsage {
  const volumes = tables.volumes.by("project_id", projectId);
  const snapshots = tables.snapshots.by("project_id", projectId);
  const sum = (sized: readonly { readonly size: number }[]) => sized.reduce((total, { size }) => total + size, 0);
  const backups = tables.backups.by("project_id", projectId);
  return {
    volumes: volumes.length,
    snapshots: snapshots.length,
    gigabytes: sum(volumes) + sum(snapshots),
    backups: backups.length,
    backup_gigabytes: sum(backups),
  };
}

const overLimit = (message: string) =>
  new ServiceError(413, { overLimit: { code: 413, message, retryAfter: "0" } }, { "retry-after": "0" });

/** Throws Cinder's 413 if the project may not have this much more. */
export function checkQuota(
  parts: StorageParts,
  projectId: string,
  more: { readonly volumes: number; readonly gigabytes: number; readonly snapshots?: number },
): void {
  const used = storageUsage(parts, projectId);
  const limit = (resource: string) => parts.kernel.quota(projectId, resource);
  const over = (resource: "volumes" | "gigabytes" | "snapshots") =>
    exceededLimit(parts.kernel, projectId, { resource, used: used[resource], more: more[resource] ?? 0 }) !== undefined;
  if (over("volumes")) {
    throw overLimit(
      `VolumeLimitExceeded: Maximum number of volumes allowed (${limit("volumes")}) exceeded for quota 'volumes'.`,
    );
  }
  if (over("snapshots")) {
    throw overLimit(`SnapshotLimitExceeded: Maximum number of snapshots allowed (${limit("snapshots")}) exceeded`);
  }
  if (over("gigabytes")) {
    throw overLimit(
      `VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested ${more.gigabytes}G, quota is ${limit("gigabytes")}G and ${used.gigabytes}G has been consumed.`,
    );
  }
}

/** Throws Cinder's 413 if the project may not have a backup of this size more. */
export function refuseBackupsOver(parts: StorageParts, projectId: string, gigabytes: number): void {
  const used = storageUsage(parts, projectId);
  const limit = (resource: string) => parts.kernel.quota(projectId, resource);
  if (limit("backups") >= 0 && used.backups >= limit("backups")) {
    throw overLimit(`BackupLimitExceeded: Maximum number of backups allowed (${limit("backups")}) exceeded`);
  }
  if (limit("backup_gigabytes") >= 0 && used.backup_gigabytes + gigabytes > limit("backup_gigabytes")) {
    throw overLimit(
      `VolumeBackupSizeExceedsAvailableQuota: Requested backup exceeds allowed Backup gigabytes quota. Requested ${gigabytes}G, quota is ${limit("backup_gigabytes")}G and ${used.backup_gigabytes}G has been consumed.`,
    );
  }
}
