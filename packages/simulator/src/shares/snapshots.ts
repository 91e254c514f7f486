import { computeError } from "../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import {
  instantOf,
  owned,
  pageOf,
  requireAdmin,
  unprocessable,
  type ShareApp,
  type ShareContext,
  type ShareParts,
} from "./model.ts";
import { checkShareQuota } from "./quotas.ts";
import { shareFor } from "./shares.ts";
import { briefView, snapshotView } from "./views.ts";

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
    return pageOf(c, snapshots.by("project_id", c.get("caller").projectId), ["name", "status", "share_id"]);
  };
  app.get("/v2/snapshots", (c) => c.json({ snapshots: listed(c).map((s) => briefView(c, "snapshots", s)) }));
  app.get("/v2/snapshots/detail", (c) => c.json({ snapshots: listed(c).map((s) => snapshotView(c, s)) }));
  app.get("/v2/snapshots/:id", (c) => c.json({ snapshot: snapshotView(c, found(c)) }));
  app.post("/v2/snapshots", async (c) => {
    const given = at(await bodyOf(c.req), "snapshot");
    if (!isObject(given)) throw unprocessable();
    const share = shareFor(c, parts, textAt(given, "share_id") ?? "");
    if (share.status !== "available") {
      throw computeError(403, `Invalid share: Source share status must be "available".`);
    }
    checkShareQuota(parts, share.project_id, { snapshots: 1, snapshot_gigabytes: share.size });
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
      created_at: instantOf(kernel),
    });
    kernel.agenda.after(kernel.delay("share.snapshot"), "share.snapshot", `${snapshot.id} creating available`);
    return c.json({ snapshot: snapshotView(c, snapshot) }, 202);
  });
  app.put("/v2/snapshots/:id", async (c) => {
    const given = at(await bodyOf(c.req), "snapshot");
    const { id, name, description } = found(c);
    if (!isObject(given)) throw unprocessable();
    const changed = {
      name: textAt(given, "display_name") ?? textAt(given, "name") ?? name,
      description: textAt(given, "display_description") ?? textAt(given, "description") ?? description,
    };
    return c.json({ snapshot: snapshotView(c, snapshots.update(id, changed)) });
  });
  app.delete("/v2/snapshots/:id", (c) => {
    const { id } = found(c);
    snapshots.update(id, { status: "deleting" });
    kernel.agenda.after(kernel.delay("share.snapshot"), "share.snapshot", `${id} deleting gone`);
    return c.body(null, 202);
  });
  app.post("/v2/snapshots/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const { id, status } = found(c);
    requireAdmin(c);
    snapshots.update(id, { status: textAt(body, "reset_status", "status") ?? status });
    return c.body(null, 202);
  });
}
