import type { Plan, PlannedEvent } from "@causeway/kubernetes";
import { quantityOfBytes } from "../quantity.ts";
import { snapshotNames, type VolumeSnapshot, type VolumeSnapshotContent } from "../snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** The snapshot's status; undefined: it is left as it is. */
export type Status = NonNullable<VolumeSnapshot["status"]> | undefined;

const AGAIN = 15_000;
const none: Plan<Step, Status> = { steps: [], status: undefined };

/** Binds a snapshot to one content, which this driver's part makes true in the cloud. */
export function plan(observed: Observed, now: number): Plan<Step, Status> {
  const { snapshot, content, driver, snapshotClass, found } = observed;
  if (content && content.spec.driver !== driver.name) return none;
  if (snapshot.metadata.deletionTimestamp !== undefined) return planDeletion(observed);
  if (content) return isBindable(observed, content) ? planBound(observed, content) : bindProblem(observed, now);
  if (snapshot.spec.source.volumeSnapshotContentName !== undefined) return none;
  // Its group snapshot makes the content.
  if (isMember(snapshot)) return none;
  // Snapshots of a class or volume of another driver are that driver's.
  if (snapshotClass ? snapshotClass.driver !== driver.name : !found) return none;
  return planContent(observed, now);
}

function planContent(observed: Observed, now: number): Plan<Step, Status> {
  const { snapshot, snapshotClass, claim, found, contentName, driver } = observed;
  const { name, namespace = "", uid = "" } = snapshot.metadata;
  const claimName = snapshot.spec.source.persistentVolumeClaimName ?? "";
  if (!snapshotClass) {
    const asked = snapshot.spec.volumeSnapshotClassName;
    const why =
      asked === undefined ? "there is no default VolumeSnapshotClass" : `VolumeSnapshotClass ${asked} is missing`;
    return problem(observed, why, now);
  }
  if (snapshot.status?.boundVolumeSnapshotContentName)
    return problem(observed, `VolumeSnapshotContent ${contentName} is missing`, now);
  if (!claim) return problem(observed, `PersistentVolumeClaim ${claimName} is missing`, now);
  if (claim.status?.phase !== "Bound") return problem(observed, `PersistentVolumeClaim ${claimName} is not bound`, now);
  if (!found)
    return problem(observed, `the volume of PersistentVolumeClaim ${claimName} is not of ${driver.name}`, now);
  const content: VolumeSnapshotContent = {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotContent",
    metadata: { name: contentName, finalizers: [snapshotNames.contentFinalizer] },
    spec: {
      driver: driver.name,
      deletionPolicy: snapshotClass.deletionPolicy,
      source: { volumeHandle: found.csi.volumeHandle },
      sourceVolumeMode: found.volume.spec.volumeMode ?? "Filesystem",
      volumeSnapshotClassName: snapshotClass.metadata.name,
      volumeSnapshotRef: { namespace, name, uid },
    },
  };
  const isNamed = snapshot.spec.volumeSnapshotClassName !== undefined;
  const message = `Waiting for a snapshot ${namespace}/${name} to be created by the CSI driver.`;
  return {
    steps: [
      ...(isNamed ? [] : [{ type: "set-class" as const, name: snapshotClass.metadata.name }]),
      ...(isProtected(snapshot) ? [] : [{ type: "protect" as const }]),
      { type: "create-content", content },
    ],
    status: undefined,
    events: [{ type: "Normal", reason: "CreatingSnapshot", message }],
  };
}

function planBound(observed: Observed, content: VolumeSnapshotContent): Plan<Step, Status> {
  const { snapshot, contentName } = observed;
  const { creationTime, readyToUse = false, restoreSize, error } = content.status ?? {};
  const bind: Step[] = content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid ? [] : [{ type: "bind-content" }];
  const steps: Step[] = [...(isProtected(snapshot) ? [] : [{ type: "protect" as const }]), ...bind];
  const status: Status = {
    boundVolumeSnapshotContentName: contentName,
    readyToUse,
    ...(creationTime !== undefined && { creationTime: instantOf(creationTime) }),
    ...(restoreSize !== undefined && { restoreSize: quantityOfBytes(BigInt(restoreSize)) }),
    ...(readyToUse ? {} : error && { error }),
  };
  const isNew = readyToUse && snapshot.status?.readyToUse !== true;
  const message = `Snapshot ${snapshot.metadata.namespace}/${snapshot.metadata.name} is ready to use.`;
  const events: PlannedEvent[] = isNew ? [{ type: "Normal", reason: "SnapshotReady", message }] : [];
  return { steps, status, events };
}

/** The snapshot is kept until its content is deleted, or retained. */
function planDeletion({ snapshot, content, user, group }: Observed): Plan<Step, Status> {
  if (!isProtected(snapshot) && !isMember(snapshot)) return none;
  if (group !== undefined) return { ...none, wait: { for: `VolumeGroupSnapshot ${group}, with which it is deleted` } };
  if (user !== undefined) {
    return { ...none, wait: { for: `PersistentVolumeClaim ${user}, which is being made of the snapshot` } };
  }
  const isOwn = content !== undefined && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;
  if (!isOwn) return { ...none, steps: [{ type: "release" }] };
  const mark: Step[] =
    content.metadata.annotations?.[snapshotNames.beingDeleted] === "yes" ? [] : [{ type: "mark-content" }];
  if (content.spec.deletionPolicy !== "Delete") return { ...none, steps: [...mark, { type: "release" }] };
  const remove: Step[] = content.metadata.deletionTimestamp === undefined ? [{ type: "delete-content" }] : [];
  return { ...none, steps: [...mark, ...remove], wait: { for: "the content's deletion" } };
}

const isProtected = ({ metadata }: VolumeSnapshot): boolean =>
  [snapshotNames.boundFinalizer, snapshotNames.sourceFinalizer].every((each) => metadata.finalizers?.includes(each));

const isMember = ({ metadata }: VolumeSnapshot): boolean =>
  metadata.finalizers?.includes(snapshotNames.groupFinalizer) === true;

/** A content names its one snapshot; one without a uid was made by hand for a snapshot to come. */
function isBindable({ snapshot }: Observed, { spec }: VolumeSnapshotContent): boolean {
  const { namespace, name, uid } = spec.volumeSnapshotRef;
  const { metadata } = snapshot;
  if (namespace !== metadata.namespace || name !== metadata.name) return false;
  return uid === undefined || uid === "" || uid === metadata.uid;
}

function bindProblem(observed: Observed, now: number): Plan<Step, Status> {
  return problem(observed, `VolumeSnapshotContent ${observed.contentName} is of another VolumeSnapshot`, now);
}

function problem({ snapshot }: Observed, message: string, now: number): Plan<Step, Status> {
  const isKnown = snapshot.status?.error?.message === message;
  const error = { message, time: isKnown ? (snapshot.status?.error?.time ?? "") : new Date(now).toISOString() };
  return {
    steps: [],
    status: { ...snapshot.status, readyToUse: false, error },
    wait: { for: message, until: now + AGAIN },
    events: isKnown ? [] : [{ type: "Warning", reason: "SnapshotContentCreationFailed", message }],
  };
}

const instantOf = (nanoseconds: number): string => `${new Date(nanoseconds / 1e6).toISOString().slice(0, 19)}Z`;
