import type { Plan } from "@causeway/kubernetes";
import { snapshotNames } from "../snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** What prevents the snapshot, for its status. */
export type Status = string | undefined;

/** How long (ms) until a snapshot that the driver still completes is read again. */
const AGAIN = 10_000;

const none: Plan<Step, Status> = { steps: [], status: undefined };

/** Makes one snapshot in the cloud of each content, and deletes it with the content if its policy says so. */
export function plan(observed: Observed, now: number): Plan<Step, Status> {
  const { content, readAt } = observed;
  if (isMember(observed)) return planMember(observed);
  if (content.metadata.deletionTimestamp !== undefined) return planDeletion(observed);
  const isBegun = hasFinalizer(observed) && !(content.spec.source.volumeHandle !== undefined && !mayExist(observed));
  if (content.status?.readyToUse === true && hasFinalizer(observed) && !mayExist(observed)) return none;
  const again = readAt === undefined ? now : readAt + AGAIN;
  if (again > now) return { ...none, wait: { for: "the driver to complete the snapshot", until: again } };
  return { ...none, steps: [...(isBegun ? [] : [{ type: "begin" as const }]), ...stepsOf(observed)] };
}

/** A member of a group snapshot is made and deleted with it. */
function planMember(observed: Observed): Plan<Step, Status> {
  const { metadata } = observed.content;
  if (metadata.deletionTimestamp === undefined)
    return hasFinalizer(observed) ? none : { ...none, steps: [{ type: "protect" }] };
  if (!hasFinalizer(observed)) return none;
  if (isFree(observed)) return { ...none, steps: [{ type: "release" }] };
  return { ...none, wait: { for: "its VolumeSnapshot, which must be deleted first" } };
}

const isMember = ({ content }: Observed): boolean =>
  content.metadata.annotations?.[snapshotNames.groupHandle] !== undefined;

const isFree = ({ content, isBound }: Observed): boolean =>
  content.metadata.annotations?.[snapshotNames.beingDeleted] === "yes" || !isBound;

function stepsOf({ content }: Observed): readonly Step[] {
  const { volumeHandle, snapshotHandle } = content.spec.source;
  if (volumeHandle !== undefined) return [{ type: "create" }];
  return snapshotHandle === undefined ? [] : [{ type: "read", handle: snapshotHandle }];
}

function planDeletion(observed: Observed): Plan<Step, Status> {
  const { spec, status } = observed.content;
  if (!hasFinalizer(observed)) return none;
  if (!isFree(observed)) return { ...none, wait: { for: "its VolumeSnapshot, which must be deleted first" } };
  const handle = spec.source.snapshotHandle ?? status?.snapshotHandle;
  const isTaken = handle !== undefined || mayExist(observed);
  const remove: Step[] = spec.deletionPolicy === "Delete" && isTaken ? [{ type: "delete", handle }] : [];
  return { ...none, steps: [...remove, { type: "release" }] };
}

const hasFinalizer = ({ content }: Observed): boolean =>
  content.metadata.finalizers?.includes(snapshotNames.contentFinalizer) === true;

/** A call that creates the snapshot has begun, and has not returned its ID. */
const mayExist = ({ content }: Observed): boolean =>
  content.metadata.annotations?.[snapshotNames.beingCreated] === "yes";
