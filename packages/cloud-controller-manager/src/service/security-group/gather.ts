import type { Informer, Node, ObjectKey, Service } from "@causeway/kubernetes";
import type { Cloud, CloudWatch, Port, SecurityGroup } from "@causeway/openstack";
import type { CloudControllerConfig } from "../../config/config.ts";
import type { Missed } from "../../missed.ts";
import { wantsLoadBalancer } from "../concern.ts";
import { eligibleNodes, nodeAddress } from "../desired.ts";
import { annotation, loadBalancerName } from "../names.ts";
import { parametersOf } from "../parameters.ts";
import { defaultProvider } from "../provider.ts";
import type { OctaviaReader } from "../octavia-facts.ts";
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
  /** Where the load balancer's own traffic comes from. */
  readonly memberCidr: string | undefined;
  /** From where clients may come. */
  readonly sourceRanges: readonly string[];
  /** Does the provider leave clients' addresses as they are, so that nodes see them? */
  readonly clientsSeen: boolean;
}

export interface GatherFrom {
  readonly services: Informer<Service>;
  readonly nodes: Informer<Node>;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  readonly clusterName: string;
  readonly leftovers: Leftovers;
  readonly octavia: OctaviaReader;
  readonly missed: Missed;
}

/** Reads caches only. Undefined where there is nothing to do for certain: not managed, and nothing left of when it was. */
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
  if (served && manageSecurityGroups && placeOf(from, service).memberCidr === undefined)
    await from.missed.look([watch.subnets], signal);
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

function placeOf(
  { watch, config, nodes }: GatherFrom,
  service: Service,
): Pick<Observed, "nodePorts" | "memberCidr" | "sourceRanges"> {
  const parameters = parametersOf(service, config.loadBalancer);
  const family = service.spec.ipFamilies?.[0] ?? "IPv4";
  const nodePorts = eligibleNodes(nodes.list(), parameters.nodeSelector).flatMap((node) => portOf(watch, node, family));
  const subnetId = parameters.memberSubnetId ?? parameters.subnetId ?? subnetOf(nodePorts[0], family, watch);
  return {
    nodePorts,
    memberCidr: subnetId === undefined ? undefined : watch.subnets.get(subnetId)?.cidr,
    sourceRanges:
      parameters.sourceRanges.length > 0 ? parameters.sourceRanges : [family === "IPv6" ? "::/0" : "0.0.0.0/0"],
  };
}

function portOf(watch: CloudWatch, node: Node, family: "IPv4" | "IPv6"): Port[] {
  const address = nodeAddress(node, family);
  const server = node.spec?.providerID?.split("/").at(-1);
  if (address === undefined) return [];
  return watch.ports.byIndex("address", address).filter((port) => port.device_id === server);
}

function subnetOf(port: Port | undefined, family: "IPv4" | "IPv6", watch: CloudWatch): string | undefined {
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
