import type { LoadBalancerCreate } from "@causeway/openstack";
import { listenerSettings, monitorBody, type ProviderLimits } from "@causeway/octavia-tree";
import type { DesiredPort } from "../parameters/desired.ts";
import type { ServiceObserved, TreeObserved } from "../observed.ts";
import { loadBalancerDescription } from "../parameters/names.ts";
import { ownerTag } from "../ownership.ts";

/**
 * The whole tree in one POST: listeners, their pools, members, and monitors where the provider takes them there.
 * Nothing but the load balancer where the provider takes only one thing at a time.
 */
export function createBody(
  observed: ServiceObserved & TreeObserved,
  ports: readonly DesiredPort[],
  limits: ProviderLimits,
): LoadBalancerCreate {
  const { parameters, service, lbName, clusterName, config } = observed;
  const address = service.spec.loadBalancerIP ?? "";
  // For others the address is a floating IP's.
  const isVip = parameters.internal || service.spec.ipFamilies?.[0] === "IPv6";
  const vip = isVip && address !== "" ? { vip_address: address } : {};
  return {
    name: lbName,
    description: loadBalancerDescription(clusterName, service),
    ...placement(observed),
    ...vip,
    provider: limits.provider,
    ...(limits.flavors && parameters.flavorId !== undefined ? { flavor_id: parameters.flavorId } : {}),
    ...(limits.availabilityZones && parameters.availabilityZone !== undefined
      ? { availability_zone: parameters.availabilityZone }
      : {}),
    ...(limits.tags ? { tags: lbTags(observed) } : {}),
    ...(config.loadBalancer.serialApiCalls ? {} : { listeners: ports.map((port) => listenerInCreate(port, limits)) }),
  };
}

function placement({ parameters, nodeSubnet }: ServiceObserved & TreeObserved): Partial<LoadBalancerCreate> {
  if (parameters.portId !== undefined) return { vip_port_id: parameters.portId };
  if (parameters.subnetId !== undefined) return { vip_subnet_id: parameters.subnetId };
  if (parameters.networkId !== undefined) return { vip_network_id: parameters.networkId };
  return nodeSubnet ? { vip_subnet_id: nodeSubnet.id } : {};
}

function listenerInCreate(
  port: DesiredPort,
  limits: ProviderLimits,
): NonNullable<LoadBalancerCreate["listeners"]>[number] {
  const monitor =
    port.monitor && limits.monitorInCreate ? { healthmonitor: monitorBody(port.monitor, port.monitorName) } : {};
  return {
    name: port.listenerName,
    protocol: port.protocol,
    protocol_port: port.port,
    ...listenerSettings(port),
    ...(port.tags.length > 0 ? { tags: [...port.tags] } : {}),
    default_pool: {
      name: port.poolName,
      protocol: port.poolProtocol,
      lb_algorithm: port.algorithm,
      ...(port.persistence ? { session_persistence: port.persistence } : {}),
      members: [...port.members],
      ...monitor,
    },
  };
}

/** Ours, and those that the Service asks for. A load balancer that is created belongs to its Service. */
export function lbTags({ clusterName, service, lbName, parameters }: ServiceObserved): string[] {
  return [...new Set([lbName, ownerTag(clusterName, service), ...parameters.tags])];
}
