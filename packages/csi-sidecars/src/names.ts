/** Names that the stock sidecars write: another program may continue where this one ends, and the other way round. */
export const annotation = {
  provisionedBy: "pv.kubernetes.io/provisioned-by",
  migratedTo: "pv.kubernetes.io/migrated-to",
  provisioner: "volume.kubernetes.io/storage-provisioner",
  betaProvisioner: "volume.beta.kubernetes.io/storage-provisioner",
  selectedNode: "volume.kubernetes.io/selected-node",
  nodeId: "csi.alpha.kubernetes.io/node-id",
};

/** Keys of StorageClasses for sidecars; the driver does not receive them. */
export const PREFIX = "csi.storage.k8s.io/";
/** The key of a StorageClass for the file system of its volumes, such as "xfs". */
export const FS_TYPE = `${PREFIX}fstype`;
/** The stock provisioner's --default-fstype of the Cinder driver's deployment. */
export const DEFAULT_FS_TYPE = "ext4";

/** On PersistentVolumes: keeps them until the driver has deleted the volume. */
export const PROVISIONER_FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";
/**
 * On VolumeAttachments and attached PersistentVolumes; for cinder.csi.openstack.org it is
 * "external-attacher/cinder-csi-openstack-org".
 */
export const attacherFinalizer = (driver: string): string =>
  `external-attacher/${driver.replaceAll(/[^-A-Za-z0-9]/g, "-")}`;

/** In the attributes of a volume: which process provisioned it. */
export const IDENTITY = "storage.kubernetes.io/csiProvisionerIdentity";
