import type { SharedFileSystem } from "@causeway/openstack";

type Snapshot = SharedFileSystem.ShareSnapshot;

/** What a CreateSnapshot call does next. */
export type SnapshotStep =
  | { readonly type: "create" }
  | { readonly type: "done"; readonly snapshot: Snapshot; readonly ready: boolean }
  | { readonly type: "remove-failed"; readonly snapshot: Snapshot }
  | { readonly type: "fail"; readonly code: FailureCode; readonly message: string };

type FailureCode = "CSI_ALREADY_EXISTS" | "CSI_INTERNAL" | "CSI_ABORTED";

/** What `planSnapshot` reads. */
export interface SnapshotView {
  readonly name: string;
  readonly shareId: string;
  /** All of the name. */
  readonly existing: readonly Snapshot[];
}

/** The content is fixed as soon as Manila has accepted the snapshot: the sidecar repeats the call until it is ready. */
export function planSnapshot({ name, shareId, existing }: SnapshotView): SnapshotStep {
  const [snapshot, second] = existing;
  if (!snapshot) return { type: "create" };
  if (second) {
    const ids = existing.map(({ id }) => id).join(", ");
    return fail("CSI_INTERNAL", `Several snapshots are named ${name}: ${ids}. Delete those that are not in use.`);
  }
  const { id, status } = snapshot;
  if (snapshot.share_id !== shareId) {
    return fail("CSI_ALREADY_EXISTS", `Snapshot ${id} is named ${name} and is of share ${snapshot.share_id}.`);
  }
  switch (status) {
    case "creating":
    case "available":
      return { type: "done", snapshot, ready: status === "available" };
    case "error":
      return { type: "remove-failed", snapshot };
    case "deleting":
      return fail("CSI_ABORTED", `Snapshot ${id} named ${name} is being deleted.`);
    default:
      return fail("CSI_INTERNAL", `Snapshot ${id} has status ${status}.`);
  }
}

function fail(code: FailureCode, message: string): SnapshotStep {
  return { type: "fail", code, message };
}
