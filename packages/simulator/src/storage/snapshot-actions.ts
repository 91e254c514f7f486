import { computeError } from "../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import type { Volumes } from "./lifecycle.ts";
import { instantOf, snapshotFor, type StorageApp, type StorageParts } from "./model.ts";
import { requireStorageAdmin } from "./types.ts";

/** POST …/snapshots/{id}/action, for administrators. */
export function addSnapshotActions(app: StorageApp, { kernel, tables }: StorageParts, volumes: Volumes): void {
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
    requireStorageAdmin(c, "volume_extension:snapshot_admin_actions:reset_status");
    const progress = textAt(given, "progress");
    tables.snapshots.update(snapshot.id, {
      status: textAt(given, "status") ?? snapshot.status,
      ...(progress === undefined ? {} : { progress }),
      updated_at: instantOf(kernel),
    });
    return c.body(null, 202);
  });
}
