import { addFinalizer, isAlreadyExists, isNotFound, keyOf, removeFinalizer } from "@causeway/kubernetes";
import { fieldManager, type Context } from "../context.ts";
import { snapshotNames, VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

const FINALIZERS = [snapshotNames.boundFinalizer, snapshotNames.sourceFinalizer];
const EVERY_FINALIZER = [...FINALIZERS, snapshotNames.groupFinalizer];

/** Performs one step of a VolumeSnapshot, as snapshot-controller does. The storage is the content's matter. */
export async function perform(context: Context, observed: Observed, step: Step, signal: AbortSignal): Promise<void> {
  const { client } = context.informers;
  const { snapshot, content } = observed;
  switch (step.type) {
    case "protect": {
      let latest = snapshot;
      for (const finalizer of FINALIZERS)
        latest = await addFinalizer(client, VolumeSnapshot, latest, { finalizer, signal });
      return;
    }
    case "set-class": {
      const body = { metadata: { uid: snapshot.metadata.uid }, spec: { volumeSnapshotClassName: step.name } };
      await client.patch(VolumeSnapshot, keyOf(snapshot), { type: "merge", body }, { fieldManager, signal });
      return;
    }
    case "create-content":
      try {
        await client.create(VolumeSnapshotContent, step.content, { fieldManager, signal });
      } catch (error) {
        // The name has the snapshot's uid: an earlier attempt created it.
        if (!isAlreadyExists(error)) throw error;
        const found = await client.find(VolumeSnapshotContent, keyOf(step.content), { signal });
        if (found) context.informers.for(VolumeSnapshotContent).observe(found);
      }
      return;
    case "bind-content":
      return patchContent(context, observed, { spec: { volumeSnapshotRef: { uid: snapshot.metadata.uid } } }, signal);
    case "mark-content":
      return patchContent(
        context,
        observed,
        { metadata: { annotations: { [snapshotNames.beingDeleted]: "yes" } } },
        signal,
      );
    case "delete-content": {
      const { uid } = content?.metadata ?? {};
      if (!content || uid === undefined) return;
      await client.delete(VolumeSnapshotContent, keyOf(content), { preconditions: { uid }, signal });
      return;
    }
    case "release":
      for (const finalizer of EVERY_FINALIZER)
        await removeFinalizer(client, VolumeSnapshot, snapshot, { finalizer, signal });
      return;
  }
}

async function patchContent(
  { informers }: Context,
  { content }: Observed,
  change: { readonly metadata?: object; readonly spec?: object },
  signal: AbortSignal,
): Promise<void> {
  if (!content) return;
  const { uid } = content.metadata;
  const body = { ...change, metadata: { uid, ...change.metadata } };
  try {
    const options = { fieldManager, signal };
    await informers.client.patch(VolumeSnapshotContent, keyOf(content), { type: "merge", body }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
