import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject } from "../../kernel/json.ts";
import { statusOf } from "./instances.ts";
import { derivedId, instanceId } from "../rules/export-locations.ts";
import { requireAdmin, type ShareApp, type ShareContext, type ShareParts, type ShareSnapshot } from "../model.ts";

const base = "/v2/snapshot-instances";
const idOf = (snapshot: ShareSnapshot): string => derivedId(snapshot, "snapshot instance");

/**
 * The one copy that each snapshot has, for operators:
 * https://docs.openstack.org/api-ref/shared-file-system/#share-snapshot-instances .
 */
export function mountSnapshotInstances(app: ShareApp, parts: ShareParts): void {
  const listed = (c: ShareContext): readonly ShareSnapshot[] => {
    requireAdmin(c);
    const wanted = c.req.query("snapshot_id");
    return parts.snapshots.all().filter(({ id }) => wanted === undefined || id === wanted);
  };
  const found = (c: ShareContext): ShareSnapshot => {
    requireAdmin(c);
    const id = c.req.param("id") ?? "";
    const snapshot = parts.snapshots.all().find((one) => idOf(one) === id);
    if (!snapshot) throw computeError(404, `Snapshot instance ${id} not found.`);
    return snapshot;
  };
  app.get(base, (c) => {
    const brief = (one: ShareSnapshot) => ({ id: idOf(one), snapshot_id: one.id, status: one.status });
    return c.json({ snapshot_instances: listed(c).map(brief) });
  });
  app.get(`${base}/detail`, (c) => c.json({ snapshot_instances: listed(c).map((one) => view(parts, one)) }));
  app.get(`${base}/:id`, (c) => c.json({ snapshot_instance: view(parts, found(c)) }));
  app.get(`${base}/:id/export-locations`, (c) => {
    found(c);
    return c.json({ share_snapshot_export_locations: [] });
  });
  app.post(`${base}/:id/action`, async (c) => {
    const body = await bodyOf(c.req);
    const snapshot = found(c);
    const name = isObject(body) ? (Object.keys(body)[0] ?? "") : "";
    if (name !== "reset_status") throw computeError(400, `There is no such action: ${name}`);
    parts.snapshots.update(snapshot.id, { status: statusOf(at(body, name)) });
    return c.body(null, 202);
  });
}

function view({ shares }: ShareParts, snapshot: ShareSnapshot): object {
  const share = shares.get(snapshot.share_id);
  const isMade = snapshot.status !== "creating";
  return {
    id: idOf(snapshot),
    snapshot_id: snapshot.id,
    created_at: snapshot.created_at,
    updated_at: snapshot.created_at,
    status: snapshot.status,
    share_id: snapshot.share_id,
    share_instance_id: share ? instanceId(share) : null,
    progress: isMade ? "100%" : "0%",
    provider_location: isMade ? `/snapshots/snapshot-${snapshot.id}` : null,
  };
}
