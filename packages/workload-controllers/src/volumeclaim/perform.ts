import { addFinalizer, keyOf, removeFinalizer } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { fieldManager } from "../objects/pipeline.ts";
import { annotation, claimFinalizer, PersistentVolume, PersistentVolumeClaim } from "../objects/storage.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Does one step; class and binding are written with the resourceVersion: a change meanwhile is a conflict. */
export async function perform(
  { informers }: Context,
  { claim }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const { client } = informers;
  const { uid, resourceVersion, namespace, name } = claim.metadata;
  const options = { fieldManager, signal };
  const patch = (body: Record<string, unknown>) =>
    client.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", body }, options);
  switch (step.type) {
    case "protect":
      await addFinalizer(client, PersistentVolumeClaim, claim, { finalizer: claimFinalizer, signal });
      return;
    case "unprotect":
      await removeFinalizer(client, PersistentVolumeClaim, claim, { finalizer: claimFinalizer, signal });
      return;
    case "set-class":
      await patch({ metadata: { uid, resourceVersion }, spec: { storageClassName: step.storageClass } });
      return;
    case "set-provisioner": {
      const { provisioner } = step;
      const annotations = { [annotation.provisioner]: provisioner, [annotation.betaProvisioner]: provisioner };
      await patch({ metadata: { uid, annotations } });
      return;
    }
    case "reserve-volume": {
      const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion };
      const metadata = {
        uid: step.volume.uid,
        resourceVersion: step.resourceVersion,
        ...(step.chosenHere ? { annotations: { [annotation.boundByController]: "yes" } } : {}),
      };
      const body = { metadata, spec: { claimRef } };
      await client.patch(PersistentVolume, step.volume, { type: "merge", body }, options);
      return;
    }
    case "bind-claim": {
      const annotations = {
        [annotation.bindCompleted]: "yes",
        ...(step.chosenHere ? { [annotation.boundByController]: "yes" } : {}),
      };
      await patch({ metadata: { uid, resourceVersion, annotations }, spec: { volumeName: step.volume } });
      return;
    }
    case "set-status": {
      const { type: _type, ...status } = step;
      const body = { metadata: { uid }, status };
      await client.patch(
        PersistentVolumeClaim,
        keyOf(claim),
        { type: "merge", body },
        { ...options, subresource: "status" },
      );
      return;
    }
  }
}
