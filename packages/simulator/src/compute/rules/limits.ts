import { computeError, type ComputeParts } from "../model.ts";

/** Counted against the quotas of the same names; `ram` is in MiB. */
export interface Usage {
  readonly instances: number;
  readonly cores: number;
  readonly ram: number;
}

/** What the servers of a project take. */
export function usageOf({ tables }: ComputeParts, projectId: string): Usage {
  let [instances, cores, ram] = [0, 0, 0];
  for (const server of tables.servers.by("project_id", projectId)) {
    instances++;
    cores += server.flavor.vcpus;
    ram += server.flavor.ram;
  }
  return { instances, cores, ram };
}

/**
 * Throws Nova's 403 if the project may not have that many more servers of this size; of none, only more of the size.
 */
export function checkQuota(parts: ComputeParts, projectId: string, more: Usage): void {
  const used = usageOf(parts, projectId);
  const count = Math.max(1, more.instances);
  const asked = { instances: more.instances, cores: more.cores * count, ram: more.ram * count };
  const over = (["instances", "cores", "ram"] as const).filter((resource) => {
    const limit = parts.kernel.quota(projectId, resource);
    return limit >= 0 && asked[resource] > 0 && used[resource] + asked[resource] > limit;
  });
  if (over.length === 0) return;
  const list = (of: (resource: keyof Usage) => number) => over.map((resource) => of(resource)).join(", ");
  const limits = over.map((resource) => `${parts.kernel.quota(projectId, resource)} ${resource}`).join(", ");
  throw computeError(
    403,
    `Quota exceeded for ${over.join(", ")}: Requested ${list((r) => asked[r])}, but already used ${list((r) => used[r])} of ${limits}`,
  );
}
