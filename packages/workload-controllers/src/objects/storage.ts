import type { KubeObject, Resource, ResourceType } from "@causeway/kubernetes";
import type { LabelSelector, NodeSelector, Requirement } from "../scheduler/model/spec.ts";

/** Wire types of storage, with the fields that scheduling reads. */

export type PersistentVolumeClaim = Resource<
  {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly selector?: LabelSelector;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  },
  { readonly phase?: string }
>;

export type PersistentVolume = Resource<
  {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly accessModes?: readonly string[];
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
    readonly nodeAffinity?: { readonly required?: NodeSelector };
    readonly csi?: { readonly driver: string; readonly volumeHandle: string };
  },
  { readonly phase?: string }
>;

export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly { readonly matchLabelExpressions?: readonly Omit<Requirement, "operator">[] }[];
}

export type CSINode = Resource<
  { readonly drivers?: readonly { readonly name: string; readonly allocatable?: { readonly count?: number } }[] },
  never
>;

export const PersistentVolumeClaim: ResourceType<PersistentVolumeClaim> = {
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
};

export const PersistentVolume: ResourceType<PersistentVolume> = {
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
};

export const StorageClass: ResourceType<StorageClass> = storage("StorageClass", "storageclasses");
export const CSINode: ResourceType<CSINode> = storage("CSINode", "csinodes");

function storage<T extends KubeObject>(kind: string, plural: string): ResourceType<T> {
  return { group: "storage.k8s.io", version: "v1", kind, plural, namespaced: false };
}
