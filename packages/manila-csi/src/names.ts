/**
 * Names that PersistentVolumes, StorageClasses and shares of upstream's driver have: they are the contract of a
 * replacement.
 */

/** The name of the driver, in StorageClasses and PersistentVolumes, unless --drivername gives another. */
export const DRIVER_NAME = "manila.csi.openstack.org";
/** The version of the vendor's driver whose behavior this one has. */
export const DRIVER_VERSION = "0.9.0";
/** The topology key of nodes and volumes: the availability zone. */
export const TOPOLOGY_ZONE = `topology.${DRIVER_NAME}/zone`;

/** Metadata of shares: the name of the cluster that they were created for (--cluster-id). */
export const METADATA_CLUSTER = `${DRIVER_NAME}/cluster`;
/** The description of shares. */
export const SHARE_DESCRIPTION = `provisioned-by=${DRIVER_NAME}`;
/** The description of snapshots. */
export const SNAPSHOT_DESCRIPTION = `snapshotted-by=${DRIVER_NAME}`;

/** Annotation of a claim with names or IDs of shares: on the same host as these. */
export const ANNOTATION_AFFINITY = `${DRIVER_NAME}/affinity`;
/** Annotation of a claim with names or IDs of shares: on another host than these. */
export const ANNOTATION_ANTI_AFFINITY = `${DRIVER_NAME}/anti-affinity`;
/** Annotation of a claim: the share group of its share. */
export const ANNOTATION_GROUP = `${DRIVER_NAME}/group-id`;
