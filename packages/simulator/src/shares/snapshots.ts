import { computeError } from "../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import { addMetadataRoutes } from "./metadata.ts";
import { shareFor, instantOf, owned, pageOf, requireAdmin, supportOf, unprocessable } from "./model.ts";
import type { ShareApp, ShareContext, ShareParts, ShareSnapshot } from "./model.ts";
import { checkShareQuota } from "./quotas.ts";
import { statusOf } from "./instances.ts";
import { changedText } from "./shares.ts";
import { briefView, snapshotView } from "./views.ts";

const DELETABLE = new Set(["available", "error"]);
const NOT_DELETABLE = "Invalid share snapshot: Share Snapshot status must be one of ('available', 'error').";

/** Snapshots of shares. */
export function addSnapshotRoutes(app: ShareApp, parts: ShareParts): void {
  const { kernel, snapshots } = parts;
  kernel.agenda.handler("share.snapshot", (argument) => {
    const [id = "", from, to = ""] = argument.split(" ");
    if (snapshots.get(id)?.status !== from) return;
    if (to === "gone") snapshots.remove(id);
    else snapshots.update(id, { status: to });
  });
  const found = (c: ShareContext) => owned(c, snapshots.get(c.req.param("id") ?? ""));
  const listed = (c: ShareContext) => {
    const own = snapshots.by("project_id", c.get("caller").projectId);
    const sized = own.map((snapshot) => ({ ...snapshot, size: snapshot.share_size }));
    return pageOf(c, sized, ["name", "description", "status", "share_id", "size"]);
  };
  app.get("/v2/snapshots", (c) => c.json({ snapshots: listed(c).map((s) => briefView(c, "snapshots", s)) }));
  app.get("/v2/snapshots/detail", (c) => c.json({ snapshots: listed(c).map((s) => snapshotView(c, s)) }));
  app.get("/v2/snapshots/:id", (c) => c.json({ snapshot: snapshotView(c, found(c)) }));
  app.post("/v2/snapshots", async (c) => {
    const given = at(await bodyOf(c.req), "snapshot");
    if (!isObject(given)) throw unprocessable();
    const share = shareFor(c, parts, textAt(given, "share_id") ?? "");
    if (!supportOf(share).snapshot_support) {
      const why = "since it does not have that capability.";
      throw computeError(422, `Snapshots cannot be created for share '${share.id}' ${why}`);
    }
    if (share.status !== "available") {
      throw computeError(400, "Invalid share: Source share status must be available.");
    }
    checkShareQuota(parts, share.project_id, { snapshot_gigabytes: share.size, snapshots: 1 });
    const snapshot = snapshots.insert({
      id: kernel.newId(),
      name: textAt(given, "display_name") ?? textAt(given, "name") ?? null,
      description: textAt(given, "display_description") ?? textAt(given, "description") ?? null,
      project_id: share.project_id,
      user_id: c.get("caller").userId,
      share_id: share.id,
      share_proto: share.share_proto,
      share_size: share.size,
      status: "creating",
      metadata: {},
      ...(share.content !== undefined && { content: share.content }),
      created_at: instantOf(kernel),
    });
    const outcome = kernel.outcome("share.snapshot", snapshot.name ?? "");
    const status = outcome === "error" ? "error" : "available";
    if (outcome !== "stuck")
      kernel.agenda.after(kernel.delay("share.snapshot"), "share.snapshot", `${snapshot.id} creating ${status}`);
    return c.json({ snapshot: snapshotView(c, snapshot) }, 202);
  });
  app.put("/v2/snapshots/:id", async (c) => {
    const given = at(await bodyOf(c.req), "snapshot");
    const { id, name, description } = found(c);
    if (!isObject(given)) throw unprocessable();
    const changed = {
      name: changedText(given, "name", name),
      description: changedText(given, "description", description),
    };
    return c.json({ snapshot: snapshotView(c, snapshots.update(id, changed)) });
  });
  const end = (id: string): void => {
    snapshots.update(id, { status: "deleting" });
    kernel.agenda.after(kernel.delay("share.snapshot"), "share.snapshot", `${id} deleting gone`);
  };
  app.delete("/v2/snapshots/:id", (c) => {
    const { id, status } = found(c);
    if (!DELETABLE.has(status)) throw computeError(400, NOT_DELETABLE);
    end(id);
    return c.body(null, 202);
  });
  app.post("/v2/snapshots/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const snapshot = found(c);
    const name = isObject(body) ? (Object.keys(body)[0] ?? "") : "";
    if (name === "allow_access" || name === "deny_access") throw notMounted(snapshot);
    if (name !== "reset_status" && name !== "force_delete") {
      throw computeError(400, `There is no such action: ${name}`);
    }
    requireAdmin(c);
    if (name === "force_delete") end(snapshot.id);
    else snapshots.update(snapshot.id, { status: statusOf(at(body, name)) });
    return c.body(null, 202);
  });
  addMountRoutes(app, parts);
  addMetadataRoutes(app, {
    path: "/v2/snapshots/:id/metadata",
    get: (c) => found(c).metadata,
    set: (c, metadata) => void snapshots.update(c.req.param("id") ?? "", { metadata }),
  });
}

/** No snapshot here can be mounted, so that none is exported and none has rules of access. */
const notMounted = ({ id, share_id }: ShareSnapshot) => {
  const why = `since the parent share ${share_id} does not support mounting its snapshots.`;
  return computeError(400, `Cannot control access to the snapshot ${id} ${why}`);
};

function addMountRoutes(app: ShareApp, { snapshots }: ShareParts): void {
  const path = "/v2/snapshots/:id";
  app.get(`${path}/export-locations`, (c) => {
    const id = c.req.param("id");
    owned(c, snapshots.get(id), () => computeError(404, `Snapshot '${id}' not found.`));
    return c.json({ share_snapshot_export_locations: [] });
  });
  app.get(`${path}/export-locations/:location`, () => {
    throw computeError(404, "NotFound: Resource could not be found.");
  });
  app.get(`${path}/access-list`, (c) => {
    const id = c.req.param("id");
    const missing = () => computeError(404, `ShareSnapshotNotFound: Snapshot ${id} could not be found.`);
    throw notMounted(owned(c, snapshots.get(id), missing));
  });
}
