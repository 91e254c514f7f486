import type { OpenStackClusterSpec } from "@causeway/api";
import { isDeleting } from "@causeway/kubernetes";
import { portsDescribed } from "../reactions/interests.ts";
import { description, listenerName, loadBalancerName, networkName, securityGroupName } from "../resources/naming.ts";
import { ofName } from "../resources/of-name.ts";
import { apiPorts } from "./endpoint-port.ts";
import { isControlPlane } from "./members.ts";
import type { ClusterCloud, Observed } from "./model.ts";
import { descriptionOf } from "./own-view.ts";
import { nodeRoles } from "./security-groups.ts";

/** A cluster as far as its interests depend on it. */
export type Interested = Pick<Observed, "object" | "machines" | "bastion"> & { readonly crn: string };

/**
 * The values of resources (`valuesOf`) whose changes concern a cluster. A port of one of its machines does not, while
 * none of its parts waits for it: the ports of a thousand machines would be a thousand plans.
 */
export function* interestsOf(cluster: Interested, cloud: ClusterCloud): Iterable<string | undefined> {
  const { object, crn } = cluster;
  yield networkName(crn);
  yield loadBalancerName(crn);
  yield descriptionOf({ object, crn });
  for (const role of nodeRoles) yield securityGroupName(crn, role);
  for (const port of apiPorts(object.spec)) yield listenerName(crn, port);
  yield* named(object.spec);
  yield object.status?.network?.id;
  yield object.status?.router?.id;
  for (const { id } of ofName(cloud, "routers", networkName(crn))) yield id;
  yield* portsOfAddresses(cluster);
  if (isDeleting(object) || keepsBastionGroup(cluster, cloud)) yield portsDescribed(description(crn));
  if (isDeleting(object)) yield* placesOf(crn, cloud);
}

/** What the spec names. */
function* named({ network, router, externalNetwork, subnets, apiServer, bastion }: OpenStackClusterSpec) {
  const balancer = apiServer?.managedLoadBalancer;
  const parameters = [network, router, externalNetwork, ...(subnets ?? []), balancer?.network];
  for (const parameter of [...parameters, ...(balancer?.subnets ?? [])]) {
    yield parameter?.id;
    yield parameter?.filter?.name;
  }
  yield apiServer?.floatingIP;
  yield bastion?.floatingIP;
}

/** The ports that a floating IP may be for. */
function* portsOfAddresses({ bastion, machines }: Interested) {
  yield bastion?.status?.resources?.ports?.[0]?.id;
  for (const machine of machines) if (isControlPlane(machine)) yield machine.status?.resources?.ports?.[0]?.id;
}

/** The networks and subnets that are to be empty before they go. */
function* placesOf(crn: string, cloud: ClusterCloud) {
  for (const { id } of ofName(cloud, "networks", networkName(crn))) yield `on:${id}`;
  for (const { id } of ofName(cloud, "subnets", networkName(crn))) yield `on:${id}`;
}

/** The group of a bastion that is gone goes with the last port that uses it. */
function keepsBastionGroup({ crn, bastion }: Interested, cloud: ClusterCloud): boolean {
  return bastion === undefined && ofName(cloud, "securityGroups", securityGroupName(crn, "bastion")).length > 0;
}
