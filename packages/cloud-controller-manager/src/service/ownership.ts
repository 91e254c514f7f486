import type { Service } from "@causeway/kubernetes";
import type { Listener, LoadBalancer } from "@causeway/openstack";
import type { Observed } from "./gather.ts";
import {
  annotation,
  isProofTag,
  legacyLoadBalancerName,
  loadBalancerPrefix,
  ownerPrefix,
  sharerPrefix,
} from "./names.ts";

type Whose = Pick<Observed, "service" | "lbName" | "listeners" | "formerName">;

/** So that prefix, cluster, "/" and UID are at most 255 characters. */
const clusterLimit = 200;

/** k8s-owner=CLUSTER/UID: on the load balancer that was created for the Service, or adopted by it. */
export function ownerTag(cluster: string, service: Service): string {
  return tagOf(ownerPrefix, cluster, service);
}

/** k8s-sharer=CLUSTER/UID: on a load balancer of another owner, which the Service names by its id. */
export function sharerTag(cluster: string, service: Service): string {
  return tagOf(sharerPrefix, cluster, service);
}

function tagOf(prefix: string, cluster: string, { metadata }: Service): string {
  return `${prefix}${cluster.slice(0, clusterLimit)}/${metadata.uid ?? ""}`;
}

/** The tags of the Service that prove its part in a load balancer, whatever the cluster was called when they were set. */
export function proofTags(lb: LoadBalancer, service: Service): string[] {
  return lb.tags.filter((tag) => isProofTag(tag) && isOf(tag, service));
}

function isOf(tag: string, { metadata }: Service): boolean {
  return metadata.uid !== undefined && tag.endsWith(`/${metadata.uid}`);
}

/** Does a tag name another Service as its owner, and none this one? */
export function isAnothers(lb: Pick<LoadBalancer, "tags">, service: Service): boolean {
  const owners = lb.tags.filter((tag) => tag.startsWith(ownerPrefix));
  return owners.length > 0 && !owners.some((tag) => isOf(tag, service));
}

/**
 * The Service that an owner tag names owns the load balancer. One without such a tag (of an earlier release, of upstream's manager,
 * or of a cloud without tags) belongs to the Service whose name it has exactly. An annotation never proves anything.
 */
export function isOwner(whose: Omit<Whose, "listeners">, lb: LoadBalancer): boolean {
  const { service, lbName, formerName: former } = whose;
  const owners = lb.tags.filter((tag) => tag.startsWith(ownerPrefix));
  if (owners.length > 0) return owners.some((tag) => isOf(tag, service));
  return lb.name === lbName || lb.name === legacyLoadBalancerName(service) || lb.name === former;
}

/** Owner, or one of the sharers: a Service that has only named the id is neither. */
export function isRegistered(whose: Omit<Whose, "listeners">, lb: LoadBalancer): boolean {
  return isOwner(whose, lb) || lb.tags.includes(whose.lbName) || proofTags(lb, whose.service).length > 0;
}

/** Tagged with our name, or untagged on a load balancer that is ours. */
export function ownListeners(whose: Whose, lb: LoadBalancer): Listener[] {
  const { listeners, lbName, formerName: former } = whose;
  return listeners.filter(
    (l) =>
      l.tags.includes(lbName) ||
      (former !== undefined && l.tags.includes(former)) ||
      (l.tags.length === 0 && isOwner(whose, lb)),
  );
}

/** Does another Service have listeners on it? */
export function othersTags(
  lb: LoadBalancer,
  { lbName, formerName: former }: Omit<Whose, "listeners" | "service">,
): string[] {
  return lb.tags.filter((tag) => tag.startsWith(loadBalancerPrefix) && tag !== lbName && tag !== former);
}

/**
 * The name that the Service had on this load balancer before the cluster was renamed; undefined when it had none. Names and
 * namespaces have no underscores, so its end tells whose it is. A tag with the Service's UID must prove it, in addition to what a
 * controller noted: id and address are annotations, which a copy of the Service in another cluster has, too.
 */
export function formerName(service: Service, lb: LoadBalancer, lbName: string): string | undefined {
  const { namespace, name, annotations = {} } = service.metadata;
  if (lb.name === lbName || proofTags(lb, service).length === 0) return undefined;
  const published = service.status?.loadBalancer?.ingress ?? [];
  const noted = annotations[annotation.loadBalancerAddress];
  if (annotations[annotation.loadBalancerId] !== lb.id || noted === undefined || published.length === 0)
    return undefined;
  const end = `_${namespace}_${name}`;
  return [lb.name, ...lb.tags].find(
    (known) => known.startsWith(loadBalancerPrefix) && known.endsWith(end) && known !== lbName,
  );
}
