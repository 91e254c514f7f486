import { isNotFound, keyOf, PersistentVolume, removeFinalizer } from "@causeway/kubernetes";
import { callOptions, type Context } from "../context.ts";
import { isMissing } from "../errors.ts";
import { PROVISIONER_FINALIZER } from "../names.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/**
 * Performs one step of a deletion, as csi-provisioner does. A volume that the driver does not know counts as deleted.
 */
export async function perform(
  { context, deleted }: { readonly context: Context; readonly deleted: Set<string> },
  { volume }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const { informers, driver } = context;
  const { client } = informers;
  const { uid = "" } = volume.metadata;
  switch (step.type) {
    case "delete-volume": {
      const request = { volumeId: step.volumeId, secrets: { ...driver.secrets } };
      await driver.controller.deleteVolume(request, callOptions(signal)).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      deleted.add(uid);
      return;
    }
    case "delete-object":
      try {
        await client.delete(PersistentVolume, keyOf(volume), { preconditions: { uid }, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      return;
    case "remove-finalizer":
      await removeFinalizer(client, PersistentVolume, volume, { finalizer: PROVISIONER_FINALIZER, signal });
      return;
  }
}
