import { needed, oneOf, subdomain, type FieldRule } from "../shared/rules.ts";

/** Rules of StorageClasses by field. */
export const STORAGE_CLASS_RULES: readonly FieldRule[] = [
  ["provisioner", needed()],
  ["reclaimPolicy", oneOf("Delete", "Retain")],
  ["volumeBindingMode", oneOf("Immediate", "WaitForFirstConsumer")],
];

/** Rules of CSIDrivers by field; those about several fields are in volume-rules.ts. */
export const CSI_DRIVER_RULES: readonly FieldRule[] = [
  ["spec.fsGroupPolicy", oneOf("File", "None", "ReadWriteOnceWithFSType")],
];

/** Rules of CSINodes by field. */
export const CSI_NODE_RULES: readonly FieldRule[] = [
  ["spec.drivers[].name", needed()],
  ["spec.drivers[].name", subdomain],
  ["spec.drivers[].nodeID", needed()],
];

/** Rules of CSIStorageCapacities by field. */
export const CAPACITY_RULES: readonly FieldRule[] = [["storageClassName", subdomain]];

/** Rules of VolumeAttributesClasses by field. */
export const ATTRIBUTES_RULES: readonly FieldRule[] = [
  ["driverName", needed()],
  ["parameters", needed("must contain at least one key/value pair")],
];
