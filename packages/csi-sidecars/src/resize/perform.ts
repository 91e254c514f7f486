import { keyOf, PersistentVolume, PersistentVolumeClaim, timestamp, type ClaimCondition } from "@causeway/kubernetes";
import { callOptions, fieldManager, type Context } from "../context.ts";
import { quantityOfBytes } from "../quantity.ts";
import { volumeCapability } from "../volume.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Conditions of a claim that resizing sets. */
const OWN = new Set(["Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError"]);

/**
 * Performs one step of an expansion, as csi-resizer does: the status says that it began before the driver is called.
 */
export async function perform(context: Context, observed: Observed, step: Step, signal: AbortSignal): Promise<void> {
  switch (step.type) {
    case "begin": {
      const conditions = withCondition(context, observed, "Resizing");
      const allocated = allocation(quantityOfBytes(step.bytes), "ControllerResizeInProgress");
      return patchStatus(context, observed, { ...allocated, conditions }, signal);
    }
    case "expand":
      return expand(context, observed, step.bytes, signal);
  }
}

async function expand(context: Context, observed: Observed, bytes: bigint, signal: AbortSignal): Promise<void> {
  const { driver, informers, events } = context;
  const { claim, found } = observed;
  const request = {
    volumeId: found.csi.volumeHandle,
    capacityRange: { requiredBytes: bytes },
    volumeCapability: volumeCapability(driver, found),
    secrets: { ...driver.secrets },
  };
  const answer = await driver.controller.controllerExpandVolume(request, callOptions(signal));
  const storage = quantityOfBytes(answer.capacityBytes);
  const { uid } = found.volume.metadata;
  const body = { metadata: { uid }, spec: { capacity: { storage } } };
  await informers.client.patch(
    PersistentVolume,
    keyOf(found.volume),
    { type: "merge", body },
    { fieldManager, signal },
  );
  if (answer.nodeExpansionRequired) {
    const message = "Waiting for user to (re-)start a pod to finish file system resize of volume on node.";
    const conditions = withCondition(context, observed, "FileSystemResizePending", message);
    await patchStatus(context, observed, { ...allocation(storage, "NodeResizePending"), conditions }, signal);
    events.event(claim, {
      type: "Normal",
      reason: "FileSystemResizeRequired",
      message: "Require file system resize of volume on node",
    });
    return;
  }
  const status = { capacity: { storage }, ...allocation(storage, null), conditions: otherConditions(observed) };
  await patchStatus(context, observed, status, signal);
  events.event(claim, { type: "Normal", reason: "VolumeResizeSuccessful", message: "Resize volume succeeded" });
}

/** The size that the claim's volume is to have, and how far it is; null: it has it. */
const allocation = (storage: string, state: "ControllerResizeInProgress" | "NodeResizePending" | null) => ({
  allocatedResources: { storage },
  allocatedResourceStatuses: { storage: state },
});

const otherConditions = ({ claim }: Observed): readonly ClaimCondition[] =>
  (claim.status?.conditions ?? []).filter(({ type }) => !OWN.has(type));

function withCondition(
  { clock }: Context,
  observed: Observed,
  type: string,
  message?: string,
): readonly ClaimCondition[] {
  const lastTransitionTime = timestamp(clock.now());
  const condition = { type, status: "True", lastTransitionTime, ...(message !== undefined && { message }) };
  return [...otherConditions(observed), condition];
}

async function patchStatus(
  { informers }: Context,
  { claim }: Observed,
  status: object,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = claim.metadata;
  const body = { metadata: { uid }, status };
  const options = { subresource: "status", fieldManager, signal } as const;
  await informers.client.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", body }, options);
}
