import { CausewayError } from "@causeway/foundation";
import type { SharedFileSystem } from "@causeway/openstack";
import { failed, lastFailure } from "../shares/failure.ts";
import { LONGEST_CALL, type ShareCall } from "./call.ts";

type Share = SharedFileSystem.Share;

const MOST_STEPS = 5;

/** What ControllerExpandVolume does next. */
export type ExpandStep =
  | { readonly type: "done" }
  | { readonly type: "extend" }
  | { readonly type: "wait" }
  | { readonly type: "failed" }
  | { readonly type: "fail"; readonly message: string };

/** A share that is large enough is not changed, as upstream has it. */
export function planExpand(share: Share, gib: number): ExpandStep {
  if (share.status === "extending") return { type: "wait" };
  if (share.status === "extending_error") return { type: "failed" };
  if (share.size >= gib) return { type: "done" };
  if (share.status === "available") return { type: "extend" };
  return { type: "fail", message: `Share ${share.id} cannot be extended: its status is ${share.status}.` };
}

/** The share after Manila has extended it to at least `gib`. */
export async function expandShare(call: ShareCall, id: string, gib: number): Promise<Share> {
  const { storage, signal } = call;
  let isExtended = false;
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const share = await foundShare(call, id);
    const step = planExpand(share, gib);
    if (step.type === "done") return share;
    if (step.type === "fail") throw new CausewayError("CSI_FAILED_PRECONDITION", step.message);
    if (step.type === "failed") {
      throw failed(
        `Manila could not extend share ${id}, whose status is ${share.status}`,
        await lastFailure(storage, id, signal),
      );
    }
    if (step.type === "extend") {
      if (isExtended)
        throw new CausewayError("CSI_INTERNAL", `Share ${id} still has ${share.size} GiB after Manila extended it.`);
      await storage.manila.extend(id, gib, { signal });
      isExtended = true;
    }
    await storage.shares.until(id, (each) => each?.status !== "extending", { signal, timeout: LONGEST_CALL });
  }
  throw new CausewayError("CSI_ABORTED", `The size of share ${id} keeps changing.`);
}

/** Deletes the share and waits until it is gone, so that a deletion that fails in Manila is repeated. */
export async function deleteShare({ storage, signal, log }: ShareCall, id: string): Promise<void> {
  const share = await storage.manila.shares.find(id, { signal });
  if (!share) return;
  if (share.status !== "deleting") {
    await storage.manila.shares.delete(id, { signal }).catch(async (error: unknown) => {
      throw (await copiesOf(storage, id, signal)) ?? error;
    });
    log.info("deleting a share", { share: id });
  }
  const left = await storage.shares.until(id, (each) => each?.status !== "deleting", { signal, timeout: LONGEST_CALL });
  if (left === undefined) return;
  throw failed(
    `Manila could not delete share ${id}, whose status is ${left.status}`,
    await lastFailure(storage, id, signal),
  );
}

/** Why a share is not deleted that has snapshots: Manila forbids it, as if the user lacked a role. */
async function copiesOf(
  { manila }: ShareCall["storage"],
  id: string,
  signal: AbortSignal,
): Promise<CausewayError | undefined> {
  const snapshots = await manila.snapshots.all({ share_id: id }, { signal }).catch(() => []);
  const own = snapshots.filter(({ share_id }) => share_id === id);
  if (own.length === 0) return undefined;
  const names = own.slice(0, 5).map((each) => each.id);
  return new CausewayError(
    "CSI_FAILED_PRECONDITION",
    `Share ${id} has ${own.length} snapshots and is not deleted: ${names.join(", ")}.`,
    { hint: "Delete the VolumeSnapshots of its claim; `openstack share snapshot list` shows others." },
  );
}

/** Throws CSI_NOT_FOUND. */
export async function foundShare({ storage, signal }: ShareCall, id: string): Promise<Share> {
  const share = await storage.manila.shares.find(id, { signal });
  if (share) return share;
  throw new CausewayError("CSI_NOT_FOUND", `Share ${id} does not exist.`);
}
