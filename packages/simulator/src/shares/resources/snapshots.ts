import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { mountMetadata } from "./metadata.ts";
import { shareFor, instantOf, manila, owned, pageOf, requireAdmin, supportOf } from "../model.ts";
import type { ShareApp, ShareContext, ShareEnv, ShareParts, ShareSnapshot } from "../model.ts";
import { checkShareQuota } from "./quotas.ts";
import { statusOf } from "./instances.ts";
import { changedText } from "./shares.ts";
import { briefView, snapshotView } from "../views.ts";

const DELETABLE = new Set(["available", "error"]);
const NOT_DELETABLE = "Invalid share snapshot: Share Snapshot status must be one of ('available', 'error').";

/** Snapshots of shares. */
export function mountSnapshots(app: ShareApp, parts: ShareParts): void {
  const { kernel, snapshots } = parts;
  kernel.timers.handler("share.snapshot", (argument) => {
    const [id = "", from, to = ""] = argument.split(" ");
    if (snapshots.get(id)?.status !== from) return;
    if (to === "gone") snapshots.remove(id);
    else snapshots.update(id, { status: to });
  });
  const found = (c: ShareContext) => owned(c, snapshots.get(c.req.param("id") ?? ""));
  const end = (id: string): void => {
    snapshots.update(id, { status: "deleting" });
    kernel.timers.after(kernel.delay("share.snapshot"), "share.snapshot", `${id} deleting gone`);
  };
  mountResource<ShareEnv, ShareSnapshot>(app, kernel, {
    ...manila,
    statuses: { create: 202, delete: 202 },
    path: "/v2/snapshots",
    one: "snapshot",
    many: "snapshots",
    lists: ["list", "detail"],
    find: found,
    list(c) {
      const own = snapshots.by("project_id", c.get("caller").projectId);
      const sized = own.map((snapshot) => ({ ...snapshot, size: snapshot.share_size }));
      return { rows: pageOf(c, sized, ["name", "description", "status", "share_id", "size"]) };
    },
    view: (c, snapshot, verb) => (verb === "list" ? briefView(c, "snapshots", snapshot) : snapshotView(c, snapshot)),
    create: (c, given) => makeSnapshot(c, parts, given),
    update: (_c, { id, name, description }, given) =>
      snapshots.update(id, {
        name: changedText(given, "name", name),
        description: changedText(given, "description", description),
      }),
    remove(_c, { id, status }) {
      if (!DELETABLE.has(status)) throw computeError(400, NOT_DELETABLE);
      end(id);
    },
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
  mountMountSnapshots(app, parts);
  mountMetadata(app, {
    path: "/v2/snapshots/:id/metadata",
    get: (c) => found(c).metadata,
    set: (c, metadata) => void snapshots.update(c.req.param("id") ?? "", { metadata }),
  });
}

function makeSnapshot(c: ShareContext, parts: ShareParts, given: JsonObject): ShareSnapshot {
  const { kernel, snapshots } = parts;
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
    kernel.timers.after(kernel.delay("share.snapshot"), "share.snapshot", `${snapshot.id} creating ${status}`);
  return snapshot;
}

/** No snapshot here can be mounted, so that none is exported and none has rules of access. */
const notMounted = ({ id, share_id }: ShareSnapshot) => {
  const why = `since the parent share ${share_id} does not support mounting its snapshots.`;
  return computeError(400, `Cannot control access to the snapshot ${id} ${why}`);
};

function mountMountSnapshots(app: ShareApp, { snapshots }: ShareParts): void {
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
