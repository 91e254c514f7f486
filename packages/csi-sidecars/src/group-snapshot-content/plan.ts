import type { Plan } from "@causeway/kubernetes";
import { groupNames } from "../group-snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** What prevents the group snapshot, for its status. */
export type Status = string | undefined;

/** How long (ms) until a group snapshot that the driver still completes is read again. */
const AGAIN = 10_000;

const none: Plan<Step, Status> = { steps: [], status: undefined };

/** Makes one group snapshot in the cloud of each content, and deletes it with the content if its policy says so. */
export function plan(observed: Observed, now: number): Plan<Step, Status> {
  const { content, readAt } = observed;
  if (content.metadata.deletionTimestamp !== undefined) return planDeletion(observed);
  const isCreated = content.spec.source.volumeHandles !== undefined;
  const isBegun = hasFinalizer(observed) && !(isCreated && !mayExist(observed));
  if (content.status?.readyToUse === true && hasFinalizer(observed) && !mayExist(observed)) return none;
  const again = readAt === undefined ? now : readAt + AGAIN;
  if (again > now) return { ...none, wait: { for: "the driver to complete the group snapshot", until: again } };
  return { ...none, steps: [...(isBegun ? [] : [{ type: "begin" as const }]), ...stepsOf(observed)] };
}

function stepsOf({ content }: Observed): readonly Step[] {
  const { volumeHandles, groupSnapshotHandles: handles } = content.spec.source;
  if (volumeHandles !== undefined) return [{ type: "create" }];
  if (!handles) return [];
  return [{ type: "read", handle: handles.volumeGroupSnapshotHandle, members: handles.volumeSnapshotHandles }];
}

function planDeletion(observed: Observed): Plan<Step, Status> {
  const { content, isBound } = observed;
  const { metadata, spec, status } = content;
  if (!hasFinalizer(observed)) return none;
  const isFree = metadata.annotations?.[groupNames.beingDeleted] === "yes" || !isBound;
  if (!isFree) return { ...none, wait: { for: "its VolumeGroupSnapshot, which must be deleted first" } };
  const given = spec.source.groupSnapshotHandles;
  const handle = given?.volumeGroupSnapshotHandle ?? status?.volumeGroupSnapshotHandle;
  const known = status?.volumeSnapshotInfoList?.flatMap(({ snapshotHandle }) => snapshotHandle ?? []);
  const members = known ?? given?.volumeSnapshotHandles ?? [];
  const isTaken = handle !== undefined || mayExist(observed);
  const remove: Step[] = spec.deletionPolicy === "Delete" && isTaken ? [{ type: "delete", handle, members }] : [];
  return { ...none, steps: [...remove, { type: "release" }] };
}

const hasFinalizer = ({ content }: Observed): boolean =>
  content.metadata.finalizers?.includes(groupNames.contentFinalizer) === true;

/** A call that creates the group snapshot has begun, and has not returned its ID. */
const mayExist = ({ content }: Observed): boolean => content.metadata.annotations?.[groupNames.beingCreated] === "yes";
