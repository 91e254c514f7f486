/** What the kinds of the OpenStack provider have in common. */

/** The API group. */
export const group = "infrastructure.cluster.x-k8s.io";
/** The stored version of OpenStackCluster, OpenStackMachine and their templates. */
export const version = "v1beta2";

/** Contract labels that the CRDs of an infrastructure provider carry. */
export const providerLabels = {
  "cluster.x-k8s.io/v1beta2": version,
  "cluster.x-k8s.io/provider": "infrastructure-openstack",
} as const;
