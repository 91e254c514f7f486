import type { Service } from "@causeway/kubernetes";

/** Prefixes by which cloud-provider-openstack and we know our own. */
export const loadBalancerPrefix = "kube_service_";
/**
 * Beginnings of the tags that name cluster and UID of a Service. Upstream counts tags that begin with kube_service_;
 * these do not.
 */
export const ownerPrefix = "k8s-owner=";
/** The beginning of the tag of a Service that shares a load balancer of another one. */
export const sharerPrefix = "k8s-sharer=";

/**
 * Whether a tag proves a Service's part in a load balancer: only the controller sets such tags, never an annotation.
 */
export function isProofTag(tag: string): boolean {
  return tag.startsWith(ownerPrefix) || tag.startsWith(sharerPrefix);
}
const floatingIpPrefix = "Floating IP for Kubernetes external service";

/** Octavia's and Neutron's limit of names, descriptions and tags, in characters. */
export const maxNameLength = 255;

/**
 * kube_service_CLUSTER_NAMESPACE_NAME, cut to 255 characters: the load balancer's name, and the tag of all its parts.
 */
export function loadBalancerName(cluster: string, service: Service): string {
  return `${loadBalancerPrefix}${cluster}_${service.metadata.namespace}_${service.metadata.name}`.slice(
    0,
    maxNameLength,
  );
}

/** Of one that another is to replace: no Service's name has an underscore. */
export function retiringName(lbName: string): string {
  const end = "_retiring";
  return `${lbName.slice(0, maxNameLength - end.length)}${end}`;
}

/** The name the in-tree provider gave: "a" and the Service's UID without dashes, 32 characters. */
export function legacyLoadBalancerName(service: Service): string {
  return `a${(service.metadata.uid ?? "").replaceAll("-", "")}`.slice(0, 32);
}

/** Upstream's description of a Service's load balancer, cut to 255 characters. */
export function loadBalancerDescription(cluster: string, service: Service): string {
  return `Kubernetes external service ${service.metadata.namespace}/${service.metadata.name} from cluster ${cluster}`.slice(
    0,
    maxNameLength,
  );
}

/** Upstream's description of a Service's floating IP, cut to 255 characters. */
export function floatingIpDescription(cluster: string, service: Service): string {
  return `${floatingIpPrefix} ${service.metadata.namespace}/${service.metadata.name} from cluster ${cluster}`.slice(
    0,
    maxNameLength,
  );
}

/** The only test of who made a floating IP. */
export function isOurFloatingIp(description: string): boolean {
  return description.startsWith(floatingIpPrefix);
}

/** listener_0_…, pool_0_…, monitor_0_…: numbered by the Service's ports. */
export function childName(kind: "listener" | "pool" | "monitor", index: number, lbName: string): string {
  return `${kind}_${index}_${lbName}`.slice(0, maxNameLength);
}
