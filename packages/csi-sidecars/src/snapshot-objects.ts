import type { KubeObject, Resource, ResourceType } from "@causeway/kubernetes";

/** Wire types of snapshot.storage.k8s.io/v1, with the fields that are read or written here. */

/** Why a snapshot failed last, and when. */
export interface SnapshotError {
  readonly time?: string;
  readonly message?: string;
}

/** snapshot.storage.k8s.io/v1 VolumeSnapshot: the snapshot that a user asks for. */
export type VolumeSnapshot = Resource<
  {
    readonly source: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
    readonly volumeSnapshotClassName?: string;
  },
  {
    readonly boundVolumeSnapshotContentName?: string;
    readonly creationTime?: string;
    readonly readyToUse?: boolean;
    readonly restoreSize?: string;
    readonly error?: SnapshotError | null;
  }
>;

/** snapshot.storage.k8s.io/v1 VolumeSnapshotContent: a snapshot in the cloud. */
export type VolumeSnapshotContent = Resource<
  {
    readonly driver: string;
    readonly deletionPolicy: string;
    readonly source: { readonly volumeHandle?: string; readonly snapshotHandle?: string };
    readonly sourceVolumeMode?: string;
    readonly volumeSnapshotClassName?: string;
    readonly volumeSnapshotRef: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
  },
  {
    readonly snapshotHandle?: string;
    /** Nanoseconds since 1970. */
    readonly creationTime?: number;
    /** Bytes. */
    readonly restoreSize?: number;
    readonly readyToUse?: boolean;
    readonly error?: SnapshotError | null;
  }
>;

/** snapshot.storage.k8s.io/v1 VolumeSnapshotClass: the driver and parameters of snapshots. */
export interface VolumeSnapshotClass extends KubeObject {
  readonly driver: string;
  readonly deletionPolicy: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

function snapshotType<T extends KubeObject>(kind: string, plural: string, namespaced: boolean): ResourceType<T> {
  return { group: "snapshot.storage.k8s.io", version: "v1", kind, plural, namespaced };
}

/** The type by which a client reads VolumeSnapshots. */
export const VolumeSnapshot: ResourceType<VolumeSnapshot> = snapshotType("VolumeSnapshot", "volumesnapshots", true);
/** The type by which a client reads VolumeSnapshotContents. */
export const VolumeSnapshotContent: ResourceType<VolumeSnapshotContent> = snapshotType(
  "VolumeSnapshotContent",
  "volumesnapshotcontents",
  false,
);
/** The type by which a client reads VolumeSnapshotClasses. */
export const VolumeSnapshotClass: ResourceType<VolumeSnapshotClass> = snapshotType(
  "VolumeSnapshotClass",
  "volumesnapshotclasses",
  false,
);

const PREFIX = "snapshot.storage.kubernetes.io/";
/** Names that snapshot-controller and csi-snapshotter write. */
export const snapshotNames = {
  beingDeleted: `${PREFIX}volumesnapshot-being-deleted`,
  beingCreated: `${PREFIX}volumesnapshot-being-created`,
  defaultClass: `${PREFIX}is-default-class`,
  sourceFinalizer: `${PREFIX}volumesnapshot-as-source-protection`,
  boundFinalizer: `${PREFIX}volumesnapshot-bound-protection`,
  contentFinalizer: `${PREFIX}volumesnapshotcontent-bound-protection`,
  /** Of a snapshot that a group snapshot made. */
  groupFinalizer: `${PREFIX}volumesnapshot-in-group-protection`,
  /** Of its content: the ID of the group snapshot, by which alone it is made and deleted. */
  groupHandle: "groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle",
};
