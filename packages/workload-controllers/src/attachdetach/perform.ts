import { isAlreadyExists, isNotFound, keyOf, Node } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import type { Deletions } from "../objects/deletions.ts";
import { fieldManager } from "../objects/pipeline.ts";
import { VolumeAttachment } from "../objects/storage.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/**
 * Creates or deletes an attachment, or lists the attached volumes in the Node's status. "deferred": the kubelet began
 * to use the volume after the plan was made, so its attachment is not deleted.
 */
export async function perform(
  { context, deletions }: { readonly context: Context; readonly deletions: Deletions },
  { node }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { client } = context.informers;
  switch (step.type) {
    case "create-attachment":
      return attach(context, step, signal);
    case "delete-attachment":
      // The kubelet was to learn that the volume goes; it may have begun to use it before, and a silent watch does not
      // show that.
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

async function attach(
  context: Context,
  { attachment, isExclusive }: Extract<Step, { readonly type: "create-attachment" }>,
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  if (isExclusive && (await isElsewhere(context, attachment, signal))) return;
  try {
    await client.create(VolumeAttachment, attachment, { fieldManager, signal });
  } catch (error) {
    // The name follows from volume and node: an earlier attempt made it, or it is being deleted.
    if (!isAlreadyExists(error)) throw error;
    const found = await client.find(VolumeAttachment, keyOf(attachment), { signal });
    if (found) context.informers.for(VolumeAttachment).observe(found);
  }
}

/**
 * Whether the volume is attached to another node: a silent watch does not show what another leader attached. The next
 * plan sees what was found.
 */
async function isElsewhere({ informers }: Context, { spec }: VolumeAttachment, signal: AbortSignal): Promise<boolean> {
  const { items } = await informers.client.list(VolumeAttachment, { signal });
  const others = items.filter(
    (each) =>
      each.spec.source.persistentVolumeName === spec.source.persistentVolumeName &&
      each.spec.nodeName !== spec.nodeName,
  );
  for (const each of others) informers.for(VolumeAttachment).observe(each);
  return others.length > 0;
}
