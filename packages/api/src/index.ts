import type { KubeObject } from "@causeway/kubernetes";
import { KubeadmConfig, KubeadmConfigTemplate } from "./bootstrap/index.ts";
import { Cluster, Machine, MachineDeployment, MachineSet } from "./cluster/index.ts";
import { HostedControlPlane } from "./controlplane/index.ts";
import { infrastructureKinds } from "./infrastructure/index.ts";
import type { Kind } from "./kind.ts";

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
export { annotations, clusterSecretType, contractLabels, finalizers, labels, taints } from "./names.ts";
export {
  Cluster,
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
} from "./cluster/index.ts";
export {
  KubeadmConfig,
  KubeadmConfigTemplate,
  type KubeadmConfigSpec,
  type KubeadmConfigStatus,
  type KubeadmConfigTemplateSpec,
} from "./bootstrap/index.ts";
export {
  HostedControlPlane,
  SERVED_KUBERNETES,
  type HostedControlPlaneSpec,
  type HostedControlPlaneStatus,
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
  type ResolvedMachine,
  type ResolvedPort,
  type SecurityGroupRuleSpec,
  type SubnetParameter,
} from "./infrastructure/index.ts";

/** Every kind of ours: what an installation must bring CRDs for. */
export const allKinds: readonly Kind<KubeObject>[] = [
  Cluster,
  Machine,
  MachineSet,
  MachineDeployment,
  KubeadmConfig,
  KubeadmConfigTemplate,
  HostedControlPlane,
  ...infrastructureKinds,
];
