import { CausewayError } from "@causeway/foundation";
import type { SharedFileSystem } from "@causeway/openstack";
import { SNAPSHOT_DESCRIPTION } from "../names.ts";
import { protocolOf } from "../protocol.ts";
import { failed, lastFailure } from "../shares/failure.ts";
import { LONGEST_CALL, type ShareCall } from "./call.ts";
import { foundShare } from "./change-share.ts";
import { planSnapshot } from "./plan-snapshot.ts";

type Snapshot = SharedFileSystem.ShareSnapshot;

/** What a CreateSnapshot call requests. */
export interface SnapshotSpec {
  readonly name: string;
  readonly shareId: string;
}

/** A snapshot, and the size of its share in GiB. */
export interface SnapshotResult {
  readonly snapshot: Snapshot;
  readonly gib: number;
  readonly ready: boolean;
}

const MOST_STEPS = 4;

/** A snapshot of the share; `ready` is false while Manila creates it. */
export async function createSnapshot(call: ShareCall, spec: SnapshotSpec): Promise<SnapshotResult> {
  const share = await foundShare(call, spec.shareId);
  requireSupport(call, share);
  let existing = await named(call, spec);
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const step = planSnapshot({ ...spec, existing });
    switch (step.type) {
      case "done":
        return { snapshot: step.snapshot, gib: share.size, ready: step.ready };
      case "create":
        existing = await create(call, spec);
        break;
      case "remove-failed":
        throw await removeFailed(call, step.snapshot);
      case "fail":
        throw new CausewayError(step.code, step.message);
    }
  }
  throw new CausewayError("CSI_ABORTED", `Snapshot ${spec.name} keeps changing.`);
}

function requireSupport({ protocol }: ShareCall, share: SharedFileSystem.Share): void {
  if (protocolOf(share.share_proto) !== protocol) {
    throw new CausewayError(
      "CSI_INVALID_ARGUMENT",
      `Share ${share.id} has protocol ${share.share_proto}; this driver serves ${protocol}.`,
    );
  }
  if (share.snapshot_support && share.create_share_from_snapshot_support) return;
  throw new CausewayError("CSI_INVALID_ARGUMENT", `Share ${share.id} does not support snapshots.`, {
    hint: "Its type needs the extra specs snapshot_support and create_share_from_snapshot_support.",
  });
}

async function named({ storage, signal }: ShareCall, { name }: SnapshotSpec): Promise<Snapshot[]> {
  const found = await storage.manila.snapshots.all({ name }, { signal });
  return found.filter((each) => each.name === name);
}

async function create(call: ShareCall, spec: SnapshotSpec): Promise<Snapshot[]> {
  const { storage, signal, log } = call;
  const body = { share_id: spec.shareId, name: spec.name, description: SNAPSHOT_DESCRIPTION };
  const recover = async () => (await named(call, spec))[0];
  const snapshot = await storage.manila.snapshots.create(body, { signal, recover });
  log.info("created a snapshot of a share", { snapshot: snapshot.id, share: spec.shareId });
  return [snapshot];
}

async function removeFailed({ storage, signal, log }: ShareCall, { id }: Snapshot): Promise<CausewayError> {
  const why = await lastFailure(storage, id, signal);
  log.warn("deleting a snapshot that Manila could not create", { snapshot: id, why: why.message });
  await storage.manila.snapshots.delete(id, { signal });
  return failed(`Manila could not create snapshot ${id}, which is deleted`, why);
}

/** Deletes the snapshot and waits until Manila has: what it cannot delete is tried again. */
export async function deleteSnapshot({ storage, signal }: ShareCall, id: string): Promise<void> {
  const wait = { signal, timeout: LONGEST_CALL };
  let snapshot = await storage.manila.snapshots.find(id, { signal });
  // Manila refuses to delete a snapshot that it still creates.
  if (snapshot?.status === "creating")
    snapshot = await storage.snapshots.until(id, (each) => each?.status !== "creating", wait);
  if (!snapshot) return;
  if (snapshot.status !== "deleting") await storage.manila.snapshots.delete(id, { signal });
  const isOver = (each: Snapshot | undefined) => each?.status !== "deleting";
  const left = await storage.snapshots.until(id, isOver, wait);
  if (left === undefined) return;
  throw failed(
    `Manila could not delete snapshot ${id}, whose status is ${left.status}`,
    await lastFailure(storage, id, signal),
  );
}
