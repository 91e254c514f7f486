import type { VolumeBackup, VolumeSnapshot } from "@causeway/openstack";

/** The parameter `type` of a VolumeSnapshotClass: a snapshot, or a backup that is made of one. */
export type SnapshotKind = "snapshot" | "backup";

/** What a CreateSnapshot call does next. */
export type SnapshotStep =
  | { readonly type: "create-snapshot" }
  | { readonly type: "wait-snapshot"; readonly snapshot: VolumeSnapshot }
  | { readonly type: "create-backup"; readonly snapshot: VolumeSnapshot }
  /** The backup has the content: its snapshot is no longer needed. */
  | { readonly type: "delete-snapshot"; readonly id: string }
  | { readonly type: "remove-failed"; readonly kind: SnapshotKind; readonly id: string }
  | { readonly type: "done"; readonly result: SnapshotResult }
  | {
      readonly type: "fail";
      readonly code: "CSI_ALREADY_EXISTS" | "CSI_INTERNAL" | "CSI_ABORTED";
      readonly message: string;
    };

/** A snapshot or backup of Cinder, in the words of CSI. */
export interface SnapshotResult {
  readonly id: string;
  readonly volumeId: string;
  readonly gib: number;
  readonly createdAt: string;
  readonly ready: boolean;
  /** The Cinder group snapshot that it is part of. */
  readonly groupSnapshotId?: string;
}

/** What `planSnapshot` reads. */
export interface SnapshotView {
  readonly kind: SnapshotKind;
  readonly name: string;
  readonly volumeId: string;
  /** All of the name. */
  readonly snapshots: readonly VolumeSnapshot[];
  readonly backups: readonly VolumeBackup[];
}

/**
 * A backup is made of a snapshot, and the call returns as soon as Cinder copies it: the content is fixed by then. The
 * sidecar repeats the call until the backup is ready, and then the snapshot is deleted.
 */
export function planSnapshot(view: SnapshotView): SnapshotStep {
  const several = [view.snapshots, view.backups].find((all) => all.length > 1);
  if (several) {
    const ids = several.map(({ id }) => id).join(", ");
    return fail(
      "CSI_INTERNAL",
      `Several snapshots or backups are named ${view.name}: ${ids}. Delete those that are not in use.`,
    );
  }
  const [snapshot, backup] = [view.snapshots[0], view.backups[0]];
  const other = [snapshot, backup].find((each) => each !== undefined && each.volume_id !== view.volumeId);
  if (other)
    return fail("CSI_ALREADY_EXISTS", `${other.id} is named ${view.name} and is of volume ${other.volume_id}.`);
  if (view.kind === "backup" && backup) return withBackup(backup, snapshot);
  if (!snapshot) return { type: "create-snapshot" };
  if (snapshot.status === "creating") return { type: "wait-snapshot", snapshot };
  if (snapshot.status === "error") return { type: "remove-failed", kind: "snapshot", id: snapshot.id };
  if (snapshot.status === "deleting")
    return fail("CSI_ABORTED", `Snapshot ${snapshot.id} named ${view.name} is being deleted.`);
  if (snapshot.status !== "available" && snapshot.status !== "backing-up") {
    return fail("CSI_INTERNAL", `Snapshot ${snapshot.id} has status ${snapshot.status}.`);
  }
  if (view.kind === "backup") return { type: "create-backup", snapshot };
  return { type: "done", result: resultOf(snapshot, true) };
}

function withBackup(backup: VolumeBackup, snapshot: VolumeSnapshot | undefined): SnapshotStep {
  if (backup.status === "error") return { type: "remove-failed", kind: "backup", id: backup.id };
  if (backup.status === "deleting") return fail("CSI_ABORTED", `Backup ${backup.id} is being deleted.`);
  const ready = backup.status === "available" || backup.status === "restoring";
  const isLeft = snapshot !== undefined && snapshot.status !== "deleting";
  if (ready && isLeft) return { type: "delete-snapshot", id: snapshot.id };
  return { type: "done", result: resultOf(backup, ready) };
}

type Recorded = Pick<VolumeSnapshot, "id" | "volume_id" | "size" | "group_snapshot_id"> & {
  readonly created_at?: string;
};

/** A snapshot or backup as a result; `ready`: volumes can be made of it. */
export function resultOf({ id, volume_id, size, created_at, ...rest }: Recorded, ready: boolean): SnapshotResult {
  const group = rest.group_snapshot_id ? { groupSnapshotId: rest.group_snapshot_id } : {};
  return { id, volumeId: volume_id, gib: size, createdAt: created_at ?? "", ready, ...group };
}

function fail(code: "CSI_ALREADY_EXISTS" | "CSI_INTERNAL" | "CSI_ABORTED", message: string): SnapshotStep {
  return { type: "fail", code, message };
}
