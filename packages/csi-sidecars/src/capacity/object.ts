import { CSIStorageCapacity, type CSIDriver } from "@causeway/kubernetes";

export { CSIStorageCapacity };

/** As csi-provisioner labels its objects. */
export const DRIVER_LABEL = "csi.storage.k8s.io/drivername";
export const MANAGED_BY_LABEL = "csi.storage.k8s.io/managed-by";
export const MANAGER = "external-provisioner";
/** Where csi-provisioner runs: its objects are in its own namespace. */
export const NAMESPACE = "kube-system";

export const hasCapacity = ({ spec }: CSIDriver): boolean => spec.storageCapacity === true;
