import { CSIStorageCapacity, type CSIDriver } from "@causeway/kubernetes";

export { CSIStorageCapacity };

/** As csi-provisioner labels its objects. */
export const DRIVER_LABEL = "csi.storage.k8s.io/drivername";
/** Which program owns a CSIStorageCapacity: others are neither changed nor deleted. */
export const MANAGED_BY_LABEL = "csi.storage.k8s.io/managed-by";
/** csi-provisioner's value of `MANAGED_BY_LABEL`: it may continue with these objects, and the other way round. */
export const MANAGER = "external-provisioner";
/** Where csi-provisioner runs: its objects are in its own namespace. */
export const NAMESPACE = "kube-system";

/** Whether the scheduler considers capacities for this driver: only then are they published. */
export const hasCapacity = ({ spec }: CSIDriver): boolean => spec.storageCapacity === true;
