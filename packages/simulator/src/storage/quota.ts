import { ServiceError } from "../kernel/service-error.ts";
import type { StorageParts } from "./model.ts";

export interface StorageUsage {
  readonly volumes: number;
  readonly gigabytes: number;
  readonly snapshots: number;
}

/** What a project has. */
export function storageUsage({ tables }: StorageParts, projectId: string): StorageUsage {
  const volumes = tables.volumes.by("project_id", projectId);
  const snapshots = tables.snapshots.by("project_id", projectId);
  const sum = (sized: readonly { readonly size: number }[]) => sized.reduce((total, { size }) => total + size, 0);
  return { volumes: volumes.length, snapshots: snapshots.length, gigabytes: sum(volumes) + sum(snapshots) };
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
  const over = (resource: keyof StorageUsage) =>
    (more[resource] ?? 0) > 0 && limit(resource) >= 0 && used[resource] + (more[resource] ?? 0) > limit(resource);
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
