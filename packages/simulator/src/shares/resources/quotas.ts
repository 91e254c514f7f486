import { computeError } from "../../compute/model.ts";
import { exceededLimit } from "../../kernel/rest/quota.ts";
import { ServiceError } from "../../kernel/service-error.ts";
import { at, bodyOf, isObject, type JsonObject } from "../../kernel/json.ts";
import { refused, requireAdmin, type ShareApp, type ShareContext, type ShareParts } from "../model.ts";

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

/** What Manila says of what a project has too little left for; `allowed` is its limit. */
const refusals: Readonly<Record<Resource, (allowed: number) => string>> = {
  gigabytes: () => `ShareSizeExceedsAvailableQuota: ${growthRefusal}`,
  shares: (allowed) =>
    `ShareLimitExceeded: Maximum number of shares allowed (${allowed}) either per project/user or share type quota is exceeded.`,
  snapshot_gigabytes: () =>
    "SnapshotSizeExceedsAvailableQuota: Requested snapshot exceeds allowed project/user or share type gigabytes quota.",
  snapshots: (allowed) =>
    `SnapshotLimitExceeded: Maximum number of snapshots allowed (${allowed}) either per project/user or share type quota is exceeded.`,
  share_networks: (allowed) =>
    `ShareNetworksLimitExceeded: Maximum number of share-networks allowed (${allowed}) exceeded.`,
};
const growthRefusal = "Requested share exceeds allowed project/user or share type gigabytes quota.";

const isOver = (parts: ShareParts, projectId: string, [resource, more]: readonly [Resource, number]): boolean => {
  const need = { resource: resources[resource][0], used: usage(parts, projectId)[resource], more };
  return exceededLimit(parts.kernel, projectId, need) !== undefined;
};

/** Throws Manila's 413 if the project may not have this much more. */
export function checkShareQuota(parts: ShareParts, projectId: string, more: Partial<Record<Resource, number>>): void {
  const over = (Object.entries(more) as [Resource, number][]).find((one) => isOver(parts, projectId, one));
  if (!over) return;
  const message = refusals[over[0]](limitOf(parts, projectId, over[0]));
  throw new ServiceError(413, { overLimit: { code: 413, message, retryAfter: "0" } }, { "retry-after": "0" });
}

/** Throws Manila's 403 if shares of the project may not grow by this many gigabytes. */
export function checkGrowth(parts: ShareParts, projectId: string, gigabytes: number): void {
  if (isOver(parts, projectId, ["gigabytes", gigabytes])) throw computeError(403, growthRefusal);
}

/** The limits that a body gives. Throws what Manila responds to an invalid limit. */
function askedLimits(given: JsonObject): readonly (readonly [Resource, number])[] {
  const known = [...Object.keys(resources), ...Object.keys(untouched)];
  const unknown = Object.keys(given).filter((key) => !known.includes(key) && key !== "force" && key !== "tenant_id");
  const asked = Object.entries(given).filter(([key]) => known.includes(key));
  if (asked.length === 0) throw computeError(400, "Must supply at least one quota field to update.");
  if (unknown.length > 0) throw computeError(400, `Bad key(s) ${unknown.join(",")} in quota_set.`);
  for (const [key, value] of asked) {
    const limit = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (!Number.isInteger(limit)) {
      const written = typeof value === "string" ? value : JSON.stringify(value);
      throw computeError(400, `Quota '${written}' for ${key} should be integer.`);
    }
    if (Number(limit) < -1) throw computeError(400, "Quota limit must be -1 or greater.");
  }
  return asked
    .filter(([key]) => Object.hasOwn(resources, key))
    .map(([key, value]) => [key as Resource, Number(value)] as const);
}

function checkReader(c: ShareContext, project: string): void {
  const { projectId, isAdmin } = c.get("caller");
  if (project !== projectId && !isAdmin) throw refused();
}

/** Limits and quotas of projects. */
export function mountShareQuotas(app: ShareApp, parts: ShareParts): void {
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
    const project = c.req.param("project");
    checkReader(c, project);
    const used: Readonly<Record<string, number>> = usage(parts, project);
    const { id, ...limits } = setOf(project);
    const detail = Object.entries(limits).map(([name, limit]) => [
      name,
      { in_use: used[name] ?? 0, limit, reserved: 0 },
    ]);
    return c.json({ quota_set: { id, ...Object.fromEntries(detail) } });
  });
  app.get(path, (c) => {
    checkReader(c, c.req.param("project"));
    return c.json({ quota_set: setOf(c.req.param("project")) });
  });
  app.put(path, async (c) => {
    requireAdmin(c);
    const given = at(await bodyOf(c.req), "quota_set");
    if (!isObject(given)) throw computeError(400, "The request body has no quota_set.");
    const project = c.req.param("project");
    for (const [name, limit] of askedLimits(given)) parts.kernel.setQuota(project, resources[name][0], limit);
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
