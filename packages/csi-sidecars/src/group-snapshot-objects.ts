import type { KubeObject, Resource, ResourceType, SelectorLike } from "@causeway/kubernetes";
import type { SnapshotError } from "./snapshot-objects.ts";

/** Wire types of groupsnapshot.storage.k8s.io/v1beta2, with the fields that are read or written here. */

/** groupsnapshot.storage.k8s.io/v1beta2 VolumeGroupSnapshot: the group that a user asks for. */
export type VolumeGroupSnapshot = Resource<
  {
    readonly source: { readonly selector?: SelectorLike; readonly volumeGroupSnapshotContentName?: string };
    readonly volumeGroupSnapshotClassName?: string;
  },
  {
    readonly boundVolumeGroupSnapshotContentName?: string;
    readonly creationTime?: string;
    readonly readyToUse?: boolean;
    readonly error?: SnapshotError | null;
  }
>;

/** One member of a group snapshot, as the driver returned it. */
export interface VolumeSnapshotInfo {
  readonly volumeHandle?: string;
  readonly snapshotHandle?: string;
  /** Nanoseconds since 1970. */
  readonly creationTime?: number;
  readonly readyToUse?: boolean;
  /** Bytes. */
  readonly restoreSize?: number;
}

/** groupsnapshot.storage.k8s.io VolumeGroupSnapshotContent: a group snapshot in the cloud. */
export type VolumeGroupSnapshotContent = Resource<
  {
    readonly driver: string;
    readonly deletionPolicy: string;
    readonly source: {
      readonly volumeHandles?: readonly string[];
      readonly groupSnapshotHandles?: {
        readonly volumeGroupSnapshotHandle: string;
        readonly volumeSnapshotHandles: readonly string[];
      };
    };
    readonly volumeGroupSnapshotClassName?: string;
    readonly volumeGroupSnapshotRef: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly uid?: string;
    };
  },
  {
    readonly volumeGroupSnapshotHandle?: string;
    readonly creationTime?: string;
    readonly readyToUse?: boolean;
    readonly volumeSnapshotInfoList?: readonly VolumeSnapshotInfo[];
    readonly error?: SnapshotError | null;
  }
>;

/** groupsnapshot.storage.k8s.io VolumeGroupSnapshotClass: driver and parameters of group snapshots. */
export interface VolumeGroupSnapshotClass extends KubeObject {
  readonly driver: string;
  readonly deletionPolicy: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The API group of group snapshots; a cluster without its CRDs has none. */
export const GROUP = "groupsnapshot.storage.k8s.io";
/** The version that upstream's CRDs store, too. */
export const VERSION = "v1beta2";

function groupType<T extends KubeObject>(kind: string, plural: string, namespaced: boolean): ResourceType<T> {
  return { group: GROUP, version: VERSION, kind, plural, namespaced };
}

/** The type by which a client reads VolumeGroupSnapshots. */
export const VolumeGroupSnapshot: ResourceType<VolumeGroupSnapshot> = groupType(
  "VolumeGroupSnapshot",
  "volumegroupsnapshots",
  true,
);
/** The type by which a client reads VolumeGroupSnapshotContents. */
export const VolumeGroupSnapshotContent: ResourceType<VolumeGroupSnapshotContent> = groupType(
  "VolumeGroupSnapshotContent",
  "volumegroupsnapshotcontents",
  false,
);
/** The type by which a client reads VolumeGroupSnapshotClasses. */
export const VolumeGroupSnapshotClass: ResourceType<VolumeGroupSnapshotClass> = groupType(
  "VolumeGroupSnapshotClass",
  "volumegroupsnapshotclasses",
  false,
);

const PREFIX = "groupsnapshot.storage.kubernetes.io/";
/** Names that snapshot-controller and csi-snapshotter write. */
export const groupNames = {
  beingDeleted: `${PREFIX}volumegroupsnapshot-being-deleted`,
  beingCreated: `${PREFIX}volumegroupsnapshot-being-created`,
  defaultClass: `${PREFIX}is-default-class`,
  boundFinalizer: `${PREFIX}volumegroupsnapshot-bound-protection`,
  contentFinalizer: `${PREFIX}volumegroupsnapshotcontent-bound-protection`,
};

/** Volumes of one group snapshot: the driver accepts no more. */
export const MOST_MEMBERS = 100;
