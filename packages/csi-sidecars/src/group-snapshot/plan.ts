import type { Plan, PlannedEvent } from "@causeway/kubernetes";
import {
  groupNames,
  MOST_MEMBERS,
  type VolumeGroupSnapshot,
  type VolumeGroupSnapshotContent,
} from "../group-snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import { memberSteps } from "./members.ts";
import type { Step } from "./steps.ts";

/** The group snapshot's status; undefined: it is left as it is. */
export type Status = NonNullable<VolumeGroupSnapshot["status"]> | undefined;

const AGAIN = 15_000;
const none: Plan<Step, Status> = { steps: [], status: undefined };

/**
 * Binds a group snapshot to one content, which this driver's part makes true in the cloud, and makes a VolumeSnapshot
 * for each volume.
 */
export function plan(observed: Observed, now: number): Plan<Step, Status> {
  const { group, content, contentName, driver, groupClass, sources } = observed;
  if (content && content.spec.driver !== driver.name) return none;
  if (group.metadata.deletionTimestamp !== undefined) return planDeletion(observed);
  if (content) {
    if (isBindable(observed, content)) return planBound(observed, content, now);
    return problem(observed, `VolumeGroupSnapshotContent ${contentName} is of another VolumeGroupSnapshot`, now);
  }
  if (group.spec.source.volumeGroupSnapshotContentName !== undefined) return none;
  // Group snapshots of a class or of volumes of another driver are that driver's.
  const isOurs = groupClass ? groupClass.driver === driver.name : sources.some(({ found }) => found !== undefined);
  return isOurs ? planContent(observed, now) : none;
}

function planContent(observed: Observed, now: number): Plan<Step, Status> {
  const { group, groupClass, sources, contentName, driver } = observed;
  const { name, namespace = "", uid = "" } = group.metadata;
  const why = obstacleOf(observed);
  if (why !== undefined || !groupClass) return problem(observed, why ?? "", now);
  const content: VolumeGroupSnapshotContent = {
    apiVersion: group.apiVersion ?? "",
    kind: "VolumeGroupSnapshotContent",
    metadata: { name: contentName },
    spec: {
      driver: driver.name,
      deletionPolicy: groupClass.deletionPolicy,
      source: { volumeHandles: sources.flatMap(({ found }) => found?.csi.volumeHandle ?? []) },
      volumeGroupSnapshotClassName: groupClass.metadata.name,
      volumeGroupSnapshotRef: {
        ...(group.apiVersion !== undefined && { apiVersion: group.apiVersion }),
        kind: "VolumeGroupSnapshot",
        namespace,
        name,
        uid,
      },
    },
  };
  const isNamed = group.spec.volumeGroupSnapshotClassName !== undefined;
  const message = `Waiting for a group snapshot ${namespace}/${name} to be created by the CSI driver.`;
  return {
    steps: [
      ...(isNamed ? [] : [{ type: "set-class" as const, name: groupClass.metadata.name }]),
      ...(isProtected(group) ? [] : [{ type: "protect" as const }]),
      { type: "create-content", content },
    ],
    status: undefined,
    events: [{ type: "Normal", reason: "CreatingGroupSnapshot", message }],
  };
}

/** Why no content can be made now. */
function obstacleOf({ group, groupClass, sources, contentName, driver }: Observed): string | undefined {
  const asked = group.spec.volumeGroupSnapshotClassName;
  if (!groupClass) {
    if (asked === undefined) return "there is no default VolumeGroupSnapshotClass";
    return `VolumeGroupSnapshotClass ${asked} is missing`;
  }
  if (group.status?.boundVolumeGroupSnapshotContentName) return `VolumeGroupSnapshotContent ${contentName} is missing`;
  if (sources.length === 0) return "the selector matches no PersistentVolumeClaim";
  if (sources.length > MOST_MEMBERS)
    return `the selector matches ${sources.length} PersistentVolumeClaims; ${MOST_MEMBERS} are supported`;
  const unbound = sources.find(({ claim }) => claim.status?.phase !== "Bound");
  if (unbound) return `PersistentVolumeClaim ${unbound.claim.metadata.name} is not bound`;
  const other = sources.find(({ found }) => !found);
  return other && `the volume of PersistentVolumeClaim ${other.claim.metadata.name} is not of ${driver.name}`;
}

