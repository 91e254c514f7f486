import { computeError } from "../compute/model.ts";
import { ServiceError } from "../kernel/service-error.ts";
import { at, bodyOf, isObject } from "../kernel/json.ts";
import { refused, requireAdmin, type ShareApp, type ShareParts } from "./model.ts";

/** Manila's own name and the kernel's: Cinder has gigabytes and snapshots, too. */
const resources = {
  shares: ["shares", 50],
  gigabytes: ["share_gigabytes", 1000],
  snapshots: ["share_snapshots", 50],
  snapshot_gigabytes: ["share_snapshot_gigabytes", 1000],
  share_networks: ["share_networks", 10],
} as const;
type Resource = keyof typeof resources;

const untouched = {
  share_groups: 50,
  share_group_snapshots: 50,
  share_replicas: 100,
  replica_gigabytes: 1000,
  per_share_gigabytes: -1,
};

function limitOf({ kernel }: ShareParts, projectId: string, resource: Resource): number {
  return kernel.quota(projectId, resources[resource][0]);
}

function usage({ shares, snapshots, networks }: ShareParts, projectId: string): Readonly<Record<Resource, number>> {
  const [own, shots] = [shares.by("project_id", projectId), snapshots.by("project_id", projectId)];
  return {
    shares: own.length,
    gigabytes: own.reduce((sum, { size }) => sum + size, 0),
    snapshots: shots.length,
    snapshot_gigabytes: shots.reduce((sum, { share_size }) => sum + share_size, 0),
    share_networks: networks.by("project_id", projectId).length,
  };
}

/** Throws Manila's 413 if the project may not have this much more. */
export function checkShareQuota(parts: ShareParts, projectId: string, more: Partial<Record<Resource, number>>): void {
  const used = usage(parts, projectId);
  for (const [resource, count] of Object.entries(more) as [Resource, number][]) {
    const limit = limitOf(parts, projectId, resource);
    if (limit < 0 || used[resource] + count <= limit) continue;
    const message = `Quota exceeded for ${resource}: requested ${count}, ${used[resource]} of ${limit} used.`;
    throw new ServiceError(413, { overLimit: { code: 413, message, retryAfter: "0" } }, { "retry-after": "0" });
  }
}

/** Limits and quotas of projects. */
export function addShareQuotaRoutes(app: ShareApp, parts: ShareParts): void {
  const path = "/v2/quota-sets/:project";
  const names = Object.keys(resources) as Resource[];
  const setOf = (project: string) => ({
    id: project,
    ...Object.fromEntries(names.map((name) => [name, limitOf(parts, project, name)])),
    ...untouched,
  });
  app.get(`${path}/defaults`, (c) =>
    c.json({
      quota_set: {
        id: c.req.param("project"),
        ...Object.fromEntries(names.map((name) => [name, resources[name][1]])),
        ...untouched,
      },
    }),
  );
  app.get(`${path}/detail`, (c) => {
    const used = usage(parts, c.req.param("project"));
    const detail = names.map((name) => [
      name,
      { in_use: used[name], limit: limitOf(parts, c.req.param("project"), name), reserved: 0 },
    ]);
    return c.json({ quota_set: { id: c.req.param("project"), ...Object.fromEntries(detail) } });
  });
  app.get(path, (c) => {
    const { projectId, isAdmin } = c.get("caller");
    if (c.req.param("project") !== projectId && !isAdmin) throw refused();
    return c.json({ quota_set: setOf(c.req.param("project")) });
  });
  app.put(path, async (c) => {
    requireAdmin(c);
    const given = at(await bodyOf(c.req), "quota_set");
    if (!isObject(given)) throw computeError(400, "The request body has no quota_set.");
    const project = c.req.param("project");
    for (const name of names) {
      if (given[name] !== undefined) parts.kernel.setQuota(project, resources[name][0], Number(given[name]));
    }
    const { id: _, ...rest } = setOf(project);
    return c.json({ quota_set: rest });
  });
  app.delete(path, (c) => {
    requireAdmin(c);
    for (const name of names) parts.kernel.setQuota(c.req.param("project"), resources[name][0], undefined);
    return c.body(null, 202);
  });
  app.get("/v2/limits", (c) => {
    const { projectId } = c.get("caller");
    const [used, limit] = [usage(parts, projectId), (name: Resource) => limitOf(parts, projectId, name)];
    const absolute = {
      maxTotalShares: limit("shares"),
      maxTotalShareGigabytes: limit("gigabytes"),
      maxTotalShareSnapshots: limit("snapshots"),
      maxTotalSnapshotGigabytes: limit("snapshot_gigabytes"),
      maxTotalShareNetworks: limit("share_networks"),
      maxTotalShareGroups: untouched.share_groups,
      maxTotalShareGroupSnapshots: untouched.share_group_snapshots,
      maxTotalShareReplicas: untouched.share_replicas,
      maxTotalReplicaGigabytes: untouched.replica_gigabytes,
      totalSharesUsed: used.shares,
      totalShareGigabytesUsed: used.gigabytes,
      totalShareSnapshotsUsed: used.snapshots,
      totalSnapshotGigabytesUsed: used.snapshot_gigabytes,
      totalShareNetworksUsed: used.share_networks,
      totalShareGroupsUsed: 0,
      totalShareGroupSnapshotsUsed: 0,
      totalShareReplicasUsed: 0,
      totalReplicaGigabytesUsed: 0,
    };
    return c.json({ limits: { rate: [], absolute } });
  });
}
