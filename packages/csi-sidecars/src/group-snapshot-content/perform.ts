import { CausewayError } from "@causeway/foundation";
import type { VolumeGroupSnapshot as DriverGroup } from "@causeway/csi";
import { addFinalizer, keyOf, removeFinalizer } from "@causeway/kubernetes";
import { callOptions, fieldManager, type Context } from "../context.ts";
import { isFinal, isMissing } from "../errors.ts";
import { groupNames, VolumeGroupSnapshotClass, VolumeGroupSnapshotContent } from "../group-snapshot-objects.ts";
import { PREFIX } from "../names.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** The context, and when each content was read last, by its uid; see `Caches`. */
export interface PerformContext {
  readonly context: Context;
  readonly readAt: Map<string, number>;
}

const finalizer = groupNames.contentFinalizer;

/** Performs one step of a group snapshot's content, as csi-snapshotter does. An error of the driver is thrown. */
export async function perform(
  performing: PerformContext,
  observed: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const { context } = performing;
  const { client } = context.informers;
  const { content } = observed;
  switch (step.type) {
    case "begin":
      await addFinalizer(client, VolumeGroupSnapshotContent, content, { finalizer, signal });
      if (content.spec.source.volumeHandles !== undefined) await mark(context, content, "yes", signal);
      return;
    case "create":
      try {
        await publish(performing, content, await create(context, content, signal), signal);
      } catch (error) {
        // Nothing was created, and nothing is under way.
        if (isFinal(error)) await mark(context, content, null, signal);
        throw error;
      }
      return;
    case "read": {
      const ids = { groupSnapshotId: step.handle, snapshotIds: [...step.members] };
      const request = { ...ids, secrets: { ...context.driver.secrets } };
      const { groupSnapshot } = await groups(context).getVolumeGroupSnapshot(request, callOptions(signal));
      return publish(performing, content, required(context, groupSnapshot), signal);
    }
    case "delete":
      return deleteGroup(context, content, step, signal);
    case "release":
      await removeFinalizer(client, VolumeGroupSnapshotContent, content, { finalizer, signal });
      return;
  }
}

function groups({ driver }: Context): NonNullable<typeof driver.groupController> {
  if (driver.groupController) return driver.groupController;
  throw new CausewayError("CSI_UNIMPLEMENTED", `The driver ${driver.name} has no group snapshots.`);
}

function required({ driver }: Context, group: DriverGroup | undefined): DriverGroup {
  if (group) return group;
  throw new CausewayError("CSI_RESPONSE_INVALID", `The driver ${driver.name} returned no group snapshot.`);
}

async function create(
  context: Context,
  content: VolumeGroupSnapshotContent,
  signal: AbortSignal,
): Promise<DriverGroup> {
  const { driver, informers } = context;
  const { source, volumeGroupSnapshotRef: ref, volumeGroupSnapshotClassName: name } = content.spec;
  const key = { namespace: "", name: name ?? "" };
  const found = name === undefined ? undefined : await informers.client.find(VolumeGroupSnapshotClass, key, { signal });
  const own = Object.entries(found?.parameters ?? {}).filter(([each]) => !each.startsWith(PREFIX));
  const request = {
    name: `groupsnapshot-${ref.uid ?? ""}`,
    sourceVolumeIds: [...(source.volumeHandles ?? [])],
    secrets: { ...driver.secrets },
    parameters: {
      ...Object.fromEntries(own),
      [`${PREFIX}volumegroupsnapshot/name`]: ref.name ?? "",
      [`${PREFIX}volumegroupsnapshot/namespace`]: ref.namespace ?? "",
      [`${PREFIX}volumegroupsnapshotcontent/name`]: content.metadata.name,
    },
  };
  const { groupSnapshot } = await groups(context).createVolumeGroupSnapshot(request, callOptions(signal));
  return required(context, groupSnapshot);
}

async function deleteGroup(
  context: Context,
  content: VolumeGroupSnapshotContent,
  { handle, members }: Extract<Step, { type: "delete" }>,
  signal: AbortSignal,
): Promise<void> {
  const made = handle === undefined ? await create(context, content, signal).catch(nothingMade) : undefined;
  const groupSnapshotId = handle ?? made?.groupSnapshotId;
  if (groupSnapshotId === undefined) return;
  const snapshotIds = made ? made.snapshots.map(({ snapshotId }) => snapshotId) : [...members];
  const request = { groupSnapshotId, snapshotIds, secrets: { ...context.driver.secrets } };
  await groups(context)
    .deleteVolumeGroupSnapshot(request, callOptions(signal))
    .catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
}

/** Without its volumes nothing can have been created. */
function nothingMade(error: unknown): undefined {
  if (!isFinal(error)) throw error;
}

/** What the driver returned, and that its ID is known now. */
async function publish(
  { context, readAt }: PerformContext,
  content: VolumeGroupSnapshotContent,
  { groupSnapshotId, snapshots, creationTime, readyToUse }: DriverGroup,
  signal: AbortSignal,
): Promise<void> {
  const { uid = "" } = content.metadata;
  const at = creationTime ? Number(creationTime.seconds) * 1000 : context.clock.now();
  const status = {
    volumeGroupSnapshotHandle: groupSnapshotId,
    creationTime: content.status?.creationTime ?? `${new Date(at).toISOString().slice(0, 19)}Z`,
    readyToUse,
    volumeSnapshotInfoList: snapshots.map((each) => ({
      volumeHandle: each.sourceVolumeId,
      snapshotHandle: each.snapshotId,
      // Nanoseconds of whole seconds, which a number in JSON holds exactly.
      ...(each.creationTime && { creationTime: Number(each.creationTime.seconds) * 1e9 }),
      readyToUse: each.readyToUse,
      restoreSize: Number(each.sizeBytes),
    })),
    error: null,
  };
  const options = { subresource: "status", fieldManager, signal } as const;
  const body = { metadata: { uid }, status };
  await context.informers.client.patch(VolumeGroupSnapshotContent, keyOf(content), { type: "merge", body }, options);
  if (readyToUse) readAt.delete(uid);
  else readAt.set(uid, context.clock.now());
  if (content.spec.source.volumeHandles !== undefined) await mark(context, content, null, signal);
}

async function mark(
  { informers }: Context,
  content: VolumeGroupSnapshotContent,
  value: "yes" | null,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = content.metadata;
  const body = { metadata: { uid, annotations: { [groupNames.beingCreated]: value } } };
  const options = { fieldManager, signal };
  await informers.client.patch(VolumeGroupSnapshotContent, keyOf(content), { type: "merge", body }, options);
}
