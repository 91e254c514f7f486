import type { Plan, PlannedEvent } from "@causeway/kubernetes";
import { annotation, volumeFinalizer, type PersistentVolume } from "../objects/storage.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

type VolumePlan = Plan<Step, undefined>;

/** The phase of a volume, which follows from its claim, and its protection while it is bound. */
export function plan({ volume, claim }: Observed): VolumePlan {
  const { deletionTimestamp, finalizers = [] } = volume.metadata;
  const isProtected = finalizers.includes(volumeFinalizer);
  if (deletionTimestamp === undefined && !isProtected) return does({ type: "protect" });
  const { claimRef } = volume.spec;
  const next = !claimRef?.uid ? phase(volume, "Available") : claim ? claimed({ volume, claim }) : released(volume);
  if (next.steps.length > 0) return next;
  const isBound = volume.status?.phase === "Bound";
  return deletionTimestamp !== undefined && isProtected && !isBound ? does({ type: "unprotect" }) : next;
}

function claimed({ volume, claim }: Observed): VolumePlan {
  const { name, annotations = {} } = volume.metadata;
  const volumeName = claim?.spec.volumeName;
  // The claim's controller binds the other side.
  if (!volumeName) return does();
  if (volumeName === name) return phase(volume, "Bound");
  const isProvisioned = annotations[annotation.provisionedBy] !== undefined;
  if (isProvisioned && volume.spec.persistentVolumeReclaimPolicy === "Delete") return released(volume);
  return does({ type: "unbind", keepsName: annotations[annotation.boundByController] === undefined });
}

/** The claim is gone. Its external provisioner deletes a volume that is to be deleted. */
function released(volume: PersistentVolume): VolumePlan {
  const { phase: standing } = volume.status ?? {};
  if (standing !== "Released" && standing !== "Failed") return phase(volume, "Released");
  const { persistentVolumeReclaimPolicy: policy = "Retain", csi } = volume.spec;
  const isExternal = csi !== undefined || volume.metadata.annotations?.[annotation.provisionedBy] !== undefined;
  if (standing === "Failed" || policy === "Retain" || (policy === "Delete" && isExternal)) return does();
  const [reason, message] =
    policy === "Delete"
      ? ["VolumeFailedDelete", "no deletable volume plugin matched"]
      : ["VolumeFailedRecycle", "No recycler plugin found for the volume!"];
  return phase(volume, "Failed", { type: "Warning", reason, message });
}

function phase(
  { status }: PersistentVolume,
  wanted: Extract<Step, { type: "set-phase" }>["phase"],
  event?: PlannedEvent,
): VolumePlan {
  if (status?.phase === wanted) return does();
  const message = event ? { message: event.message } : {};
  const steps: Step[] = [{ type: "set-phase", phase: wanted, ...message }];
  return { steps, status: undefined, ...(event ? { events: [event] } : {}) };
}

function does(...steps: readonly Step[]): VolumePlan {
  return { steps, status: undefined };
}
