import { CausewayError, type Clock } from "@causeway/foundation";
import { until, type Volume } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import { LONGEST_CALL } from "./call.ts";

const CHANGING = new Set(["detaching", "attaching", "reserved", "backing-up", "uploading", "extending", "retyping"]);

/** The volume after what Cinder is doing with it, which would refuse a deletion meanwhile. */
async function settled(
  { storage, clock }: { readonly storage: StorageCloud; readonly clock: Clock },
  id: string,
  signal: AbortSignal,
): Promise<Volume | undefined> {
  const volume = await storage.cloud.blockStorage.volumes.find(id, { signal });
  if (!volume || !CHANGING.has(volume.status)) return volume;
  storage.volumes.observe(volume);
  const isDone = (each: Volume | undefined) => each === undefined || !CHANGING.has(each.status);
  const hurry = volume.status === "reserved";
  return until(storage.volumes, id, isDone, { signal, clock, timeout: LONGEST_CALL, hurry });
}

/** Cinder refuses to delete a volume of a group, and removes it from the group in the background. */
async function leaveGroup(
  { storage, clock }: { readonly storage: StorageCloud; readonly clock: Clock },
  { id, group_id }: Volume,
  signal: AbortSignal,
): Promise<void> {
  await storage.cloud.blockStorage.changeGroup(group_id ?? "", { remove_volumes: id }, { signal });
  storage.volumes.hurry();
  const isOut = (each: Volume | undefined) => typeof each?.group_id !== "string";
  await until(storage.volumes, id, isOut, { signal, clock, timeout: LONGEST_CALL, hurry: false });
}

/** Deletes the volume and waits until it is gone, so that a deletion that fails in Cinder is repeated. */
export async function deleteVolume(
  { storage, clock }: { readonly storage: StorageCloud; readonly clock: Clock },
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { volumes } = storage.cloud.blockStorage;
  const volume = await settled({ storage, clock }, id, signal);
  if (!volume) return storage.volumes.forget(id);
  const [attachment] = volume.attachments;
  if (attachment !== undefined) {
    throw new CausewayError("CSI_FAILED_PRECONDITION", `Volume ${id} is attached to server ${attachment.server_id}.`);
  }
  if (volume.status !== "deleting") {
    if (typeof volume.group_id === "string") await leaveGroup({ storage, clock }, volume, signal);
    await volumes.delete(id, { signal });
  }
  storage.volumes.observe({ ...volume, status: "deleting" });
  const left = await until(storage.volumes, id, (each) => each?.status !== "deleting", {
    signal,
    clock,
    timeout: LONGEST_CALL,
    hurry: false,
  });
  if (left === undefined) return;
  throw new CausewayError("CSI_INTERNAL", `Cinder could not delete volume ${id}: its status is ${left.status}.`);
}
