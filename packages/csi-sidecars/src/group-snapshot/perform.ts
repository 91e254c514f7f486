import {
  addFinalizer,
  isAlreadyExists,
  isNotFound,
  keyOf,
  removeFinalizer,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
} from "@causeway/kubernetes";
import { fieldManager, type Context } from "../context.ts";
import { groupNames, VolumeGroupSnapshot, VolumeGroupSnapshotContent } from "../group-snapshot-objects.ts";
import { VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

const finalizer = groupNames.boundFinalizer;

/** Performs one step of a VolumeGroupSnapshot, as snapshot-controller does. The storage is the content's matter. */
export async function perform(context: Context, observed: Observed, step: Step, signal: AbortSignal): Promise<void> {
  const { client } = context.informers;
  const { group, content } = observed;
  switch (step.type) {
    case "protect":
      await addFinalizer(client, VolumeGroupSnapshot, group, { finalizer, signal });
      return;
    case "set-class": {
      const body = { metadata: { uid: group.metadata.uid }, spec: { volumeGroupSnapshotClassName: step.name } };
      await client.patch(VolumeGroupSnapshot, keyOf(group), { type: "merge", body }, { fieldManager, signal });
      return;
    }
    case "create-content":
      await createOrRead(context, VolumeGroupSnapshotContent, step.content, signal);
      return;
    case "bind-content":
      return patchContent(context, content, { spec: { volumeGroupSnapshotRef: { uid: group.metadata.uid } } }, signal);
    case "create-member":
      return createMember(context, step, signal);
    case "mark-content": {
      const annotations = { [groupNames.beingDeleted]: "yes" };
      return patchContent(context, content, { metadata: { annotations } }, signal);
    }
    case "delete-content": {
      const { uid } = content?.metadata ?? {};
      if (!content || uid === undefined) return;
      await client.delete(VolumeGroupSnapshotContent, keyOf(content), { preconditions: { uid }, signal });
      return;
    }
    case "delete-members":
      for (const name of step.names)
        await client
          .delete(VolumeSnapshot, { namespace: group.metadata.namespace ?? "", name }, { signal })
          .catch(unlessMissing);
      return;
    case "release":
      await removeFinalizer(client, VolumeGroupSnapshot, group, { finalizer, signal });
      return;
  }
}

/** In the order of snapshot-controller; each part is safe to repeat, and their names are the same for each attempt. */
async function createMember(
  context: Context,
  { snapshot, content, status }: Extract<Step, { type: "create-member" }>,
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  const options = { fieldManager, signal };
  const made = await createOrRead(context, VolumeSnapshotContent, content, signal);
  const member = await createOrRead(context, VolumeSnapshot, snapshot, signal);
  if (!made || !member) return;
  const { uid } = member.metadata;
  const bind = { metadata: { uid: made.metadata.uid }, spec: { volumeSnapshotRef: { uid } } };
  await client.patch(VolumeSnapshotContent, keyOf(made), { type: "merge", body: bind }, options);
  const ofStatus = { ...options, subresource: "status" } as const;
  const bound = { metadata: { uid }, status: { boundVolumeSnapshotContentName: content.metadata.name } };
  await client.patch(VolumeSnapshot, keyOf(member), { type: "merge", body: bound }, ofStatus);
  const shown = { metadata: { uid: made.metadata.uid }, status };
  await client.patch(VolumeSnapshotContent, keyOf(made), { type: "merge", body: shown }, ofStatus);
}

/** The object of this name, created or from an earlier attempt. */
async function createOrRead<T extends KubeObject>(
  { informers }: Context,
  type: ResourceType<T>,
  object: T,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await informers.client.create(type, object, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const key: ObjectKey = keyOf(object);
    const found = await informers.client.find(type, key, { signal });
    if (found) informers.for(type).observe(found);
    return found;
  }
}

async function patchContent(
  { informers }: Context,
  content: VolumeGroupSnapshotContent | undefined,
  change: { readonly metadata?: object; readonly spec?: object },
  signal: AbortSignal,
): Promise<void> {
  if (!content) return;
  const { uid } = content.metadata;
  const body = { ...change, metadata: { uid, ...change.metadata } };
  const options = { fieldManager, signal };
  const { client } = informers;
  await client.patch(VolumeGroupSnapshotContent, keyOf(content), { type: "merge", body }, options).catch(unlessMissing);
}

function unlessMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
