import { computeError } from "../../compute/model.ts";
import { textAt } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import type { Volumes } from "../rules/lifecycle.ts";
import { linkedPage } from "../listing.ts";
import { cinderLater, instantOf, snapshotFor, volumeFor } from "../model.ts";
import type { Snapshot, StorageApp, StorageEnv, StorageParts } from "../model.ts";
import { snapshotView } from "../views.ts";
import { describing, labels, mine } from "./volumes.ts";

/** Snapshots of volumes: create, list, show, update, delete. */
export function mountSnapshots(app: StorageApp, { kernel, tables }: StorageParts, volumes: Volumes): void {
  mountResource<StorageEnv, Snapshot>(app, kernel, {
    ...cinderLater("snapshot"),
    path: "/v3/:project/snapshots",
    many: "snapshots",
    lists: ["list", "detail"],
    find: (c) => snapshotFor(tables, c.get("caller"), c.req.param("id") ?? ""),
    list(c) {
      const all = mine(c) ? tables.snapshots.by("project_id", c.get("caller").projectId) : tables.snapshots.all();
      const find = (id: string) => snapshotFor(tables, c.get("caller"), id);
      return linkedPage(c, "snapshots", all, { find, resource: "snapshot" });
    },
    view: (c, snapshot, verb) => snapshotView(c, snapshot, verb === "detail" || verb === "show"),
    create(c, given) {
      const volume = volumeFor(tables, c.get("caller"), textAt(given, "volume_id") ?? "");
      const inUse = volume.status === "in-use" && (given["force"] === true || c.get("minor") >= 66);
      if (volume.status !== "available" && !inUse) {
        const why = `Volume ${volume.id} status must be available, but current status is: ${volume.status}.`;
        throw computeError(400, `Invalid volume: ${why}`);
      }
      const described = { name: textAt(given, "name") ?? null, description: textAt(given, "description") ?? null };
      const asked = { ...described, metadata: labels(given["metadata"] ?? {}) };
      return volumes.createSnapshot(c.get("caller"), volume, asked);
    },
    update: (_c, { id }, given) => tables.snapshots.update(id, { ...describing(given), updated_at: instantOf(kernel) }),
    remove(_c, snapshot) {
      if (!/^(available|error)$/.test(snapshot.status) || snapshot.group_snapshot_id !== undefined) {
        const why = "Snapshot status must be available or error, and must not be part of a group snapshot.";
        throw computeError(400, `Invalid snapshot: ${why}`);
      }
      volumes.deleteSnapshot(snapshot);
    },
  });
}
