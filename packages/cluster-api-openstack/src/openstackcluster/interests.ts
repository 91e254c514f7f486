import { isDeleting } from "@causeway/kubernetes";
import { portsDescribed } from "../reactions/interests.ts";
import { description, listenerName, loadBalancerName, networkName, securityGroupName } from "../resources/naming.ts";
import { apiPorts } from "./endpoint-port.ts";
import { isControlPlane } from "./members.ts";
import type { ClusterCloud, Observed } from "./model.ts";
import { descriptionOf } from "./own-view.ts";
import { nodeRoles } from "./security-groups.ts";

/** The cluster whose interests are asked for. */
export type Interested = Pick<Observed, "object" | "machines" | "bastion"> & { readonly crn: string };

/**
 * The values of resources (`valuesOf`) whose changes concern a cluster. A port of one of its machines does not, while
 * none of its parts waits for it: the ports of a thousand machines would be a thousand plans.
 */
export function* interestsOf(cluster: Interested, cloud: ClusterCloud): Iterable<string | undefined> {
  const { object, crn, machines, bastion } = cluster;
  const { spec, status } = object;
  yield networkName(crn);
  yield loadBalancerName(crn);
  yield descriptionOf({ object, crn });
  for (const role of nodeRoles) yield securityGroupName(crn, role);
  for (const port of apiPorts(spec)) yield listenerName(crn, port);
  const balancer = spec.apiServer?.managedLoadBalancer;
  const named = [spec.network, spec.router, spec.externalNetwork, balancer?.network];
  for (const parameter of [...named, ...(spec.subnets ?? []), ...(balancer?.subnets ?? [])]) {
    yield parameter?.id;
    yield parameter?.filter?.name;
  }
  yield spec.apiServer?.floatingIP;
  yield spec.bastion?.floatingIP;
  yield status?.network?.id;
  yield status?.router?.id;
  for (const router of cloud.routers) if (router.name === networkName(crn)) yield router.id;
  // What a floating IP is at.
  yield bastion?.status?.resources?.ports?.[0]?.id;
  for (const machine of machines) if (isControlPlane(machine)) yield machine.status?.resources?.ports?.[0]?.id;
  if (isDeleting(object) || keepsBastionGroup(cluster, cloud)) yield portsDescribed(description(crn));
  if (!isDeleting(object)) return;
  for (const network of cloud.networks) if (network.name === networkName(crn)) yield `on:${network.id}`;
  for (const subnet of cloud.subnets) if (subnet.name === networkName(crn)) yield `on:${subnet.id}`;
}

/** The group of a bastion that is gone goes with the last port that uses it. */
function keepsBastionGroup({ crn, bastion }: Interested, { securityGroups }: ClusterCloud): boolean {
  return bastion === undefined && securityGroups.some(({ name }) => name === securityGroupName(crn, "bastion"));
}
