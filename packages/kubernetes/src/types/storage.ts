import type { LabelSelector } from "./apps.ts";
import type { KubeObject, Resource, ResourceType } from "./meta.ts";

/** Wire types of storage, with the fields that are read or written here. */

type Texts = Readonly<Record<string, string>>;

/** A condition as claims have them: their times are optional. */
export interface ClaimCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The snapshot or claim that a volume begins as a copy of. */
export interface DataSource {
  readonly apiGroup?: string | null;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | null;
}

/** v1 PersistentVolumeClaim. */
export type PersistentVolumeClaim = Resource<
  {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly selector?: LabelSelector;
    readonly resources?: { readonly requests?: Texts; readonly limits?: Texts };
    readonly dataSource?: DataSource;
    readonly dataSourceRef?: DataSource;
  },
  {
    readonly phase?: string;
    readonly accessModes?: readonly string[];
    readonly capacity?: Texts;
    readonly conditions?: readonly ClaimCondition[];
    readonly allocatedResources?: Texts;
    readonly allocatedResourceStatuses?: Texts;
    readonly currentVolumeAttributesClassName?: string;
    readonly modifyVolumeStatus?: { readonly targetVolumeAttributesClassName?: string; readonly status: string };
  }
>;

interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** The Nodes where a volume can be used. */
export interface VolumeNodeSelector {
  readonly nodeSelectorTerms?: readonly {
    readonly matchExpressions?: readonly NodeRequirement[];
    readonly matchFields?: readonly NodeRequirement[];
  }[];
}

/** The volume of a CSI driver that a PersistentVolume is. */
export interface CsiVolumeSource {
  readonly driver: string;
  readonly volumeHandle: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly volumeAttributes?: Texts;
}

/** v1 PersistentVolume. */
export type PersistentVolume = Resource<
  {
    readonly capacity?: Texts;
    readonly accessModes?: readonly string[];
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly mountOptions?: readonly string[];
    readonly claimRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly uid?: string;
      readonly resourceVersion?: string;
    };
    readonly nodeAffinity?: { readonly required?: VolumeNodeSelector };
    readonly persistentVolumeReclaimPolicy?: string;
    readonly volumeAttributesClassName?: string;
    readonly csi?: CsiVolumeSource;
    /** In-tree volumes of Cinder, which are handled by its CSI driver. */
    readonly cinder?: { readonly volumeID: string; readonly fsType?: string; readonly readOnly?: boolean };
  },
  { readonly phase?: string }
>;

/** storage.k8s.io/v1 StorageClass. */
export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly parameters?: Texts;
  readonly reclaimPolicy?: string;
  readonly mountOptions?: readonly string[];
  readonly allowVolumeExpansion?: boolean;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly {
    readonly matchLabelExpressions?: readonly { readonly key: string; readonly values?: readonly string[] }[];
  }[];
}

/** storage.k8s.io/v1 VolumeAttributesClass. */
export interface VolumeAttributesClass extends KubeObject {
  readonly driverName: string;
  readonly parameters?: Texts;
}

/** storage.k8s.io/v1 CSINode. */
export type CSINode = Resource<
  {
    readonly drivers?: readonly {
      readonly name: string;
      readonly nodeID?: string;
      readonly topologyKeys?: readonly string[] | null;
      readonly allocatable?: { readonly count?: number };
    }[];
  },
  never
>;

interface VolumeError {
  readonly time?: string;
  readonly message?: string;
}

/** storage.k8s.io/v1 VolumeAttachment. */
export type VolumeAttachment = Resource<
  {
    readonly attacher: string;
    readonly nodeName: string;
    readonly source: { readonly persistentVolumeName?: string };
  },
  {
    readonly attached?: boolean;
    readonly attachmentMetadata?: Texts;
    readonly attachError?: VolumeError;
    readonly detachError?: VolumeError;
  }
>;

/** storage.k8s.io/v1 CSIDriver. */
export type CSIDriver = Resource<
  {
    readonly attachRequired?: boolean;
    readonly podInfoOnMount?: boolean;
    readonly volumeLifecycleModes?: readonly string[];
    /** The scheduler reads CSIStorageCapacities before it chooses a node. */
    readonly storageCapacity?: boolean;
  },
  never
>;

/** What one class has in one topology segment: the scheduler reads it before it chooses a node. */
export interface CSIStorageCapacity extends KubeObject {
  readonly storageClassName: string;
  readonly nodeTopology?: LabelSelector;
  readonly capacity?: string;
  readonly maximumVolumeSize?: string;
}

/** The resource v1, persistentvolumeclaims, as clients and informers name it. */
export const PersistentVolumeClaim: ResourceType<PersistentVolumeClaim> = {
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
};

/** The resource v1, persistentvolumes. */
export const PersistentVolume: ResourceType<PersistentVolume> = {
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
};

/** The resource storage.k8s.io/v1, storageclasses. */
export const StorageClass: ResourceType<StorageClass> = storage("StorageClass", "storageclasses");
/** The resource storage.k8s.io/v1, volumeattributesclasses. */
export const VolumeAttributesClass: ResourceType<VolumeAttributesClass> = storage(
  "VolumeAttributesClass",
  "volumeattributesclasses",
);

/** The resource storage.k8s.io/v1, csinodes. */
export const CSINode: ResourceType<CSINode> = storage("CSINode", "csinodes");
/** The resource storage.k8s.io/v1, csidrivers. */
export const CSIDriver: ResourceType<CSIDriver> = storage("CSIDriver", "csidrivers");
/** The resource storage.k8s.io/v1, csistoragecapacities, which are in namespaces unlike the others. */
export const CSIStorageCapacity: ResourceType<CSIStorageCapacity> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities",
  namespaced: true,
};

/** The resource storage.k8s.io/v1, volumeattachments. */
export const VolumeAttachment: ResourceType<VolumeAttachment> = storage("VolumeAttachment", "volumeattachments");

function storage<T extends KubeObject>(kind: string, plural: string): ResourceType<T> {
  return { group: "storage.k8s.io", version: "v1", kind, plural, namespaced: false };
}
