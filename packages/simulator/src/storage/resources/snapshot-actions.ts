import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import type { Volumes } from "../rules/lifecycle.ts";
import { instantOf, snapshotFor, type Snapshot, type StorageApp, type StorageParts } from "../model.ts";
import { requireStorageAdmin } from "./types.ts";

/** POST …/snapshots/{id}/action: all but the drivers' report of progress is for administrators. */
export function mountSnapshotActions(app: StorageApp, { kernel, tables }: StorageParts, volumes: Volumes): void {
  app.post("/v3/:project/snapshots/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const snapshot = snapshotFor(tables, c.get("caller"), c.req.param("id"));
    const name = isObject(body) ? (Object.keys(body)[0] ?? "") : "";
    const given = at(body, name);
    if (name === "os-force_delete") {
      requireStorageAdmin(c, "volume_extension:snapshot_admin_actions:force_delete");
      volumes.deleteSnapshot(snapshot);
      return c.body(null, 202);
    }
    if (name !== "os-reset_status" && name !== "os-update_snapshot_status") {
      throw computeError(
        400,
        `There is no such action: ${name}. Verify the request body and Content-Type header and try again.`,
      );
    }
    if (name === "os-reset_status") requireStorageAdmin(c, "volume_extension:snapshot_admin_actions:reset_status");
    else refuseStatusOf(snapshot, textAt(given, "status") ?? "");
    const progress = textAt(given, "progress");
    tables.snapshots.update(snapshot.id, {
      status: textAt(given, "status") ?? snapshot.status,
      ...(progress === undefined ? {} : { progress }),
      updated_at: instantOf(kernel),
    });
    return c.body(null, 202);
  });
}

/** What a driver may report of a snapshot on its way. */
const reports: Readonly<Record<string, readonly string[]>> = {
  creating: ["creating", "available", "error"],
  deleting: ["deleting", "error_deleting"],
};

function refuseStatusOf(snapshot: Snapshot, status: string): void {
  const allowed = reports[snapshot.status];
  if (!allowed) {
    throw computeError(400, `Snapshot status ${snapshot.status} not allowed for update_snapshot_status`);
  }
  if (allowed.includes(status)) return;
  const which = `not allowed for snapshot with status ${snapshot.status}.`;
  throw computeError(400, `Provided snapshot status ${status} ${which}`);
}
