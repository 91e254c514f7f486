/**
 * Names, descriptions and metadata by which resources of a cluster are known. They equal upstream's, so that estates
 * can be adopted.
 */
import { annotations } from "@causeway/api";

/** "namespace-name": how a cluster is called in the names of its resources. */
export function clusterResourceName(namespace: string, cluster: string): string {
  return `${namespace}-${cluster}`;
}

/** The name of the network, the subnet and the router. */
export function networkName(crn: string): string {
  return `k8s-clusterapi-cluster-${crn}`;
}

/** The name of the load balancer of the cluster's API. */
export function loadBalancerName(crn: string): string {
  return `${networkName(crn)}-kubeapi`;
}

/** The name of a listener, its pool and its monitor. */
export function listenerName(crn: string, port: number): string {
  return `${loadBalancerName(crn)}-${port}`;
}

/** The roles of nodes that have a managed security group each. */
export type NodeRole = "controlplane" | "worker";

/** The name of a managed security group. */
export function securityGroupName(crn: string, role: NodeRole | "bastion"): string {
  return `k8s-cluster-${crn}-secgroup-${role}`;
}

/** The proof that we made it: written with the create itself, so it survives a crash right after. */
export function description(crn: string): string {
  return `Created by cluster-api-provider-openstack cluster ${crn}`;
}

/** The description of managed security groups: upstream's, the same for every cluster. */
export const securityGroupDescription = "Cluster API managed group";

/** Server metadata that names the owner, "namespace/cluster". Nova allows no slash in keys. */
export const serverOwnerKey = "causeway.dev.cluster";

/** The value of metadata `serverOwnerKey`. */
export function serverOwner(namespace: string, cluster: string): string {
  return `${namespace}/${cluster}`;
}

/** "SERVER-0" for the first port of a server; with a suffix of its spec, "SERVER-SUFFIX". */
export function portName(server: string, index: number, suffix: string | undefined): string {
  return `${server}-${suffix === undefined || suffix === "" ? index : suffix}`;
}

/** The name of a server's volume: "SERVER-root", or with the name of the additional block device. */
export function volumeName(server: string, device: string): string {
  return `${server}-${device}`;
}

/** The OpenStackServer of a cluster's bastion. */
export function bastionName(cluster: string): string {
  return `${cluster}-bastion`;
}

/** Upstream's finalizer of an OpenStackCluster. */
export const clusterFinalizer = "openstackcluster.infrastructure.cluster.x-k8s.io";
/** Upstream's finalizer of an OpenStackServer. */
export const serverFinalizer = "openstackserver.infrastructure.cluster.x-k8s.io";
/** Upstream's finalizer of an OpenStackMachine. */
export const machineFinalizer = "openstackmachine.infrastructure.cluster.x-k8s.io";

/** Annotation: "true" lets an object take over resources with its names that it has no proof to have created. */
export const adoptAnnotation = annotations.adoptResources;
/** Annotation with the hashes of the security group rules that were created for the rule lists of the spec. */
export const rulesAnnotation = "causeway.dev/security-group-rules";
/** Annotation with "region/project" in which a cluster's resources are, written before the first is made. */
export const cloudIdentityAnnotation = "causeway.dev/cloud-identity";
