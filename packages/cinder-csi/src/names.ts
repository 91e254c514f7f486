/**
 * Names that PersistentVolumes, StorageClasses and volumes of upstream's driver have: they are the contract of a
 * replacement.
 */
export const DRIVER_NAME = "cinder.csi.openstack.org";
/** The version of the vendor's driver whose behavior this one has. */
export const DRIVER_VERSION = "2.0.0";
export const TOPOLOGY_ZONE = `topology.${DRIVER_NAME}/zone`;

export const METADATA_CLUSTER = `${DRIVER_NAME}/cluster`;
/** Of volumes made of a backup: Cinder does not return it. */
export const METADATA_BACKUP = `${DRIVER_NAME}/backup-id`;
export const DESCRIPTION = "Created by OpenStack Cinder CSI driver";

/** In the volume context: the file system may be smaller than the volume, as its content was copied. */
export const RESIZE_REQUIRED = `${DRIVER_NAME}/resizeRequired`;
export const PUBLISH_DEVICE = "DevicePath";

export const ANNOTATION_AFFINITY = `${DRIVER_NAME}/affinity`;
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
