import { needed, oneOf, subdomain, type FieldRule } from "../shared/rules.ts";

export const STORAGE_CLASS_RULES: readonly FieldRule[] = [
  ["provisioner", needed()],
  ["reclaimPolicy", oneOf("Delete", "Retain")],
  ["volumeBindingMode", oneOf("Immediate", "WaitForFirstConsumer")],
];

export const CSI_DRIVER_RULES: readonly FieldRule[] = [
  ["spec.fsGroupPolicy", oneOf("File", "None", "ReadWriteOnceWithFSType")],
];

export const CSI_NODE_RULES: readonly FieldRule[] = [
  ["spec.drivers[].name", needed()],
  ["spec.drivers[].name", subdomain],
  ["spec.drivers[].nodeID", needed()],
];

export const CAPACITY_RULES: readonly FieldRule[] = [["storageClassName", subdomain]];

export const ATTRIBUTES_RULES: readonly FieldRule[] = [
  ["driverName", needed()],
  ["parameters", needed("must contain at least one key/value pair")],
];
