import type { Service } from "@causeway/kubernetes";
import type { Listener, LoadBalancer } from "@causeway/openstack";
import type { Observed } from "./observed.ts";
import { annotation } from "../config/annotations.ts";
import {
  isProofTag,
  legacyLoadBalancerName,
  loadBalancerName,
  loadBalancerPrefix,
  ownerPrefix,
  sharerPrefix,
} from "./parameters/names.ts";

type OwnerFacts = Pick<Observed, "service" | "lbName" | "listeners" | "formerName">;

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

/**
 * The tags of the Service that prove its part in a load balancer, whatever the cluster was called when they were set.
 */
export function proofTags(lb: LoadBalancer, service: Service): string[] {
  return lb.tags.filter((tag) => isProofTag(tag) && isOf(tag, service));
}

function isOf(tag: string, { metadata }: Service): boolean {
  return metadata.uid !== undefined && tag.endsWith(`/${metadata.uid}`);
}

/** The owner that a load balancer's tags name first. */
export function ownerOf({
  tags,
}: Pick<LoadBalancer, "tags">): { readonly cluster: string; readonly uid: string } | undefined {
  const tag = tags.find((one) => one.startsWith(ownerPrefix));
  return tag === undefined ? undefined : partsOf(tag);
}

function partsOf(tag: string): { readonly cluster: string; readonly uid: string } {
  const at = tag.lastIndexOf("/");
  return { cluster: tag.slice(tag.indexOf("=") + 1, at), uid: tag.slice(at + 1) };
}

/** Does a tag name another Service as its owner, and none this one? */
export function isAnothers(lb: Pick<LoadBalancer, "tags">, service: Service): boolean {
  const owners = lb.tags.filter((tag) => tag.startsWith(ownerPrefix));
  return owners.length > 0 && !owners.some((tag) => isOf(tag, service));
}

/**
 * The Service that an owner tag names owns the load balancer. One without such a tag (of an earlier release, of
 * upstream's manager, or of a cloud without tags) belongs to the Service whose name it has exactly. An annotation never
 * proves anything.
 */
export function isOwner(whose: Omit<OwnerFacts, "listeners">, lb: LoadBalancer): boolean {
  const { service, lbName, formerName: former } = whose;
  const owners = lb.tags.filter((tag) => tag.startsWith(ownerPrefix));
  if (owners.length > 0) return owners.some((tag) => isOf(tag, service));
  return lb.name === lbName || lb.name === legacyLoadBalancerName(service) || lb.name === former;
}

/** Owner, or one of the sharers: a Service that has only named the id is neither. */
export function isRegistered(whose: Omit<OwnerFacts, "listeners">, lb: LoadBalancer): boolean {
  return isOwner(whose, lb) || lb.tags.includes(whose.lbName) || proofTags(lb, whose.service).length > 0;
}

/** Tagged with our name, or untagged on a load balancer that is ours. */
export function ownListeners(whose: OwnerFacts, lb: LoadBalancer): Listener[] {
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
  { lbName, formerName: former }: Omit<OwnerFacts, "listeners" | "service">,
): string[] {
  return lb.tags.filter((tag) => tag.startsWith(loadBalancerPrefix) && tag !== lbName && tag !== former);
}

/**
 * The name that the Service had on this load balancer before the cluster was renamed; undefined when it had none. A tag
 * with the Service's UID proves it and has the cluster's name of that time; id and address are annotations, which a
 * copy of the Service in another cluster has, too.
 */
export function formerName(service: Service, lb: LoadBalancer, lbName: string): string | undefined {
  const { annotations = {} } = service.metadata;
  const published = service.status?.loadBalancer?.ingress ?? [];
  const noted = annotations[annotation.loadBalancerId] === lb.id && annotations[annotation.loadBalancerAddress];
  if (lb.name === lbName || !noted || published.length === 0) return undefined;
  const known = [lb.name, ...lb.tags].filter((name) => name.startsWith(loadBalancerPrefix) && name !== lbName);
  const formers = proofTags(lb, service).map((tag) => nameBefore(service, tag));
  return known.find((name) => formers.some((former) => former(name)));
}

/**
 * Whether a name is the one of the time of a proof tag. Of a cluster's name the tag has only the beginning, where that
 * is long.
 */
function nameBefore(service: Service, tag: string): (name: string) => boolean {
  const { cluster } = partsOf(tag);
  const end = `_${service.metadata.namespace}_${service.metadata.name}`;
  if (cluster.length < clusterLimit) return (name) => name === loadBalancerName(cluster, service);
  return (name) => name.startsWith(`${loadBalancerPrefix}${cluster}`) && name.endsWith(end);
}
