/**
 * Names that PersistentVolumes, StorageClasses and shares of upstream's driver have: they are the contract of a
 * replacement.
 */
export const DRIVER_NAME = "manila.csi.openstack.org";
/** The version of the vendor's driver whose behavior this one has. */
export const DRIVER_VERSION = "0.9.0";
export const TOPOLOGY_ZONE = `topology.${DRIVER_NAME}/zone`;

export const METADATA_CLUSTER = `${DRIVER_NAME}/cluster`;
export const SHARE_DESCRIPTION = `provisioned-by=${DRIVER_NAME}`;
export const SNAPSHOT_DESCRIPTION = `snapshotted-by=${DRIVER_NAME}`;

export const ANNOTATION_AFFINITY = `${DRIVER_NAME}/affinity`;
export const ANNOTATION_ANTI_AFFINITY = `${DRIVER_NAME}/anti-affinity`;
export const ANNOTATION_GROUP = `${DRIVER_NAME}/group-id`;
