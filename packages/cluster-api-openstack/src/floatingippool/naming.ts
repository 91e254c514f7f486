import type { OpenStackFloatingIPPool } from "@causeway/api";

/** Upstream's finalizer of an OpenStackFloatingIPPool. */
export const poolFinalizer = "openstackfloatingippool.infrastructure.cluster.x-k8s.io";
/** Of IPAddresses: their floating IP has to be deleted or kept first. */
export const addressFinalizer = "openstackfloatingippool.infrastructure.cluster.x-k8s.io/delete-floating-ip";

/**
 * The proof that the pool created a floating IP: written with the create. Upstream's text, and which pool of that name
 * it is: pools of several namespaces and management clusters share a project.
 */
export function poolDescription({ metadata }: OpenStackFloatingIPPool): string {
  const { name, namespace = "", uid = "" } = metadata;
  return `Created by cluster-api-provider-openstack OpenStackFloatingIPPool ${name} (${namespace}, ${uid})`;
}

/** Upstream's tag. */
export function poolTag({ metadata }: OpenStackFloatingIPPool): string {
  return `cluster-api-provider-openstack-fip-pool-${metadata.name}`;
}
