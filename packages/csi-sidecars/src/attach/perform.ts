import { addFinalizer, keyOf, PersistentVolume, removeFinalizer, VolumeAttachment } from "@causeway/kubernetes";
import { callOptions, fieldManager, type Context } from "../context.ts";
import { isMissing } from "../errors.ts";
import { annotation, attacherFinalizer } from "../names.ts";
import { volumeCapability, volumeContext } from "../volume.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/**
 * Performs one step of an attachment, as external-attacher does. An error of the driver is thrown; the controller
 * writes it
 * to the attachment's status.
 */
export async function perform(context: Context, observed: Observed, step: Step, signal: AbortSignal): Promise<void> {
  const { informers, driver } = context;
  const { client } = informers;
  const { attachment, found } = observed;
  const finalizer = attacherFinalizer(driver.name);
  const secrets = { ...driver.secrets };
  switch (step.type) {
    case "protect": {
      if (!found) return;
      await addFinalizer(client, PersistentVolume, found.volume, { finalizer, signal });
      const { uid } = attachment.metadata;
      const body = { metadata: { uid, annotations: { [annotation.nodeId]: step.nodeId } } };
      await client.patch(VolumeAttachment, keyOf(attachment), { type: "merge", body }, { fieldManager, signal });
      await addFinalizer(client, VolumeAttachment, attachment, { finalizer, signal });
      return;
    }
    case "publish": {
      if (!found) return;
      const request = {
        volumeId: found.csi.volumeHandle,
        nodeId: step.nodeId,
        volumeCapability: volumeCapability(driver, found),
        volumeContext: volumeContext(found),
        readonly: false,
        secrets,
      };
      const { publishContext } = await driver.controller.controllerPublishVolume(request, callOptions(signal));
      const { uid } = attachment.metadata;
      const status = { attached: true, attachmentMetadata: publishContext, attachError: null };
      const body = { metadata: { uid }, status };
      const options = { subresource: "status", fieldManager, signal } as const;
      await client.patch(VolumeAttachment, keyOf(attachment), { type: "merge", body }, options);
      return;
    }
    case "unpublish": {
      const request = { volumeId: step.volumeId, nodeId: step.nodeId, secrets };
      await driver.controller.controllerUnpublishVolume(request, callOptions(signal)).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      return;
    }
    case "release-volume":
      if (found) await removeFinalizer(client, PersistentVolume, found.volume, { finalizer, signal });
      return;
    case "release":
      await removeFinalizer(client, VolumeAttachment, attachment, { finalizer, signal });
      return;
  }
}
