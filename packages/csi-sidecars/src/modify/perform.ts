import { keyOf, PersistentVolume, PersistentVolumeClaim, timestamp } from "@causeway/kubernetes";
import { callOptions, fieldManager, type Context } from "../context.ts";
import type { Observed } from "./gather.ts";
import type { Progress } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Conditions of a claim that modifying sets. */
const OWN = new Set(["ModifyingVolume", "ModifyVolumeError"]);

/** Performs one step of a modification, as csi-resizer does: status first, then the driver, then volume and claim. */
export async function perform(context: Context, observed: Observed, step: Step, signal: AbortSignal): Promise<void> {
  const { target } = step;
  if (step.type === "begin") return publishProgress(context, observed, { target, status: "InProgress" }, signal);
  const { driver, informers, events } = context;
  const { claim, found } = observed;
  const request = {
    volumeId: found.csi.volumeHandle,
    mutableParameters: { ...step.parameters },
    secrets: { ...driver.secrets },
  };
  await driver.controller.controllerModifyVolume(request, callOptions(signal));
  const { uid } = found.volume.metadata;
  const body = { metadata: { uid }, spec: { volumeAttributesClassName: target } };
  const options = { fieldManager, signal };
  await informers.client.patch(PersistentVolume, keyOf(found.volume), { type: "merge", body }, options);
  const conditions = otherConditions(observed);
  const status = { currentVolumeAttributesClassName: target, modifyVolumeStatus: null, conditions };
  await patchStatus(context, observed, status, signal);
  const message = `external resizer modified volume ${found.volume.metadata.name} with vac ${target} successfully`;
  events.event(claim, { type: "Normal", reason: "VolumeModifySuccessful", message });
}

/** Writes modifyVolumeStatus and the condition ModifyingVolume of a claim, unless they are there already. */
export async function publishProgress(
  context: Context,
  observed: Observed,
  { target, status }: Progress,
  signal: AbortSignal,
): Promise<void> {
  const progress = observed.claim.status?.modifyVolumeStatus;
  if (progress?.targetVolumeAttributesClassName === target && progress.status === status) return;
  const condition = { type: "ModifyingVolume", status: "True", lastTransitionTime: timestamp(context.clock.now()) };
  const conditions = [...otherConditions(observed), ...(status === "InProgress" ? [condition] : [])];
  const modifyVolumeStatus = { targetVolumeAttributesClassName: target, status };
  await patchStatus(context, observed, { modifyVolumeStatus, conditions }, signal);
}

const otherConditions = ({ claim }: Observed) => (claim.status?.conditions ?? []).filter(({ type }) => !OWN.has(type));

async function patchStatus(
  { informers }: Context,
  { claim }: Observed,
  status: object,
  signal: AbortSignal,
): Promise<void> {
  const body = { metadata: { uid: claim.metadata.uid }, status };
  const options = { subresource: "status", fieldManager, signal } as const;
  await informers.client.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", body }, options);
}
