import { CausewayError } from "@causeway/foundation";
import type { Snapshot } from "@causeway/csi";
import { addFinalizer, keyOf, removeFinalizer } from "@causeway/kubernetes";
import { callOptions, fieldManager, type Context } from "../context.ts";
import { isFinal, isMissing } from "../errors.ts";
import { PREFIX } from "../names.ts";
import { snapshotNames, VolumeSnapshotClass, VolumeSnapshotContent } from "../snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** The context, and when each content was read last, by its uid; see `Caches`. */
export interface PerformContext {
  readonly context: Context;
  readonly readAt: Map<string, number>;
}

/**
 * Performs one step of a snapshot's content, as csi-snapshotter does. @throws CSI_NOT_FOUND for a snapshot that is gone
 */
export async function perform(
  performing: PerformContext,
  observed: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const { context } = performing;
  const { client } = context.informers;
  const { content } = observed;
  const finalizer = snapshotNames.contentFinalizer;
  switch (step.type) {
    case "protect":
      await addFinalizer(client, VolumeSnapshotContent, content, { finalizer, signal });
      return;
    case "begin": {
      await addFinalizer(client, VolumeSnapshotContent, content, { finalizer, signal });
      if (content.spec.source.volumeHandle !== undefined) await mark(context, content, "yes", signal);
      return;
    }
    case "create":
      return createSnapshot(performing, content, signal);
    case "read": {
      const { snapshotId, entries } = await listed(context, step.handle, signal);
      const snapshot = entries[0]?.snapshot;
      if (!snapshot) throw new CausewayError("CSI_NOT_FOUND", `Snapshot ${snapshotId} does not exist.`);
      return publish(performing, content, snapshot, signal);
    }
    case "delete":
      return deleteSnapshot(context, content, step.handle, signal);
    case "release":
      await removeFinalizer(client, VolumeSnapshotContent, content, { finalizer, signal });
      return;
  }
}

async function listed({ driver }: Context, snapshotId: string, signal: AbortSignal) {
  const request = { snapshotId, secrets: { ...driver.secrets } };
  return { snapshotId, entries: (await driver.controller.listSnapshots(request, callOptions(signal))).entries };
}

async function createSnapshot(
  performing: PerformContext,
  content: VolumeSnapshotContent,
  signal: AbortSignal,
): Promise<void> {
  const { context } = performing;
  try {
    const snapshot = await create(context, content, signal);
    await publish(performing, content, snapshot, signal);
  } catch (error) {
    // Nothing was created, and nothing is under way.
    if (isFinal(error)) await mark(context, content, null, signal);
    throw error;
  }
}

async function create(
  { driver, informers }: Context,
  content: VolumeSnapshotContent,
  signal: AbortSignal,
): Promise<Snapshot> {
  const { source, volumeSnapshotRef: ref, volumeSnapshotClassName: name } = content.spec;
  const found =
    name === undefined
      ? undefined
      : await informers.client.find(VolumeSnapshotClass, { namespace: "", name }, { signal });
  const own = Object.entries(found?.parameters ?? {}).filter(([key]) => !key.startsWith(PREFIX));
  const request = {
    name: `snapshot-${ref.uid ?? ""}`,
    sourceVolumeId: source.volumeHandle ?? "",
    secrets: { ...driver.secrets },
    parameters: {
      ...Object.fromEntries(own),
      [`${PREFIX}volumesnapshot/name`]: ref.name ?? "",
      [`${PREFIX}volumesnapshot/namespace`]: ref.namespace ?? "",
      [`${PREFIX}volumesnapshotcontent/name`]: content.metadata.name,
    },
  };
  const { snapshot } = await driver.controller.createSnapshot(request, callOptions(signal));
  if (snapshot) return snapshot;
  throw new CausewayError("CSI_RESPONSE_INVALID", `The driver ${driver.name} returned no snapshot.`);
}

async function deleteSnapshot(
  context: Context,
  content: VolumeSnapshotContent,
  handle: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { driver } = context;
  const snapshotId = handle ?? (await create(context, content, signal).catch(noSource))?.snapshotId;
  if (snapshotId === undefined) return;
  const request = { snapshotId, secrets: { ...driver.secrets } };
  await driver.controller.deleteSnapshot(request, callOptions(signal)).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

/** Without its volume nothing can have been created. */
function noSource(error: unknown): undefined {
  if (!isFinal(error)) throw error;
}

/** What the driver returned, and that its ID is known now. */
async function publish(
  { context, readAt }: PerformContext,
  content: VolumeSnapshotContent,
  { snapshotId, sizeBytes, creationTime, readyToUse }: Snapshot,
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  const { uid = "" } = content.metadata;
  const status = {
    snapshotHandle: snapshotId,
    // Nanoseconds of whole seconds, which a number in JSON holds exactly.
    ...(creationTime && { creationTime: Number(creationTime.seconds) * 1e9 }),
    restoreSize: Number(sizeBytes),
    readyToUse,
    error: null,
  };
  const options = { subresource: "status", fieldManager, signal } as const;
  const body = { metadata: { uid }, status };
  await client.patch(VolumeSnapshotContent, keyOf(content), { type: "merge", body }, options);
  if (readyToUse) readAt.delete(uid);
  else readAt.set(uid, context.clock.now());
  if (content.spec.source.volumeHandle !== undefined) await mark(context, content, null, signal);
}

async function mark(
  { informers }: Context,
  content: VolumeSnapshotContent,
  value: "yes" | null,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = content.metadata;
  const body = { metadata: { uid, annotations: { [snapshotNames.beingCreated]: value } } };
  const options = { fieldManager, signal };
  await informers.client.patch(VolumeSnapshotContent, keyOf(content), { type: "merge", body }, options);
}
