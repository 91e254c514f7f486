import type { KubeObject } from "@causeway/kubernetes";
import { KubeadmConfig, KubeadmConfigTemplate } from "./bootstrap/index.ts";
import { AddonSet, ClusterResourceSet, ClusterResourceSetBinding } from "./addons/index.ts";
import { ExtensionConfig } from "./runtime/index.ts";
import {
  Cluster,
  ClusterClass,
  Machine,
  MachineDeployment,
  MachineDrainRule,
  MachineHealthCheck,
  MachinePool,
  MachineSet,
} from "./cluster/index.ts";
import {
  HostedControlPlane,
  HostedControlPlaneTemplate,
  KubeadmControlPlane,
  KubeadmControlPlaneTemplate,
} from "./controlplane/index.ts";
import { IPAddress, IPAddressClaim } from "./ipam/index.ts";
import { infrastructureKinds } from "./infrastructure/index.ts";
import type { Kind } from "./kind.ts";
import { OpenStackDeployment } from "./openstack/index.ts";
import { MagnumCluster, MagnumClusterTemplate, MagnumQuota } from "./magnum/index.ts";

export type { Kind, KindVersion, PrinterColumn } from "./kind.ts";
export { conversionsOf, convertObject, type ConversionOfKind } from "./versions/conversion.ts";
export { reviewConversion } from "./versions/review.ts";
export { defineKind, type DefinedObject, type KindDefinition } from "./schema/define.ts";
export {
  toCustomResourceDefinition,
  withConversionWebhook,
  type CustomResourceDefinitionObject,
  type JsonSchema,
  type WebhookClient,
} from "./schema/crd.ts";
export {
  addonSetLabel,
  annotations,
  clusterSecretType,
  contractLabels,
  finalizers,
  labels,
  resourceSetSecretType,
  taints,
} from "./names.ts";
export {
  AddonSet,
  CATALOGUE_ADDONS,
  type AddonSetSpec,
  type AddonSetStatus,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  type ClusterResourceSetBindingSpec,
  type ClusterResourceSetSpec,
  type ClusterResourceSetStatus,
} from "./addons/index.ts";
export { ExtensionConfig, type ExtensionConfigSpec, type ExtensionConfigStatus } from "./runtime/index.ts";
export {
  IPAddress,
  IPAddressClaim,
  type IPAddressClaimSpec,
  type IPAddressClaimStatus,
  type IPAddressSpec,
} from "./ipam/index.ts";
export {
  Cluster,
  ClusterClass,
  MachineDrainRule,
  MachineHealthCheck,
  MachinePool,
  type ClusterClassSpec,
  type ClusterClassStatus,
  type MachineDrainRuleSpec,
  type MachineHealthCheckSpec,
  type MachineHealthCheckStatus,
  type MachinePoolSpec,
  type MachinePoolStatus,
  Machine,
  MachineDeployment,
  MachineSet,
  type ClusterSpec,
  type ClusterStatus,
  type MachineDeploymentSpec,
  type MachineDeploymentStatus,
  type MachineSetSpec,
  type MachineSetStatus,
  type MachineSpec,
  type MachineStatus,
  nodeMetadataApplied,
  nodeMetadataOf,
} from "./cluster/index.ts";
export {
  KubeadmConfig,
  KubeadmConfigTemplate,
  type KubeadmConfigSpec,
  type KubeadmConfigStatus,
  type KubeadmConfigTemplateSpec,
} from "./bootstrap/index.ts";
export {
  KubeadmControlPlane,
  KubeadmControlPlaneTemplate,
  type KubeadmControlPlaneSpec,
  type KubeadmControlPlaneStatus,
  type KubeadmControlPlaneTemplateSpec,
  HostedControlPlane,
  HostedControlPlaneTemplate,
  RUN_KUBERNETES,
  SERVED_KUBERNETES,
  type HostedControlPlaneSpec,
  type HostedControlPlaneStatus,
  programFlags,
  type FlaggedProgram,
  type FlagSettings,
  type FlagValue,
} from "./controlplane/index.ts";
export {
  infrastructureKinds,
  OpenStackCluster,
  OpenStackClusterIdentity,
  OpenStackClusterTemplate,
  OpenStackFloatingIPPool,
  OpenStackMachine,
  OpenStackMachineTemplate,
  OpenStackServer,
  type IdentityReference,
  type NeutronParameter,
  type OpenStackClusterSpec,
  type OpenStackClusterStatus,
  type OpenStackFloatingIPPoolSpec,
  type OpenStackFloatingIPPoolStatus,
  type OpenStackMachineSpec,
  type OpenStackMachineStatus,
  type OpenStackServerSpec,
  type OpenStackServerStatus,
  type PortSpec,
  type SubportSpec,
  type ResolvedMachine,
  type ResolvedPort,
  type SecurityGroupRuleSpec,
  type SubnetParameter,
} from "./infrastructure/index.ts";
export {
  OPENSTACK_RELEASES,
  OPENSTACK_SERVICES,
  OpenStackDeployment,
  type OpenStackDeploymentSpec,
  type OpenStackDeploymentStatus,
  type OpenStackRelease,
  type OpenStackService,
} from "./openstack/index.ts";

export {
  MagnumCluster,
  MagnumClusterTemplate,
  MagnumQuota,
  magnumStatuses,
  type MagnumClusterSpec,
  type MagnumClusterStatus,
  type MagnumClusterTemplateSpec,
  type MagnumNodeGroup,
  type MagnumQuotaSpec,
  type MagnumStatus,
  type MagnumTemplateAttributes,
} from "./magnum/index.ts";

export {
  credentialsManifest,
  credentialsOf,
  managedClusterManifests,
  manifest,
  nodePoolManifests,
  type ManagedCluster,
  type Manifest,
  type NodePool,
} from "./managed/index.ts";

/** Every kind of Cluster API: what an installation of it must bring CRDs for. */
export const allKinds: readonly Kind<KubeObject>[] = [
  Cluster,
  ClusterClass,
  Machine,
  MachineSet,
  MachineDeployment,
  MachinePool,
  KubeadmConfig,
  KubeadmConfigTemplate,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  IPAddressClaim,
  IPAddress,
  ExtensionConfig,
  MachineHealthCheck,
  MachineDrainRule,
  HostedControlPlane,
  HostedControlPlaneTemplate,
  KubeadmControlPlane,
  KubeadmControlPlaneTemplate,
  ...infrastructureKinds,
];

/** What the Magnum API keeps its clusters, templates and quotas in. */
export const magnumKinds: readonly Kind<KubeObject>[] = [MagnumCluster, MagnumClusterTemplate, MagnumQuota];

/** What declares the add-ons of workload clusters. */
export const addonKinds: readonly Kind<KubeObject>[] = [AddonSet];

/**
 * Kinds of ours that do not belong to Cluster API: an installation brings the CRDs of those whose controller it runs.
 */
export const operatorKinds: readonly Kind<KubeObject>[] = [OpenStackDeployment];
