import type { Plan } from "@causeway/kubernetes";
import { snapshotNames } from "../snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** What prevents the snapshot, for its status. */
export type Status = string | undefined;

/** How long (ms) until a snapshot that the driver still completes is read again. */
const AGAIN = 10_000;

/** Makes one snapshot in the cloud of each content, and deletes it with the content if its policy says so. */
export function plan({ content, isBound, readAt }: Observed, now: number): Plan<Step, Status> {
  const none: Plan<Step, Status> = { steps: [], status: undefined };
  const { metadata, spec, status } = content;
  const { finalizers = [], annotations = {} } = metadata;
  const hasFinalizer = finalizers.includes(snapshotNames.contentFinalizer);
  const mayExist = annotations[snapshotNames.beingCreated] === "yes";
  const handle = spec.source.snapshotHandle ?? status?.snapshotHandle;
  if (metadata.deletionTimestamp !== undefined) {
    if (!hasFinalizer) return none;
    const isFree = annotations[snapshotNames.beingDeleted] === "yes" || !isBound;
    if (!isFree) return { ...none, wait: { for: "its VolumeSnapshot, which must be deleted first" } };
    const isTaken = handle !== undefined || mayExist;
    const remove: Step[] = spec.deletionPolicy === "Delete" && isTaken ? [{ type: "delete", handle }] : [];
    return { ...none, steps: [...remove, { type: "release" }] };
  }
  if (status?.readyToUse === true && hasFinalizer && !mayExist) return none;
  const isDynamic = spec.source.volumeHandle !== undefined;
  const begin: Step[] = hasFinalizer && (mayExist || !isDynamic) ? [] : [{ type: "begin" }];
  const next: Step[] = isDynamic
    ? [{ type: "create" }]
    : spec.source.snapshotHandle === undefined
      ? []
      : [{ type: "read", handle: spec.source.snapshotHandle }];
  const again = readAt === undefined ? now : readAt + AGAIN;
  if (again > now) return { ...none, wait: { for: "the driver to complete the snapshot", until: again } };
  return { ...none, steps: [...begin, ...next] };
}
