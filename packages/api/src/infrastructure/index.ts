import type Type from "typebox";
import type { KubeObject, Resource } from "@causeway/kubernetes";
import type { Kind, PrinterColumn } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { anyText, conditions, intOrString, mapOf, object, optional, templateMetadata } from "../schema/fields.ts";
import { clusterSpec, type OpenStackClusterSpec } from "./cluster-spec.ts";
import { OpenStackFloatingIPPool } from "./floating-ip-pool.ts";
import { group, providerLabels as labels, version } from "./group.ts";
import { OpenStackClusterIdentity } from "./identity.ts";
import { machineSpec, type OpenStackMachineSpec } from "./parameters.ts";
import { OpenStackServer } from "./server.ts";
import { clusterTemplateV1Beta1, clusterV1Beta1 } from "./v1beta1/cluster.ts";
import { machineTemplateV1Beta1, machineV1Beta1 } from "./v1beta1/machine.ts";
import { clusterStatus, machineStatus, type OpenStackClusterStatus, type OpenStackMachineStatus } from "./status.ts";

export {
  OpenStackFloatingIPPool,
  type OpenStackFloatingIPPoolSpec,
  type OpenStackFloatingIPPoolStatus,
} from "./floating-ip-pool.ts";
export { OpenStackClusterIdentity } from "./identity.ts";
export { OpenStackServer, type OpenStackServerSpec, type OpenStackServerStatus } from "./server.ts";
export type { OpenStackClusterSpec, SecurityGroupRuleSpec } from "./cluster-spec.ts";
export type {
  IdentityReference,
  NeutronParameter,
  OpenStackMachineSpec,
  PortSpec,
  SubnetParameter,
  SubportSpec,
} from "./parameters.ts";
export type { OpenStackClusterStatus, OpenStackMachineStatus, ResolvedMachine, ResolvedPort } from "./status.ts";

const clusterColumn: PrinterColumn = {
  name: "Cluster",
  type: "string",
  jsonPath: ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",
  description: "Cluster to which this object belongs",
};
const readyColumn: PrinterColumn = {
  name: "Ready",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description: "Whether everything declared is there",
};
const ageColumn: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Network, security groups and API endpoint of one cluster in OpenStack. */
export type OpenStackCluster = Resource<OpenStackClusterSpec, OpenStackClusterStatus>;
/** Its kind, for clients and for the CRD: `osc`, stored as v1beta2, also served as v1beta1. */
export const OpenStackCluster: Kind<OpenStackCluster> = defineKind({
  group,
  version,
  versions: [clusterV1Beta1],
  kind: "OpenStackCluster",
  description: "Network, security groups and API endpoint of one cluster in OpenStack.",
  spec: clusterSpec,
  status: clusterStatus,
  shortNames: ["osc"],
  labels,
  columns: [
    clusterColumn,
    readyColumn,
    { name: "Network", type: "string", jsonPath: ".status.network.id", description: "Network of the cluster" },
    { name: "Endpoint", type: "string", jsonPath: ".spec.controlPlaneEndpoint.host", description: "API endpoint" },
    {
      name: "Bastion IP",
      type: "string",
      jsonPath: ".status.bastion.floatingIP",
      description: "Address of the bastion",
      priority: 1,
    },
    ageColumn,
  ],
});

/** One server in OpenStack and what hangs on it. */
export type OpenStackMachine = Resource<OpenStackMachineSpec, OpenStackMachineStatus>;
/** Its kind, for clients and for the CRD: `osm`, stored as v1beta2, also served as v1beta1. */
export const OpenStackMachine: Kind<OpenStackMachine> = defineKind({
  group,
  version,
  versions: [machineV1Beta1],
  kind: "OpenStackMachine",
  description: "One server in OpenStack and what hangs on it.",
  spec: machineSpec,
  status: machineStatus,
  shortNames: ["osm"],
  labels,
  columns: [
    clusterColumn,
    { name: "InstanceState", type: "string", jsonPath: ".status.instanceState", description: "State of the server" },
    readyColumn,
    { name: "ProviderID", type: "string", jsonPath: ".spec.providerID", description: "Identity of the server" },
    {
      name: "Machine",
      type: "string",
      jsonPath: '.metadata.ownerReferences[?(@.kind=="Machine")].name',
      description: "Machine that this server is for",
    },
    ageColumn,
  ],
});

const templateSpec = object({ template: object({ spec: machineSpec }) });
const templateStatus = object({
  capacity: optional(mapOf(intOrString(), { description: "What a server of this template has." })),
  nodeInfo: optional(object({ operatingSystem: optional(anyText()), architecture: optional(anyText()) })),
  conditions: conditions(),
});

/** What OpenStackMachines are copied from. */
export type OpenStackMachineTemplate = Resource<Type.Static<typeof templateSpec>, Type.Static<typeof templateStatus>>;
/** Its kind, for clients and for the CRD: `osmt`, stored as v1beta2, also served as v1beta1. */
export const OpenStackMachineTemplate: Kind<OpenStackMachineTemplate> = defineKind({
  group,
  version,
  versions: [machineTemplateV1Beta1],
  kind: "OpenStackMachineTemplate",
  description: "What OpenStackMachines are copied from.",
  spec: templateSpec,
  status: templateStatus,
  shortNames: ["osmt"],
  labels,
  columns: [ageColumn],
});

const clusterTemplateSpec = object({ template: object({ metadata: optional(templateMetadata), spec: clusterSpec }) });

/** What the OpenStackClusters of a ClusterClass are copied from. */
export type OpenStackClusterTemplate = KubeObject & { spec: Type.Static<typeof clusterTemplateSpec> };
/** Its kind, for clients and for the CRD: `osct`, stored as v1beta2, also served as v1beta1. */
export const OpenStackClusterTemplate: Kind<OpenStackClusterTemplate> = defineKind({
  group,
  version,
  versions: [clusterTemplateV1Beta1],
  kind: "OpenStackClusterTemplate",
  description: "What the OpenStackClusters of a ClusterClass are copied from.",
  spec: clusterTemplateSpec,
  shortNames: ["osct"],
  labels,
  columns: [ageColumn],
});

/** The kinds of the OpenStack infrastructure provider. */
export const infrastructureKinds: readonly Kind<KubeObject>[] = [
  OpenStackCluster,
  OpenStackMachine,
  OpenStackMachineTemplate,
  OpenStackClusterTemplate,
  OpenStackServer,
  OpenStackFloatingIPPool,
  OpenStackClusterIdentity,
];
