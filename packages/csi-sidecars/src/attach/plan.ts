import type { Plan } from "@causeway/kubernetes";
import { annotation, attacherFinalizer } from "../names.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** What prevents the attachment, for its status. */
export interface Failure {
  readonly kind: "attach" | "detach";
  readonly message: string;
}

/** Undefined: nothing prevents the attachment; what was written before remains. */
export type Status = Failure | undefined;

const AGAIN = 30_000;

/** Publishes the volume to the node, and unpublishes it before the attachment is gone. */
export function plan(observed: Observed, now: number): Plan<Step, Status> {
  const { attachment, found } = observed;
  if (attachment.metadata.deletionTimestamp !== undefined) return planDetach(observed, now);
  if (attachment.status?.attached === true) return { steps: [], status: undefined };
  if (!found) return blocked("attach", `volume ${attachment.spec.source.persistentVolumeName} is not there`, now);
  if (found.volume.metadata.deletionTimestamp !== undefined && !isProtected(observed)) {
    return blocked("attach", "PersistentVolume is marked for deletion", now);
  }
  const { nodeId } = observed;
  if (nodeId === undefined) {
    return blocked(
      "attach",
      `node ${attachment.spec.nodeName} has no CSI driver ${observed.driver.name} registered`,
      now,
    );
  }
  const publish: Step = { type: "publish", nodeId };
  return { steps: isProtected(observed) ? [publish] : [{ type: "protect", nodeId }, publish], status: undefined };
}

function planDetach(observed: Observed, now: number): Plan<Step, Status> {
  const { attachment, found, nodeId, driver, others } = observed;
  if (!attachment.metadata.finalizers?.includes(attacherFinalizer(driver.name)))
    return { steps: [], status: undefined };
  if (!found) return blocked("detach", `volume ${attachment.spec.source.persistentVolumeName} is not there`, now);
  if (nodeId === undefined) return blocked("detach", `the ID of node ${attachment.spec.nodeName} is not known`, now);
  const steps: Step[] = [{ type: "unpublish", nodeId, volumeId: found.csi.volumeHandle }];
  const isLeaving = found.volume.metadata.deletionTimestamp !== undefined;
  // The finalizer of the volume lets a volume of the API exist while it is attached.
  if (isLeaving && others === 0) steps.push({ type: "release-volume" });
  return { steps: [...steps, { type: "release" }], status: undefined };
}

function isProtected({ attachment, found, driver, nodeId }: Observed): boolean {
  const finalizer = attacherFinalizer(driver.name);
  const { finalizers, annotations } = attachment.metadata;
  if (annotations?.[annotation.nodeId] !== nodeId) return false;
  return finalizers?.includes(finalizer) === true && found?.volume.metadata.finalizers?.includes(finalizer) === true;
}

function blocked(kind: Failure["kind"], message: string, now: number): Plan<Step, Status> {
  return { steps: [], status: { kind, message }, wait: { for: message, until: now + AGAIN } };
}
