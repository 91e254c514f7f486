import type { CSIDriver, KubeObject, LabelSelector, ResourceType } from "@causeway/kubernetes";

/** What one class has in one topology segment: the scheduler reads it before it chooses a node. */
export interface CSIStorageCapacity extends KubeObject {
  readonly storageClassName: string;
  readonly nodeTopology?: LabelSelector;
  readonly capacity?: string;
  readonly maximumVolumeSize?: string;
}

export const CSIStorageCapacity: ResourceType<CSIStorageCapacity> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities",
  namespaced: true,
};

/** As csi-provisioner labels its objects. */
export const DRIVER_LABEL = "csi.storage.k8s.io/drivername";
export const MANAGED_BY_LABEL = "csi.storage.k8s.io/managed-by";
export const MANAGER = "external-provisioner";
/** Where csi-provisioner runs: its objects are in its own namespace. */
export const NAMESPACE = "kube-system";

export const hasCapacity = ({ spec }: CSIDriver): boolean => spec.storageCapacity === true;
