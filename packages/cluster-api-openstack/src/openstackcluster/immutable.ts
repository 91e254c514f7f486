import type { PlannedEvent } from "@causeway/kubernetes";
import { parseCidr } from "../resources/cidr.ts";
import { ignored } from "../resources/findings.ts";
import type { ClusterContext } from "./model.ts";
import type { Parts } from "./status.ts";

/**
 * Fields of the spec that differ from what was made, and cannot change any more. Nothing refuses such a change at
 * the API server, so it is said here that it has no effect.
 */
export function ignoredClusterChanges(context: ClusterContext, parts: Parts): PlannedEvent[] {
  return [...networkChanges(context, parts), ...routerChanges(context, parts), ...endpointChanges(context, parts)].map(
    ignored,
  );
}

function networkChanges({ object }: ClusterContext, { network: { network, subnets } }: Parts): string[] {
  const { managedSubnets, managedNetwork } = object.spec;
  const [wanted] = managedSubnets ?? [];
  const [subnet] = subnets;
  if (!wanted || !network || !subnet) return [];
  const changes: string[] = [];
  if (parseCidr(wanted.cidr)?.text !== parseCidr(subnet.cidr)?.text) {
    changes.push(`spec.managedSubnets[0].cidr is ${wanted.cidr}, but the subnet was made with ${subnet.cidr}`);
  }
  const { mtu, enablePortSecurity: secure } = managedNetwork ?? {};
  if (mtu !== undefined && mtu !== network.mtu) {
    changes.push(`spec.managedNetwork.mtu is ${mtu}, but the network was made with ${network.mtu}`);
  }
  if (secure !== undefined && network.port_security_enabled === !secure) {
    changes.push(`spec.managedNetwork.enablePortSecurity is ${secure}, but the network was made with ${!secure}`);
  }
  return changes;
}

/** A gateway is set once. Moving it would take the floating IPs of the cluster's Services away. */
function routerChanges({ object }: ClusterContext, { router: { router, external } }: Parts): string[] {
  const gateway = router?.external_gateway_info;
  if (!gateway || !external || object.spec.router || !object.spec.managedSubnets?.length) return [];
  if (gateway.network_id !== external.id) {
    return [`spec.externalNetwork is ${external.name}, but the router's gateway is on network ${gateway.network_id}`];
  }
  const present = (gateway.external_fixed_ips ?? []).map((ip) => ip.ip_address);
  const lacking = (object.spec.managedRouter?.externalIPs ?? []).flatMap((ip) =>
    ip.fixedIP && !present.includes(ip.fixedIP) ? [ip.fixedIP] : [],
  );
  if (lacking.length === 0) return [];
  return [
    `spec.managedRouter.externalIPs has ${lacking.join(", ")}, but the router was made with ${present.join(", ")}`,
  ];
}

function endpointChanges({ object }: ClusterContext, { endpoint: { loadBalancer } }: Parts): string[] {
  const { apiServer, controlPlaneEndpoint } = object.spec;
  if (!loadBalancer || !controlPlaneEndpoint?.host) return [];
  const changes: string[] = [];
  const { port, fixedIP } = apiServer ?? {};
  if (port && controlPlaneEndpoint.port !== undefined && port !== controlPlaneEndpoint.port) {
    changes.push(`spec.apiServer.port is ${port}, but the endpoint was made with ${controlPlaneEndpoint.port}`);
  }
  if (fixedIP && fixedIP !== loadBalancer.vip_address) {
    changes.push(
      `spec.apiServer.fixedIP is ${fixedIP}, but the load balancer was made with ${loadBalancer.vip_address}`,
    );
  }
  return changes;
}
