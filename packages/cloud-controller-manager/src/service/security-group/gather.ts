import type { Informer, Node, ObjectKey, Service } from "@causeway/kubernetes";
import type { Cloud, CloudWatch, Port, SecurityGroup } from "@causeway/openstack";
import { defaultProvider, type OctaviaReader } from "@causeway/octavia-tree";
import type { CloudControllerConfig } from "../../config/config.ts";
import type { RateLimitedRefresh } from "../../rate-limited-refresh.ts";
import { wantsLoadBalancer } from "../parameters/concern.ts";
import { eligibleNodes, nodeAddress } from "../parameters/desired.ts";
import { annotation } from "../../config/annotations.ts";
import { loadBalancerName } from "../parameters/names.ts";
import { parametersOf } from "../parameters/parameters.ts";
import type { Leftovers } from "./leftovers.ts";
import { groupName } from "./names.ts";

/** What the plan of one Service's security group is made from. */
export interface Observed {
  readonly service: Service;
  readonly clusterName: string;
  /** False: the Service goes, or security groups are not managed (any more). */
  readonly wanted: boolean;
  /** Those of our name; there should be one at most. */
  readonly groups: readonly SecurityGroup[];
  /** Of the nodes that may be members. */
  readonly nodePorts: readonly Port[];
  /** All that have one of the groups. */
  readonly grouped: readonly Port[];
  /** Where the load balancers' own traffic comes from, of each family; empty: not known. */
  readonly memberCidrs: readonly string[];
  /** From where clients may come. */
  readonly sourceRanges: readonly string[];
  /** Does the provider leave clients' addresses as they are, so that nodes see them? */
  readonly clientsSeen: boolean;
}

/** The informers that the security group of a Service is gathered from. */
export interface GatherFrom {
  readonly services: Informer<Service>;
  readonly nodes: Informer<Node>;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  readonly clusterName: string;
  readonly leftovers: Leftovers;
  readonly octavia: OctaviaReader;
  readonly missed: RateLimitedRefresh;
}

/**
 * Reads caches only. Undefined where there is nothing to do for certain: not managed, and nothing left of when it was.
 */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const service = from.services.get(key);
  if (!service) return undefined;
  const { watch, config, clusterName } = from;
  const { manageSecurityGroups, enabled } = config.loadBalancer;
  const name = groupName(service);
  if (!manageSecurityGroups && !(await from.leftovers.has(name, signal))) return undefined;
  const balanced = await from.cloud.has("load-balancer", { signal });
  const needed = [watch.securityGroups, watch.ports, watch.subnets, ...(balanced ? [watch.loadBalancers] : [])];
  await Promise.all(needed.map((informer) => informer.start(signal)));
  const served = wantsLoadBalancer(service) && service.metadata.deletionTimestamp === undefined;
  if (served && manageSecurityGroups && placeOf(from, service).memberCidrs.length === 0)
    await from.missed.refresh([watch.subnets], signal);
  const groups = watch.securityGroups.byIndex("name", name);
  const ids = new Set(groups.map((group) => group.id));
  return {
    service,
    clusterName,
    wanted: manageSecurityGroups && enabled && served,
    groups,
    grouped: ids.size === 0 ? [] : watch.ports.list().filter((p) => p.security_groups.some((id) => ids.has(id))),
    clientsSeen: balanced && (await providerOf(from, service, signal)) === "ovn",
    ...placeOf(from, service),
  };
}

type Family = "IPv4" | "IPv6";

/** A Service of two families has a load balancer of each, which is where the nodes have addresses of it. */
function placeOf(
  { watch, config, nodes }: GatherFrom,
  service: Service,
): Pick<Observed, "nodePorts" | "memberCidrs" | "sourceRanges"> {
  const parameters = parametersOf(service, config.loadBalancer);
  const [first = "IPv4", ...more] = service.spec.ipFamilies ?? [];
  const eligible = eligibleNodes(nodes.list(), parameters.nodeSelector);
  const portsOf = (family: Family): Port[] => eligible.flatMap((node) => portOf(watch, node, family));
  const own = parameters.memberSubnetId ?? parameters.subnetId ?? subnetOf(portsOf(first)[0], first, watch);
  const others = more.flatMap((family) => subnetOf(portsOf(family)[0], family, watch) ?? []);
  const ports = [first, ...more].flatMap(portsOf);
  const everybody = [first, ...more].map((family) => (family === "IPv6" ? "::/0" : "0.0.0.0/0"));
  return {
    nodePorts: [...new Map(ports.map((port) => [port.id, port])).values()],
    memberCidrs: own === undefined ? [] : cidrsOf(watch, [own, ...others]),
    sourceRanges: parameters.sourceRanges.length > 0 ? parameters.sourceRanges : everybody,
  };
}

/** None where one of them is not known. */
function cidrsOf(watch: CloudWatch, subnetIds: readonly string[]): readonly string[] {
  const cidrs = subnetIds.flatMap((id) => watch.subnets.get(id)?.cidr ?? []);
  return cidrs.length === subnetIds.length ? cidrs : [];
}

function portOf(watch: CloudWatch, node: Node, family: Family): Port[] {
  const address = nodeAddress(node, family);
  const server = node.spec?.providerID?.split("/").at(-1);
  if (address === undefined) return [];
  return watch.ports.byIndex("address", address).filter((port) => port.device_id === server);
}

function subnetOf(port: Port | undefined, family: Family, watch: CloudWatch): string | undefined {
  const version = family === "IPv6" ? 6 : 4;
  return port?.fixed_ips.find((ip) => watch.subnets.get(ip.subnet_id)?.ip_version === version)?.subnet_id;
}

/** Of the load balancer that there is, else the one that a new one will have. */
async function providerOf(
  { watch, config, clusterName, octavia }: GatherFrom,
  service: Service,
  signal: AbortSignal,
): Promise<string | undefined> {
  const id = service.metadata.annotations?.[annotation.loadBalancerId];
  const lb =
    (id === undefined ? undefined : watch.loadBalancers.get(id)) ??
    watch.loadBalancers.byIndex("name", loadBalancerName(clusterName, service))[0];
  const named = lb?.provider ?? parametersOf(service, config.loadBalancer).provider ?? config.loadBalancer.provider;
  return named ?? defaultProvider(await octavia.facts(signal));
}
