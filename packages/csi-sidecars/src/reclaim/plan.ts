import type { Plan } from "@causeway/kubernetes";
import { PROVISIONER_FINALIZER } from "../names.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/**
 * A volume that was provisioned is deleted with its claim, unless its policy is to retain it. It is never deleted while
 * it is attached.
 */
export function plan(observed: Observed): Plan<Step, undefined> {
  const { volume, csi, isProvisioned, attachments, isDeleted } = observed;
  const { metadata, spec, status } = volume;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  const hasFinalizer = metadata.finalizers?.includes(PROVISIONER_FINALIZER) === true;
  const none: Plan<Step, undefined> = { steps: [], status: undefined };
  if (!isProvisioned) return none;
  if (spec.persistentVolumeReclaimPolicy !== "Delete") {
    return isLeaving && hasFinalizer ? { ...none, steps: [{ type: "remove-finalizer" }] } : none;
  }
  const isFree = status?.phase === "Released" || (isLeaving && status?.phase !== "Bound");
  if (!isFree || (!isLeaving && status?.phase !== "Released")) return none;
  if (attachments.length > 0) {
    const node = attachments[0]?.spec.nodeName ?? "";
    return { ...none, wait: { for: `the volume to be detached from node ${node}` } };
  }
  if (!isDeleted) return { ...none, steps: [{ type: "delete-volume", volumeId: csi.volumeHandle }] };
  const steps: Step[] = [
    ...(isLeaving ? [] : [{ type: "delete-object" as const }]),
    ...(hasFinalizer ? [{ type: "remove-finalizer" as const }] : []),
  ];
  return { ...none, steps };
}
