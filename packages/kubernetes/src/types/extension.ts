import type { Resource, ResourceType } from "./meta.ts";

/** Wire types of apiextensions.k8s.io/v1. */

/** By which names a custom resource is requested. */
export interface CustomResourceDefinitionNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

/** A column that kubectl prints of a custom resource. */
export interface CustomResourceColumn {
  name: string;
  type: string;
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

/** One version of a custom resource, with its schema. */
export interface CustomResourceDefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Record<string, unknown> };
  subresources?: {
    status?: Record<string, never>;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: CustomResourceColumn[];
}

/** Group, names and versions of a custom resource. */
export interface CustomResourceDefinitionSpec {
  group: string;
  names: CustomResourceDefinitionNames;
  scope: "Namespaced" | "Cluster";
  versions: CustomResourceDefinitionVersion[];
  conversion?: Record<string, unknown>;
  preserveUnknownFields?: boolean;
}

/** Whether a CRD is served, and the versions that objects are stored in. */
export interface CustomResourceDefinitionStatus {
  conditions?: {
    type: string;
    status: "True" | "False" | "Unknown";
    reason?: string;
    message?: string;
    lastTransitionTime?: string;
  }[];
  acceptedNames?: CustomResourceDefinitionNames;
  storedVersions?: string[];
}

/** apiextensions.k8s.io/v1 CustomResourceDefinition. */
export type CustomResourceDefinition = Resource<CustomResourceDefinitionSpec, CustomResourceDefinitionStatus>;

/** The resource apiextensions.k8s.io/v1, customresourcedefinitions, as clients and informers name it. */
export const CustomResourceDefinition: ResourceType<CustomResourceDefinition> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};