function planBound(observed: Observed, content: VolumeGroupSnapshotContent, now: number): Plan<Step, Status> {
  const { group, contentName } = observed;
  const { creationTime, readyToUse = false, error, volumeSnapshotInfoList: infos = [] } = content.status ?? {};
  if (infos.length > MOST_MEMBERS)
    return problem(observed, `VolumeGroupSnapshotContent ${contentName} has ${infos.length} members`, now);
  const bind: Step[] = content.spec.volumeGroupSnapshotRef.uid === group.metadata.uid ? [] : [{ type: "bind-content" }];
  const protect: Step[] = isProtected(group) ? [] : [{ type: "protect" }];
  const steps = [...protect, ...bind, ...memberSteps(observed, content)];
  const status: Status = {
    boundVolumeGroupSnapshotContentName: contentName,
    readyToUse,
    ...(creationTime !== undefined && { creationTime }),
    ...(readyToUse ? {} : error && { error }),
  };
  const { namespace, name } = group.metadata;
  const isNew = readyToUse && group.status?.readyToUse !== true;
  const message = `GroupSnapshot ${namespace}/${name} is ready to use.`;
  const events: PlannedEvent[] = isNew ? [{ type: "Normal", reason: "GroupSnapshotReady", message }] : [];
  return { steps, status, events };
}

/** The group snapshot is kept until its content is deleted, or retained. */
function planDeletion({ group, content, members, user }: Observed): Plan<Step, Status> {
  if (!isProtected(group)) return none;
  if (user !== undefined) {
    return { ...none, wait: { for: `PersistentVolumeClaim ${user}, which is being made of one of its snapshots` } };
  }
  const names = members
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name);
  const remove: Step[] = names.length > 0 ? [{ type: "delete-members", names }] : [];
  const isOwn = content !== undefined && content.spec.volumeGroupSnapshotRef.uid === group.metadata.uid;
  if (!isOwn) return { ...none, steps: [...remove, { type: "release" }] };
  const isMarked = content.metadata.annotations?.[groupNames.beingDeleted] === "yes";
  const mark: Step[] = isMarked ? [] : [{ type: "mark-content" }];
  if (content.spec.deletionPolicy !== "Delete") return { ...none, steps: [...mark, ...remove, { type: "release" }] };
  const end: Step[] = content.metadata.deletionTimestamp === undefined ? [{ type: "delete-content" }] : [];
  return { ...none, steps: [...mark, ...end, ...remove], wait: { for: "the content's deletion" } };
}

const isProtected = ({ metadata }: VolumeGroupSnapshot): boolean =>
  metadata.finalizers?.includes(groupNames.boundFinalizer) === true;

/** A content names its one group snapshot; one without a uid was made by hand for one to come. */
function isBindable({ group }: Observed, { spec }: VolumeGroupSnapshotContent): boolean {
  const { namespace, name, uid } = spec.volumeGroupSnapshotRef;
  if (namespace !== group.metadata.namespace || name !== group.metadata.name) return false;
  return uid === undefined || uid === "" || uid === group.metadata.uid;
}

function problem({ group }: Observed, message: string, now: number): Plan<Step, Status> {
  const isKnown = group.status?.error?.message === message;
  const error = { message, time: isKnown ? (group.status?.error?.time ?? "") : new Date(now).toISOString() };
  return {
    steps: [],
    status: { ...group.status, readyToUse: false, error },
    wait: { for: message, until: now + AGAIN },
    events: isKnown ? [] : [{ type: "Warning", reason: "GroupSnapshotContentCreationFailed", message }],
  };
}
