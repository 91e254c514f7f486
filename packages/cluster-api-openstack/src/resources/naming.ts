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

/** The longest description that Neutron takes. */
const LONGEST = 255;

/**
 * The description of a network that its cluster creates: it names the object, by which two objects of one name in two
 * management clusters know which of two networks is their own. Upstream's networks have no description.
 */
export function networkDescription(crn: string, owner: string): string {
  return withOwner(description(crn), owner);
}

/** A description with the object that creates what has it. */
export function withOwner(text: string, owner: string): string {
  return `${text} (${owner})`;
}

/**
 * The owner in the description of a network of this cluster's name; undefined: it names none, as those of earlier
 * releases and of upstream, or is no such description.
 */
export function networkOwner(crn: string, text: string | null): string | undefined {
  return ownerIn(text, description(crn));
}

function ownerIn(text: string | null, before: string): string | undefined {
  const [start, end] = [`${before} (`, ")"];
  if (text === null || !text.startsWith(start) || !text.endsWith(end)) return undefined;
  return text.slice(start.length, -end.length);
}

/** The owner in the description of a managed security group; undefined: it names none. */
export function groupOwner(text: string | null): string | undefined {
  return ownerIn(text, securityGroupDescription);
}

/** The owner that an object names in its network's description: its UID; undefined where that has no room for it. */
export function ownerFor(crn: string, uid: string | undefined): string | undefined {
  return uid === undefined || networkDescription(crn, uid).length > LONGEST ? undefined : uid;
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
/**
 * Annotation with the UID that an object had before it created its first resource, its network: the owner in the
 * network's description, also after a move gave the object another UID.
 */
export const ownerAnnotation = "causeway.dev/resource-owner";
/**
 * Annotation with the ID of the network that was the only one of the cluster's name after it had been created, or
 * `CONTENDED`.
 */
export const ownNetworkAnnotation = "causeway.dev/own-network";
/** In place of that ID: another object had created a network of the name, too, and this one deletes its own. */
export const CONTENDED = "contended";
/** Annotation with "region/project" in which a cluster's resources are, written before the first is made. */
export const cloudIdentityAnnotation = "causeway.dev/cloud-identity";
