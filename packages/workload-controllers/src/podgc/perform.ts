import { isNotFound, keyOf, Pod, timestamp } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import type { Deletions } from "../objects/deletions.ts";
import { isTerminal } from "../objects/pods.ts";
import { fieldManager } from "../objects/pipeline.ts";
import type { Step } from "./steps.ts";

/** Sets the pod's phase to Failed, unless it has ended, and deletes it without a grace period. */
export async function perform(
  { context, deletions }: { readonly context: Context; readonly deletions: Deletions },
  { pod, message }: Step,
  signal: AbortSignal,
): Promise<void> {
  const { informers, clock } = context;
  const { uid = "" } = pod.metadata;
  if (!isTerminal(pod)) {
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByPodGC",
      message,
      lastTransitionTime: timestamp(clock.now()),
    };
    const status = { phase: "Failed", ...(message === undefined ? {} : { conditions: [condition] }) };
    try {
      await informers.client.patch(
        Pod,
        keyOf(pod),
        { type: "strategic", body: { metadata: { uid }, status } },
        { subresource: "status", fieldManager, signal },
      );
    } catch (error) {
      if (isNotFound(error)) return deletions.note(uid);
      throw error;
    }
  }
  await deletions.perform(Pod, { ...keyOf(pod), uid }, signal, 0);
}
