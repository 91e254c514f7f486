/**
 * Names that PersistentVolumes, StorageClasses and volumes of upstream's driver have: they are the contract of a
 * replacement.
 */

/** The name of the driver, in StorageClasses and PersistentVolumes. */
export const DRIVER_NAME = "cinder.csi.openstack.org";
/** The version of the vendor's driver whose behavior this one has. */
export const DRIVER_VERSION = "2.0.0";
/** The topology key of nodes and volumes: the availability zone. */
export const TOPOLOGY_ZONE = `topology.${DRIVER_NAME}/zone`;

/** Metadata of volumes and snapshots: the name of the cluster that they were created for (--cluster). */
export const METADATA_CLUSTER = `${DRIVER_NAME}/cluster`;
/** Of volumes made of a backup: Cinder does not return it. */
export const METADATA_BACKUP = `${DRIVER_NAME}/backup-id`;
/** The description of volumes, snapshots and backups. */
export const DESCRIPTION = "Created by OpenStack Cinder CSI driver";

/** In the volume context: the file system may be smaller than the volume, as its content was copied. */
export const RESIZE_REQUIRED = `${DRIVER_NAME}/resizeRequired`;
/** In the publish context: the device's path as Nova reported it. */
export const PUBLISH_DEVICE = "DevicePath";

/** Annotation of a claim with names or IDs of volumes, separated by commas: on the same storage host as these. */
export const ANNOTATION_AFFINITY = `${DRIVER_NAME}/affinity`;
/** Annotation of a claim with names or IDs of volumes, separated by commas: on another storage host than these. */
export const ANNOTATION_ANTI_AFFINITY = `${DRIVER_NAME}/anti-affinity`;

/** What csi-snapshotter adds to the parameters with --extra-create-metadata. */
export const SNAPSHOTTER_METADATA: readonly string[] = [
  "csi.storage.k8s.io/volumesnapshot/name",
  "csi.storage.k8s.io/volumesnapshot/namespace",
  "csi.storage.k8s.io/volumesnapshotcontent/name",
];

/** What csi-snapshotter adds to the parameters of a group snapshot with --extra-create-metadata. */
export const GROUP_SNAPSHOTTER_METADATA: readonly string[] = [
  "csi.storage.k8s.io/volumegroupsnapshot/name",
  "csi.storage.k8s.io/volumegroupsnapshot/namespace",
  "csi.storage.k8s.io/volumegroupsnapshotcontent/name",
];
