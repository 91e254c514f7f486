import { addFinalizer, keyOf, removeFinalizer } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { fieldManager } from "../objects/pipeline.ts";
import { annotation, PersistentVolume, volumeFinalizer } from "../objects/storage.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Does one step; "unbind" is a conflict if the volume changed since it was read. */
export async function perform(
  { informers: { client } }: Context,
  { volume }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const options = { fieldManager, signal };
  const { uid, resourceVersion } = volume.metadata;
  switch (step.type) {
    case "protect":
      await addFinalizer(client, PersistentVolume, volume, { finalizer: volumeFinalizer, signal });
      return;
    case "unprotect":
      await removeFinalizer(client, PersistentVolume, volume, { finalizer: volumeFinalizer, signal });
      return;
    case "set-phase": {
      const body = { metadata: { uid }, status: { phase: step.phase, message: step.message ?? null } };
      await client.patch(
        PersistentVolume,
        keyOf(volume),
        { type: "merge", body },
        { ...options, subresource: "status" },
      );
      return;
    }
    case "unbind": {
      const claimRef = step.keepsName ? { uid: null, resourceVersion: null } : null;
      const annotations = { [annotation.boundByController]: null };
      const body = { metadata: { uid, resourceVersion, annotations }, spec: { claimRef } };
      await client.patch(PersistentVolume, keyOf(volume), { type: "merge", body }, options);
      return;
    }
  }
}
