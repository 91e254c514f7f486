import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { flag, int32, mapOf, object, optional, anyText, templateMetadata } from "../../schema/fields.ts";
import { all, moved, within } from "../../lenses/lens.ts";
import { oldConditions, oldFailure } from "../../versions/shapes.ts";
import { clusterSpec } from "../cluster-spec.ts";
import { clusterStatus } from "../status.ts";
import { clusterLens, conditionsLens, failureDomainsLens, readyLens, resolvedLens } from "./lenses.ts";
import { machineSpecV1Beta1, resolvedV1Beta1 } from "./machine.ts";

const {
  apiServer,
  managedNetwork: _network,
  managedRouter,
  managedSecurityGroups,
  bastion,
  enableExternalNetwork: _external,
  ...shared
} = clusterSpec.properties;
const { clusterNodesSecurityGroupRules, ...groupFields } = managedSecurityGroups.properties;
const disabled = (description: string) => optional(flag({ description }));

const specV1Beta1 = object({
  ...shared,
  apiServerFloatingIP: apiServer.properties.floatingIP,
  apiServerFixedIP: apiServer.properties.fixedIP,
  apiServerPort: apiServer.properties.port,
  apiServerLoadBalancer: apiServer.properties.managedLoadBalancer,
  disableAPIServerFloatingIP: disabled("True: no floating IP on the API endpoint."),
  disableExternalNetwork: disabled("True: no gateway, no floating IPs."),
  disablePortSecurity: disabled("True: the managed network has no port security."),
  networkMTU: optional(int32({ description: "Largest packet of the managed network, in bytes." })),
  externalRouterIPs: managedRouter.properties.externalIPs,
  managedSecurityGroups: optional(
    object({ ...groupFields, allNodesSecurityGroupRules: clusterNodesSecurityGroupRules }),
  ),
  bastion: optional(object({ ...bastion.properties, spec: optional(machineSpecV1Beta1) })),
});

const {
  apiServerManagedLoadBalancer: apiServerLoadBalancer,
  bastion: bastionStatus,
  conditions: _conditions,
  failureDomains: _domains,
  ...statusFields
} = clusterStatus.properties;

/** How v1beta1 of OpenStackCluster differs from the stored version. */
export const clusterV1Beta1: VersionDefinition = {
  version: "v1beta1",
  deprecated: false,
  spec: specV1Beta1,
  status: object({
    ...statusFields,
    ...oldFailure,
    apiServerLoadBalancer,
    bastion: optional(object({ ...bastionStatus.properties, resolved: optional(resolvedV1Beta1) })),
    failureDomains: optional(mapOf(object({ controlPlane: optional(flag()), attributes: optional(mapOf(anyText())) }))),
    ready: optional(flag({ default: false })),
    conditions: oldConditions(),
  }),
  columns: [
    column("Cluster", ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name"),
    column("Ready", ".status.ready"),
    column("Network", ".status.network.id"),
    column("Endpoint", ".spec.controlPlaneEndpoint.host"),
    column("Bastion IP", ".status.bastion.floatingIP", { priority: 1 }),
    age,
  ],
  lens: all(
    within("spec", clusterLens),
    within(
      "status",
      moved("apiServerLoadBalancer", "apiServerManagedLoadBalancer"),
      within("bastion", resolvedLens),
      failureDomainsLens,
      conditionsLens,
      readyLens,
    ),
  ),
};

/** How v1beta1 of OpenStackClusterTemplate differs from the stored version. */
export const clusterTemplateV1Beta1: VersionDefinition = {
  version: "v1beta1",
  deprecated: false,
  spec: object({ template: object({ metadata: optional(templateMetadata), spec: specV1Beta1 }) }),
  columns: [age],
  lens: within("spec.template.spec", clusterLens),
};
