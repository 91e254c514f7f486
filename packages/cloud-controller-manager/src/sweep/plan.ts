import type { Service } from "@causeway/kubernetes";
import type { FloatingIp, LoadBalancer, SecurityGroup } from "@causeway/openstack";
import { annotation } from "../config/annotations.ts";
import { isFree } from "../service/address/plan-floating-ip.ts";
import {
  floatingIpDescription,
  loadBalancerDescription,
  loadBalancerName,
  loadBalancerPrefix,
  retiringName,
} from "../service/parameters/names.ts";
import { secondName } from "../service/parameters/second-family.ts";
import { groupDescription, groupName, groupUid } from "../service/security-group/names.ts";
import type { Observed } from "./gather.ts";

/** Something in the cloud that was made for a Service of this cluster that is no more. */
export interface Orphan {
  readonly kind: "load balancer" | "floating IP" | "security group";
  readonly id: string;
  readonly name: string;
  /** NAMESPACE/NAME of the Service. */
  readonly service: string;
  /** Why it remains all the same; undefined: it may go. */
  readonly kept: string | undefined;
}

/** What the user of a sweep decides. */
export interface SweepOptions {
  /** Also addresses that nothing uses: they may be kept on purpose (keep-floatingip). */
  readonly floatingIps: boolean;
}

/**
 * Names and descriptions together must be those that this cluster's controller gives, and no Service of the name may be
 * there. What is not certain is not ours.
 */
export function planSweep(observed: Observed, options: SweepOptions): Orphan[] {
  const loadBalancers = observed.loadBalancers.flatMap((lb) => orphanBalancer(observed, lb));
  const going = new Set(loadBalancers.filter((o) => o.kept === undefined).map((o) => o.id));
  const vips = new Set(observed.loadBalancers.filter((lb) => going.has(lb.id)).map((lb) => lb.vip_port_id));
  return [
    ...loadBalancers,
    ...observed.floatingIps.flatMap((ip) => orphanAddress(observed, ip, { vips, options })),
    ...observed.securityGroups.flatMap((group) => orphanGroup(observed, group)),
  ];
}

/** A Service as far as names need it. */
function named(namespace: string, name: string, uid = ""): Service {
  return { apiVersion: "v1", kind: "Service", metadata: { namespace, name, uid }, spec: {} };
}

function isThere({ services }: Observed, namespace: string, name: string): boolean {
  return services.some(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
}

function orphanBalancer(observed: Observed, lb: LoadBalancer): Orphan[] {
  const { clusterName, services } = observed;
  const service = servedBy(lb.name, clusterName);
  if (!service || loadBalancerDescription(clusterName, service) !== lb.description) return [];
  const { namespace = "", name } = service.metadata;
  if (isThere(observed, namespace, name)) return [];
  const sharers = services.filter(
    (s) =>
      s.metadata.annotations?.[annotation.loadBalancerId] === lb.id ||
      lb.tags.includes(loadBalancerName(clusterName, s)),
  );
  const others = lb.tags.filter((tag) => tag.startsWith(loadBalancerPrefix) && !servedBy(tag, clusterName));
  const kept =
    sharers.length > 0
      ? `Service ${sharers[0]?.metadata.namespace}/${sharers[0]?.metadata.name} uses it`
      : others.length > 0
        ? "a Service of another cluster uses it"
        : lb.provisioning_status.startsWith("PENDING_")
          ? `it is ${lb.provisioning_status}`
          : undefined;
  return [{ kind: "load balancer", id: lb.id, name: lb.name, service: `${namespace}/${name}`, kept }];
}

/**
 * The Service of this cluster whose load balancer has this name, or which has this tag. Neither namespaces nor names of
 * Services have an underscore, so that a name that was not cut is read one way only; names of clusters may have them.
 */
function servedBy(lbName: string, clusterName: string): Service | undefined {
  const start = `${loadBalancerPrefix}${clusterName}_`;
  const [namespace = "", name = ""] = lbName.slice(start.length).split("_");
  const service = named(namespace, name);
  return namesOf(loadBalancerName(clusterName, service)).includes(lbName) ? service : undefined;
}

/** Of a Service's load balancer, of the one of its other address family, and of one that is being replaced. */
function namesOf(name: string): string[] {
  return [name, secondName(name, "IPv4"), secondName(name, "IPv6"), retiringName(name)];
}

interface Around {
  /** Ports of load balancers that go. */
  readonly vips: ReadonlySet<string>;
  readonly options: SweepOptions;
}

function orphanAddress(observed: Observed, ip: FloatingIp, { vips, options }: Around): Orphan[] {
  const [, namespace = "", name = ""] = / ([^ /]+)\/([^ ]+) from cluster /.exec(ip.description) ?? [];
  const isOurs = floatingIpDescription(observed.clusterName, named(namespace, name)) === ip.description;
  if (!isOurs || isThere(observed, namespace, name)) return [];
  const used = !isFree(ip) && !vips.has(ip.port_id ?? "");
  const kept = used
    ? "something else uses it"
    : options.floatingIps
      ? undefined
      : "it may be kept on purpose (keep-floatingip); --floating-ips deletes it, too";
  return [{ kind: "floating IP", id: ip.id, name: ip.floating_ip_address, service: `${namespace}/${name}`, kept }];
}

function orphanGroup(observed: Observed, group: SecurityGroup): Orphan[] {
  const uid = groupUid(group.name);
  const [, namespace = "", name = ""] = / for ([^ /]+)\/([^ ]+) Service /.exec(group.description) ?? [];
  const service = named(namespace, name, uid);
  const isOurs =
    groupName(service) === group.name && groupDescription(observed.clusterName, service) === group.description;
  if (!isOurs || observed.services.some((s) => s.metadata.uid === uid)) return [];
  return [{ kind: "security group", id: group.id, name: group.name, service: `${namespace}/${name}`, kept: undefined }];
}
