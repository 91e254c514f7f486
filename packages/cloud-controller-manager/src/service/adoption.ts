import type { PlannedEvent, Service } from "@causeway/kubernetes";
import type { FloatingIp, LoadBalancer } from "@causeway/openstack";
import { loadBalancerDescription, loadBalancerName, loadBalancerPrefix, ownerPrefix } from "./parameters/names.ts";
import { isAnothers, ownerOf, ownerTag, proofTags } from "./ownership.ts";
import type { Adoption } from "./observed.ts";

interface Candidate {
  readonly service: Service;
  readonly clusterName: string;
  readonly lb: LoadBalancer;
}

/** Seconds by which the clocks of API server and Octavia may differ. */
const SKEW = 60;

/**
 * The name that the Service's cluster had when upstream's manager, or an earlier release, created this load balancer,
 * whose tags name no owner: name, description and tag are of upstream's rule, and end with the Service's namespace and
 * name. Undefined where it is of the present name.
 */
export function formerCluster({ service, clusterName, lb }: Candidate): string | undefined {
  const end = `_${service.metadata.namespace}_${service.metadata.name}`;
  if (!lb.name.startsWith(loadBalancerPrefix) || !lb.name.endsWith(end) || ownerOf(lb) !== undefined) return undefined;
  const cluster = lb.name.slice(loadBalancerPrefix.length, -end.length);
  const isNamed = loadBalancerName(cluster, service) === lb.name && cluster !== clusterName && cluster !== "";
  // A Service of another cluster that shares it has a tag of its own.
  if (!isNamed || lb.tags.includes(loadBalancerName(clusterName, service))) return undefined;
  return proofTags(lb, service).length > 0 ? undefined : cluster;
}

/**
 * Whether such a load balancer is surely the Service's, and not that of a Service of the same name in another cluster,
 * of which this one is a copy: Octavia has upstream's description, only a controller can have published its address,
 * and a copy is younger than the load balancer.
 */
export function isProved({ service, lb }: Candidate, cluster: string, floatingIp: FloatingIp | undefined): boolean {
  const described = lb.description === loadBalancerDescription(cluster, service);
  const tagged = lb.tags.length === 0 || lb.tags.includes(lb.name);
  return described && tagged && publishes(service, lb, floatingIp) && !isYounger(service, lb);
}

/** Is an address of the load balancer in the Service's status? */
export function publishes({ status }: Service, lb: LoadBalancer, floatingIp: FloatingIp | undefined): boolean {
  const addresses = [lb.vip_address, ...(floatingIp ? [floatingIp.floating_ip_address] : [])];
  const published = status?.loadBalancer?.ingress ?? [];
  return published.some(({ ip, hostname }) =>
    addresses.some((address) => ip === address || hostname?.startsWith(`${address}.`) === true),
  );
}

function isYounger({ metadata }: Service, lb: LoadBalancer): boolean {
  const service = Date.parse(metadata.creationTimestamp ?? "");
  const created = Date.parse(/Z|[+-]\d\d:\d\d$/.test(lb.created_at) ? lb.created_at : `${lb.created_at}Z`);
  return !(service <= created + SKEW * 1000);
}

/**
 * Of a load balancer from before a change of `--cluster-name`: its tags get the owner under its former name, and the
 * rename follows.
 */
export function adoptionOfFormer({ service, lb, clusterName }: Candidate, cluster: string): Adoption {
  const message = `load balancer ${lb.id} (${lb.name}) has no tag of its owner; its name, description and address prove that it is this Service's from before the cluster was renamed from ${cluster} to ${clusterName}`;
  return { lb, tags: [...lb.tags, ownerTag(cluster, service)], event: adopted(message) };
}

/**
 * Of a load balancer whose owner was a Service of this cluster with the same namespace and name, which no longer
 * exists: the Service was restored from a backup with another UID. `members`: the addresses that it serves. One that
 * serves none of this cluster's nodes is another cluster's.
 */
export function adoptionOfRestored(
  { service, lb, clusterName }: Candidate,
  facts: { readonly exists: (uid: string) => boolean; readonly servesNodes: boolean },
): Adoption | undefined {
  const owner = ownerOf(lb);
  if (!owner || !isAnothers(lb, service) || facts.exists(owner.uid) || !facts.servesNodes) return undefined;
  if (
    `${ownerPrefix}${owner.cluster}/` !== ownerTag(clusterName, service).slice(0, -(service.metadata.uid ?? "").length)
  )
    return undefined;
  const message = `load balancer ${lb.id} was owned by the Service of this name with UID ${owner.uid}, which no longer exists; it is adopted, since it serves this cluster's nodes`;
  const tags = lb.tags.filter((tag) => !tag.startsWith(ownerPrefix));
  return { lb, tags: [...tags, ownerTag(clusterName, service)], event: adopted(message) };
}

function adopted(message: string): PlannedEvent {
  return { type: "Normal", reason: "LoadBalancerAdopted", message };
}

/** What a person is to do about a load balancer that may be the Service's from before the cluster was renamed. */
export function unproved({ lb, clusterName }: Candidate, cluster: string): string {
  return `load balancer ${lb.id} is named ${lb.name}, for a cluster ${cluster} and not ${clusterName}, and nothing proves that it is this Service's: it is left as it is. If this cluster was renamed, start the controller once with --cluster-name=${cluster}, which tags its load balancers; else remove annotation loadbalancer.openstack.org/load-balancer-id to get another one`;
}
