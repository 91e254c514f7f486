import { isAlreadyExists, isNotFound, keyOf, Node } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import type { Deletions } from "../objects/deletions.ts";
import { fieldManager } from "../objects/road.ts";
import { VolumeAttachment } from "../objects/storage.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

export async function perform(
  { context, deletions }: { readonly context: Context; readonly deletions: Deletions },
  { node }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { client } = context.informers;
  switch (step.type) {
    case "create-attachment":
      try {
        await client.create(VolumeAttachment, step.attachment, { fieldManager, signal });
      } catch (error) {
        // The name follows from volume and node: an earlier attempt made it, or it is being deleted.
        if (!isAlreadyExists(error)) throw error;
        const found = await client.find(VolumeAttachment, keyOf(step.attachment), { signal });
        if (found) context.informers.for(VolumeAttachment).observe(found);
      }
      return;
    case "delete-attachment":
      // The kubelet was to learn that the volume goes; it may have begun to use it before, and a silent watch does not show that.
      if (node && step.unlessUsed !== undefined) {
        const fresh = await client.find(Node, keyOf(node), { signal });
        if (fresh) context.informers.for(Node).observe(fresh);
        const { volumesInUse = [] } = (fresh?.status ?? {}) as { volumesInUse?: readonly string[] };
        if (volumesInUse.includes(step.unlessUsed)) return "deferred";
      }
      return deletions.perform(VolumeAttachment, step.target, signal);
    case "list-attached": {
      if (!node) return;
      const volumesAttached = step.names.map((name) => ({ name, devicePath: "" }));
      const body = { metadata: { uid: node.metadata.uid }, status: { volumesAttached } };
      try {
        await client.patch(Node, keyOf(node), { type: "merge", body }, { subresource: "status", fieldManager, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      for (const { volume, pods } of step.begun) {
        const message = `AttachVolume.Attach succeeded for volume ${JSON.stringify(volume)} `;
        for (const pod of pods) {
          context.events.event(pod, { type: "Normal", reason: "SuccessfulAttachVolume", message });
        }
      }
      return;
    }
  }
}
